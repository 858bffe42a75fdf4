//! The kinds that a person's manifests are made of.

use http::StatusCode;
use serde_json::{Value, json};
use sim_apiserver::{Kind, SimApiServer};

use crate::client::{Answer, Client, MERGE, add_shop, shop};

pub(crate) const CORE: &str = "/api/v1/namespaces/shop";
const TABLE: [(&str, &str); 1] = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];

pub(crate) fn named(name: &str, rest: &Value) -> Value {
    let mut object = rest.clone();
    object["metadata"]["name"] = name.into();
    object
}

pub(crate) async fn created(client: &Client, path: &str, body: &Value) -> Value {
    let answer = client.post(path, body).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    answer.json()
}

pub(crate) async fn refusal(client: &Client, path: &str, body: &Value) -> String {
    client.post(path, body).await.refusal()
}

/// The cells of the only row, the age left out.
pub(crate) async fn row(client: &Client, path: &str) -> String {
    let table: Answer = client.call("GET", path, &TABLE, "").await;
    let table = table.json();
    let columns = table["columnDefinitions"].as_array().unwrap();
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(columns.len(), cells.len());
    let shown = columns
        .iter()
        .zip(cells)
        .filter(|(column, _)| column["name"] != "Age");
    let shown = shown.map(|(column, cell)| {
        let cell = cell
            .as_str()
            .map_or_else(|| cell.to_string(), ToOwned::to_owned);
        format!("{}={cell}", column["name"].as_str().unwrap())
    });
    shown.collect::<Vec<_>>().join(" | ")
}

#[tokio::test]
async fn a_secret_takes_plain_texts_and_keeps_base64() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = format!("{CORE}/secrets");
    let body = named(
        "s",
        &json!({"stringData": {"a": "b"}, "data": {"a": "Yw==", "c": "ZA=="}}),
    );
    let secret = created(&client, &path, &body).await;
    assert_eq!(secret["data"], json!({"a": "Yg==", "c": "ZA=="}));
    assert_eq!(
        (&secret["type"], secret.get("stringData")),
        (&json!("Opaque"), None)
    );
    let patch = json!({"stringData": {"e": "f"}});
    let patched = client
        .patch(&format!("{path}/s"), MERGE, &patch)
        .await
        .json();
    assert_eq!(
        patched["data"],
        json!({"a": "Yg==", "c": "ZA==", "e": "Zg=="})
    );
    insta::assert_snapshot!(row(&client, &path).await, @"Name=s | Type=Opaque | Data=3");

    insta::assert_snapshot!(refusal(&client, &path, &named("x", &json!({"data": {"a": "!"}}))).await, @r#"400 BadRequest: Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0"#);
    insta::assert_snapshot!(refusal(&client, &path, &named("x", &json!({"data": {"a b": "Yg=="}}))).await, @r#"422 Invalid: Secret "x" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"#);
    insta::assert_snapshot!(refusal(&client, &path, &named("x", &json!({"type": "kubernetes.io/tls"}))).await, @r#"422 Invalid: Secret "x" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required value]"#);
    let retyped = client
        .patch(&format!("{path}/s"), MERGE, &json!({"type": "other"}))
        .await;
    insta::assert_snapshot!(retyped.refusal(), @r#"422 Invalid: Secret "s" is invalid: type: Invalid value: "other": field is immutable"#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_config_map_checks_its_keys_and_obeys_immutable() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = format!("{CORE}/configmaps");
    created(
        &client,
        &path,
        &named(
            "m",
            &json!({"data": {"a": "b"}, "binaryData": {"c": "ZA=="}, "immutable": true}),
        ),
    )
    .await;
    insta::assert_snapshot!(row(&client, &path).await, @"Name=m | Data=2");
    let changed = client
        .patch(&format!("{path}/m"), MERGE, &json!({"data": {"a": "c"}}))
        .await;
    insta::assert_snapshot!(changed.refusal(), @r#"422 Invalid: ConfigMap "m" is invalid: data: Forbidden: field is immutable when `immutable` is set"#);
    let both = named(
        "x",
        &json!({"data": {"a": "x"}, "binaryData": {"a": "YQ=="}}),
    );
    insta::assert_snapshot!(refusal(&client, &path, &both).await, @r#"422 Invalid: ConfigMap "x" is invalid: data[a]: Invalid value: "a": duplicate of key present in binaryData"#);
    let large = named("x", &json!({"data": {"a": "x".repeat(1024 * 1024)}}));
    assert_eq!(client.post(&path, &large).await.status, StatusCode::CREATED);
    let larger = named("y", &json!({"data": {"a": "x".repeat(1024 * 1024 + 1)}}));
    insta::assert_snapshot!(refusal(&client, &path, &larger).await, @r#"422 Invalid: ConfigMap "y" is invalid: []: Too long: may not be more than 1048576 bytes"#);
    server.shutdown().await;
}

#[tokio::test]
async fn workloads_without_controllers_have_their_defaults_and_columns() {
    let server = shop().await;
    let client = Client::memory(&server);
    let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}});
    let mut ending = pod.clone();
    ending["spec"]["restartPolicy"] = "Never".into();
    let selector = json!({"matchLabels": {"a": "b"}});
    for (path, spec) in [
        (
            "apps/v1/namespaces/shop/statefulsets",
            json!({"selector": selector, "template": pod}),
        ),
        (
            "apps/v1/namespaces/shop/daemonsets",
            json!({"selector": selector, "template": pod}),
        ),
        (
            "batch/v1/namespaces/shop/jobs",
            json!({"template": ending, "completions": 3}),
        ),
        (
            "batch/v1/namespaces/shop/cronjobs",
            json!({"schedule": "@daily", "jobTemplate": {"spec": {"template": ending}}}),
        ),
        (
            "policy/v1/namespaces/shop/poddisruptionbudgets",
            json!({"minAvailable": "50%", "selector": selector}),
        ),
    ] {
        created(
            &client,
            &format!("/apis/{path}"),
            &named("x", &json!({"spec": spec})),
        )
        .await;
    }
    let apps = "/apis/apps/v1/namespaces/shop";
    let batch = "/apis/batch/v1/namespaces/shop";
    insta::assert_snapshot!(row(&client, &format!("{apps}/statefulsets")).await, @"Name=x | Ready=0/1 | Containers=c | Images=i:1");
    insta::assert_snapshot!(row(&client, &format!("{apps}/daemonsets")).await, @"Name=x | Desired=0 | Current=0 | Ready=0 | Up-to-date=0 | Available=0 | Node Selector=<none> | Containers=c | Images=i:1 | Selector=a=b");
    insta::assert_snapshot!(row(&client, &format!("{batch}/cronjobs")).await, @"Name=x | Schedule=@daily | Timezone=<none> | Suspend=False | Active=0 | Last Schedule=<none> | Containers=c | Images=i:1 | Selector=<none>");
    insta::assert_snapshot!(row(&client, "/apis/policy/v1/poddisruptionbudgets").await, @"Name=x | Min Available=50% | Max Unavailable=N/A | Allowed Disruptions=0");
    let job = server.object("jobs", "shop", "x").unwrap();
    let uid = &job["metadata"]["uid"];
    let labels = &job["spec"]["template"]["metadata"]["labels"];
    assert_eq!(labels["batch.kubernetes.io/job-name"], "x");
    assert_eq!(&labels["batch.kubernetes.io/controller-uid"], uid);
    assert_eq!(
        &job["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"],
        uid
    );
    assert!(
        row(&client, &format!("{batch}/jobs"))
            .await
            .starts_with("Name=x | Status=Running | Completions=0/3")
    );
    let scaled = client
        .patch(
            &format!("{apps}/statefulsets/x/scale"),
            MERGE,
            &json!({"spec": {"replicas": 4}}),
        )
        .await;
    assert_eq!(scaled.status, StatusCode::OK);
    assert_eq!(
        server.object("statefulsets", "shop", "x").unwrap()["spec"]["replicas"],
        4
    );
    insta::assert_snapshot!(row(&client, &format!("{apps}/statefulsets/x/scale")).await, @"Name=x | Desired=4 | Available=0");
    server.shutdown().await;
}

#[tokio::test]
async fn workloads_are_refused_for_what_is_wrong_with_them() {
    let server = shop().await;
    let client = Client::memory(&server);
    let job =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    insta::assert_snapshot!(refusal(&client, "/apis/batch/v1/namespaces/shop/jobs", &named("x", &job)).await, @r#"422 Invalid: Job.batch "x" is invalid: spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never""#);
    let cron = named(
        "x",
        &json!({"spec": {"schedule": "* *", "jobTemplate": {"spec": job["spec"]}}}),
    );
    insta::assert_snapshot!(refusal(&client, "/apis/batch/v1/namespaces/shop/cronjobs", &cron).await, @r#"422 Invalid: CronJob.batch "x" is invalid: [spec.schedule: Invalid value: "* *": expected exactly 5 fields, found 2: [* *], spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"]"#);
    let budget = named(
        "x",
        &json!({"spec": {"minAvailable": 1, "maxUnavailable": "x"}}),
    );
    insta::assert_snapshot!(refusal(&client, "/apis/policy/v1/namespaces/shop/poddisruptionbudgets", &budget).await, @r#"422 Invalid: PodDisruptionBudget.policy "x" is invalid: [spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"x","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set, spec.maxUnavailable: Invalid value: "x": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')]"#);
    let labels = json!({"app": "a b"});
    let set = named(
        "x",
        &json!({"spec": {"podManagementPolicy": "x", "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"restartPolicy": "Never",
            "containers": [{"name": "c", "image": "i"}, {"name": "c", "image": "i"}]}}}}),
    );
    insta::assert_snapshot!(refusal(&client, "/apis/apps/v1/namespaces/shop/statefulsets", &set).await, @r#"422 Invalid: StatefulSet.apps "x" is invalid: [spec.podManagementPolicy: Invalid value: "x": must be 'OrderedReady' or 'Parallel', spec.selector.matchLabels: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), spec.selector: Invalid value: {"matchLabels":{"app":"a b"}}: invalid label selector, spec.template.spec.containers[1].name: Duplicate value: "c", spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"]"#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_node_keeps_the_status_that_it_is_created_with() {
    let server = shop().await;
    let client = Client::memory(&server);
    let ready = json!([{"type": "Ready", "status": "True"}]);
    let node = json!({"metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": ""}},
        "spec": {"unschedulable": true}, "status": {"conditions": ready}});
    let node = created(&client, "/api/v1/nodes", &node).await;
    assert_eq!(node["status"]["conditions"], ready);
    insta::assert_snapshot!(row(&client, "/api/v1/nodes").await, @"Name=n | Status=Ready,SchedulingDisabled | Roles=worker | Version= | Internal-IP=<none> | External-IP=<none> | OS-Image=<unknown> | Kernel-Version=<unknown> | Container-Runtime=<unknown>");
    server.shutdown().await;
}

#[tokio::test]
async fn reviews_are_answered_and_not_stored() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let ask = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let review = created(&client, path, &ask).await;
    assert_eq!(review["status"], json!({"allowed": true}));
    assert_eq!(review["kind"], "SelfSubjectAccessReview");
    insta::assert_snapshot!(refusal(&client, path, &json!({"spec": {}})).await, @r#"422 Invalid: .authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"#);
    assert_eq!(
        client.get(path).await.status,
        StatusCode::METHOD_NOT_ALLOWED
    );
    let rules = created(
        &client,
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        &json!({"spec": {"namespace": "shop"}}),
    )
    .await;
    assert_eq!(rules["status"]["resourceRules"][0]["verbs"], json!(["*"]));
    let me = created(
        &client,
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        &json!({}),
    )
    .await;
    assert_eq!(me["status"]["userInfo"]["username"], "admin");
    assert!(server.objects("selfsubjectaccessreviews").is_empty());
    server.shutdown().await;
}

#[tokio::test]
async fn every_namespace_gets_an_account_where_controllers_run() {
    let server = SimApiServer::builder()
        .workload_controllers(true)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    for namespace in ["default", "shop"] {
        server
            .wait_for_object("serviceaccounts", namespace, "default", |account| {
                account.is_some()
            })
            .await;
    }
    server.remove("serviceaccounts", "shop", "default");
    server
        .wait_for_object("serviceaccounts", "shop", "default", |account| {
            account.is_some()
        })
        .await;
    assert!(server.object("nodes", "", "sim-node").is_some());
    server.shutdown().await;
    let quiet = shop().await;
    assert!(quiet.objects("serviceaccounts").is_empty());
    quiet.shutdown().await;
}

/// Before, as after, it answers what the real server does: a path of an unknown group is no path.
#[tokio::test]
async fn a_kind_that_is_installed_later_is_unknown_until_then() {
    const LAMPS: &str = "/apis/example.com/v1/namespaces/shop/lamps";
    let server = SimApiServer::builder()
        .kind_installed_later(Kind::new("example.com", "v1", "Lamp", "lamps"))
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let lamp = json!({"apiVersion": "example.com/v1", "kind": "Lamp",
                      "metadata": {"name": "left", "namespace": "shop"}});
    server.seed(lamp);
    let client = Client::socket(&server);
    for path in [LAMPS, "/apis/example.com/v1"] {
        let unknown = client.get(path).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(unknown.text, "404 page not found\n", "{path}");
    }
    assert!(!client.get("/apis").await.text.contains("example.com"));

    server.install("lamps");
    let lamps = client.get(LAMPS).await.json();
    assert_eq!(lamps["items"][0]["metadata"]["name"], "left");
    assert!(client.get("/apis").await.text.contains("example.com"));
    let group = client.get("/apis/example.com/v1").await.json();
    assert_eq!(group["resources"][0]["name"], "lamps");
    server.shutdown().await;
}
