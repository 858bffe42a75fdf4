//! create and update.

use http::StatusCode;
use serde_json::{Value, json};

use crate::client::{Client, DEPLOYMENTS, MERGE, deployment, shop};

#[tokio::test]
async fn a_created_object_has_its_system_fields_and_defaults() {
    let server = shop().await;
    for (index, client) in Client::both(&server).into_iter().enumerate() {
        let mut wanted = deployment(&format!("web-{index}"), 1);
        wanted["spec"].as_object_mut().unwrap().remove("replicas");
        wanted["status"] = json!({"replicas": 9});
        let created = client.post(DEPLOYMENTS, &wanted).await;
        assert_eq!(created.status, StatusCode::CREATED);
        assert_eq!(created.headers["content-type"], "application/json");
        let created = created.json();
        assert_eq!(
            (&created["kind"], &created["apiVersion"]),
            (&json!("Deployment"), &json!("apps/v1"))
        );
        let metadata = &created["metadata"];
        assert_eq!(metadata["generation"], 1);
        assert_eq!(metadata["resourceVersion"], server.revision().to_string());
        assert_eq!(metadata["uid"].as_str().unwrap().len(), 36);
        assert!(
            metadata["creationTimestamp"]
                .as_str()
                .unwrap()
                .ends_with('Z')
        );
        assert_eq!(created["spec"]["replicas"], 1);
        assert_eq!(
            created["spec"]["strategy"]["rollingUpdate"]["maxSurge"],
            "25%"
        );
        assert_eq!(
            created["status"],
            json!({}),
            "a client does not write the status"
        );
        assert_eq!(
            client
                .get(&format!("{DEPLOYMENTS}/web-{index}"))
                .await
                .json(),
            created
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn create_refuses_what_the_real_server_refuses() {
    let server = shop().await;
    let client = Client::socket(&server);
    assert_eq!(
        client.post(DEPLOYMENTS, &deployment("web", 1)).await.status,
        StatusCode::CREATED
    );

    let twice = client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    insta::assert_snapshot!(twice.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \"web\" already exists","reason":"AlreadyExists","details":{"group":"apps","kind":"deployments","name":"web"},"code":409}"#);
    let elsewhere = "/apis/apps/v1/namespaces/nowhere/deployments";
    let mut stranger = deployment("web", 1);
    stranger["metadata"]["namespace"] = "nowhere".into();
    insta::assert_snapshot!(client.post(elsewhere, &stranger).await.refusal(), @r#"404 NotFound: namespaces "nowhere" not found"#);
    insta::assert_snapshot!(client.post(elsewhere, &deployment("web", 1)).await.refusal(), @"400 BadRequest: the namespace of the provided object does not match the namespace sent on the request");
    insta::assert_snapshot!(client.post(DEPLOYMENTS, &deployment("Web", 1)).await.refusal(), @r#"422 Invalid: Deployment.apps "Web" is invalid: metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"#);
    insta::assert_snapshot!(client.post(DEPLOYMENTS, &deployment("a", -1)).await.refusal(), @r#"422 Invalid: Deployment.apps "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"#);

    let mut other = deployment("a", 1);
    other["spec"]["template"]["metadata"]["labels"] = json!({"app": "b"});
    insta::assert_snapshot!(client.post(DEPLOYMENTS, &other).await.refusal(), @r#"422 Invalid: Deployment.apps "a" is invalid: spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`"#);
    let mut other = deployment("a", 1);
    other["apiVersion"] = "apps/v1beta1".into();
    insta::assert_snapshot!(client.post(DEPLOYMENTS, &other).await.refusal(), @"400 BadRequest: the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)");
    let mut other = deployment("a", 1);
    other["metadata"]["labels"] = json!({"a b": "c"});
    insta::assert_snapshot!(client.post(DEPLOYMENTS, &other).await.refusal(), @r#"422 Invalid: Deployment.apps "a" is invalid: metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#);
    let mut other = deployment("a", 1);
    other["spec"]["replicas"] = "two".into();
    insta::assert_snapshot!(client.post(DEPLOYMENTS, &other).await.refusal(), @r#"400 BadRequest: Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"#);
    let mut other = deployment("a", 1);
    other["metadata"]["resourceVersion"] = "7".into();
    insta::assert_snapshot!(client.post(DEPLOYMENTS, &other).await.refusal(), @"500 : resourceVersion should not be set on objects to be created");
    assert_eq!(server.objects("deployments").len(), 1);
    server.shutdown().await;
}

#[tokio::test]
async fn a_malformed_request_gets_the_status_of_the_real_server() {
    let server = shop().await;
    let client = Client::memory(&server);
    let json_type = [("content-type", "application/json")];
    let broken = client
        .call("POST", DEPLOYMENTS, &json_type, "{\"kind\":")
        .await;
    insta::assert_snapshot!(broken.refusal(), @r#"400 BadRequest: the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse error: unexpected end of JSON input ({"kind":)"#);
    let yaml = client
        .call(
            "POST",
            DEPLOYMENTS,
            &[("content-type", "text/plain")],
            "kind: x",
        )
        .await;
    insta::assert_snapshot!(yaml.refusal(), @"415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf");
    let patch = client
        .patch(
            &format!("{DEPLOYMENTS}/web"),
            "application/json",
            &json!({}),
        )
        .await;
    insta::assert_snapshot!(patch.refusal(), @"415 UnsupportedMediaType: 415: Unsupported Media Type");
    insta::assert_snapshot!(client.call("PUT", DEPLOYMENTS, &json_type, "{}").await.refusal(), @"405 MethodNotAllowed: the server does not allow this method on the requested resource");
    let picky = [("accept", "application/vnd.kubernetes.protobuf")];
    insta::assert_snapshot!(client.call("GET", DEPLOYMENTS, &picky, "").await.refusal(), @r"
406 NotAcceptable: 406: Not Acceptable

Available representations: application/json
");
    let dry = client
        .post(&format!("{DEPLOYMENTS}?dryRun=Some"), &deployment("web", 1))
        .await;
    insta::assert_snapshot!(dry.refusal(), @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All""#);
    let huge = client
        .call(
            "POST",
            DEPLOYMENTS,
            &json_type,
            vec![b' '; 3 * 1024 * 1024 + 1],
        )
        .await;
    insta::assert_snapshot!(huge.refusal(), @"413 RequestEntityTooLarge: Request entity too large: limit is 3145728");
    for path in ["/foo", "/apis/foo", "/apis/foo/v1/deployments"] {
        let unknown = client.get(path).await;
        let told = (unknown.status.as_u16(), unknown.text.as_str());
        assert_eq!(told, (404, "404 page not found\n"), "{path}");
        let content_type = unknown.headers["content-type"].to_str().unwrap();
        assert!(content_type.starts_with("text/plain"), "{content_type}");
    }
    for path in [
        "/apis/apps/v1/foos",
        "/apis/apps/v1/deployments/web",
        "/api/v1/namespaces/shop/pods/p/log",
    ] {
        let unknown = client.get(path).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(unknown.refusal(), @"404 NotFound: the server could not find the requested resource");
        }
    }
    server.shutdown().await;
}

#[tokio::test]
async fn generated_names_are_made_from_their_prefix() {
    let server = shop().await;
    let client = Client::memory(&server);
    let pod = json!({"metadata": {"generateName": "job-"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pods = "/api/v1/namespaces/shop/pods";
    let names: Vec<Value> = [
        client.post(pods, &pod).await.json(),
        client.post(pods, &pod).await.json(),
    ]
    .map(|pod| pod["metadata"]["name"].clone())
    .to_vec();
    assert_ne!(names[0], names[1]);
    for name in names {
        let name = name.as_str().unwrap();
        assert!(name.starts_with("job-") && name.len() == 9, "{name}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_put_with_an_old_resource_version_is_a_conflict() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = format!("{DEPLOYMENTS}/web");
    let first = client.post(DEPLOYMENTS, &deployment("web", 1)).await.json();
    let mut second = first.clone();
    second["spec"]["replicas"] = 2.into();
    let stored = client.put(&path, &second).await.json();
    assert_eq!(stored["metadata"]["generation"], 2);
    assert_eq!(stored["metadata"]["uid"], first["metadata"]["uid"]);

    insta::assert_snapshot!(client.put(&path, &first).await.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"group":"apps","kind":"deployments","name":"web"},"code":409}"#);
    let mut recreated = stored.clone();
    recreated["metadata"]["uid"] = "another".into();
    insta::assert_snapshot!(
        client.put(&path, &recreated).await.refusal().replace(stored["metadata"]["uid"].as_str().unwrap(), "UID"),
        @r#"409 Conflict: Operation cannot be fulfilled on deployments.apps "web": StorageError: invalid object, Code: 4, Key: /registry/deployments/shop/web, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: another, UID in object meta: UID"#
    );
    let mut unconditional = first.clone();
    unconditional["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    unconditional["spec"]["replicas"] = 5.into();
    assert_eq!(
        client.put(&path, &unconditional).await.json()["spec"]["replicas"],
        5
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_lease_is_created_by_put_but_not_recreated_by_its_old_holder() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/minrep";
    let lease = json!({"metadata": {"name": "minrep"}, "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}});
    let created = client.put(path, &lease).await;
    assert_eq!(created.status, StatusCode::CREATED);
    let mut held = created.json();
    let unconditional = client.put(path, &lease).await.refusal();
    insta::assert_snapshot!(unconditional, @r#"422 Invalid: leases.coordination.k8s.io "minrep" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"#);

    assert!(server.remove("leases", "shop", "minrep"));
    held["metadata"]["uid"] = "A".into();
    insta::assert_snapshot!(client.put(path, &held).await.refusal(), @r#"409 Conflict: Operation cannot be fulfilled on leases.coordination.k8s.io "minrep": StorageError: invalid object, Code: 4, Key: /registry/leases/shop/minrep, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: A, UID in object meta:"#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_write_that_changes_nothing_stores_nothing() {
    let server = shop().await;
    let client = Client::memory(&server);
    let created = client.post(DEPLOYMENTS, &deployment("web", 1)).await.json();
    let before = server.revision();
    assert_eq!(
        client
            .put(&format!("{DEPLOYMENTS}/web"), &created)
            .await
            .json(),
        created
    );
    assert_eq!(server.revision(), before);
    server.shutdown().await;
}

#[tokio::test]
async fn the_status_and_the_rest_are_written_apart() {
    let server = shop().await;
    let client = Client::memory(&server);
    let created = client.post(DEPLOYMENTS, &deployment("web", 1)).await.json();
    let mut wanted = created.clone();
    wanted["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    wanted["status"] = json!({"replicas": 1, "observedGeneration": 1});
    wanted["spec"]["replicas"] = 7.into();

    let path = format!("{DEPLOYMENTS}/web");
    let status = client.put(&format!("{path}/status"), &wanted).await.json();
    assert_eq!(
        (&status["status"]["replicas"], &status["spec"]["replicas"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        status["metadata"]["generation"], 1,
        "a status is no new generation"
    );

    wanted["status"] = json!({"replicas": 9});
    let main = client.put(&path, &wanted).await.json();
    assert_eq!(
        (&main["status"]["replicas"], &main["spec"]["replicas"]),
        (&json!(1), &json!(7))
    );
    assert_eq!(main["metadata"]["generation"], 2);
    server.shutdown().await;
}

#[tokio::test]
async fn a_dry_run_answers_as_if_and_stores_nothing() {
    let server = shop().await;
    let client = Client::memory(&server);
    let created = client
        .post(&format!("{DEPLOYMENTS}?dryRun=All"), &deployment("web", 1))
        .await;
    assert_eq!(created.status, StatusCode::CREATED);
    assert_eq!(created.json()["spec"]["progressDeadlineSeconds"], 600);
    assert!(server.objects("deployments").is_empty());

    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let before = server.revision();
    let mut watch = client
        .watch(&format!("{DEPLOYMENTS}?watch=1&resourceVersion={before}"))
        .await;
    let path = format!("{DEPLOYMENTS}/web");
    let scaled = client
        .patch(
            &format!("{path}/scale?dryRun=All"),
            crate::client::MERGE,
            &json!({"spec": {"replicas": 3}}),
        )
        .await;
    assert_eq!(scaled.json()["spec"]["replicas"], 3);
    let deleted = client
        .delete(&format!("{path}?dryRun=All"), &Value::Null)
        .await;
    assert_eq!(deleted.json()["status"], "Success");
    let deleted = client.delete(&path, &json!({"dryRun": ["All"]})).await;
    assert_eq!(deleted.status, StatusCode::OK);
    assert_eq!(server.revision(), before);
    assert_eq!(client.get(&path).await.json()["spec"]["replicas"], 1);
    client.delete(&path, &Value::Null).await;
    assert_eq!(
        watch.told().await,
        format!("DELETED web {}", before + 1),
        "the dry runs are no events"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn events_of_both_groups_are_one_store() {
    let server = shop().await;
    let client = Client::memory(&server);
    let event = json!({
        "metadata": {"name": "web.1", "namespace": "shop"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "action": "Scale", "reason": "Scaled", "type": "Normal",
        "reportingController": "minrep", "reportingInstance": "minrep-1", "note": "scaled from 1 to 2",
        "regarding": {"kind": "Deployment", "namespace": "shop", "name": "web"},
    });
    let created = client
        .post("/apis/events.k8s.io/v1/namespaces/shop/events", &event)
        .await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.text);
    assert_eq!(created.json()["note"], "scaled from 1 to 2");
    assert_eq!(created.json()["apiVersion"], "events.k8s.io/v1");

    let core = client
        .get("/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name%3Dweb")
        .await
        .json();
    assert_eq!(core["items"][0]["message"], "scaled from 1 to 2");
    assert_eq!(core["items"][0]["involvedObject"]["name"], "web");
    assert_eq!(core["items"][0].get("note"), None);
    let series = json!({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"}});
    let path = "/apis/events.k8s.io/v1/namespaces/shop/events/web.1";
    let patched = client
        .patch(path, crate::client::MERGE, &series)
        .await
        .json();
    assert_eq!(
        (&patched["series"]["count"], &patched["note"]),
        (&json!(2), &event["note"])
    );
    let listed = client.get("/apis/events.k8s.io/v1/events").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    assert_eq!(listed["items"][0]["regarding"]["name"], "web");
    server.shutdown().await;
}

/// As Go's `omitempty`: an empty map or list is none, an empty object is one.
#[tokio::test]
async fn what_is_empty_is_not_stored() {
    let server = shop().await;
    let client = Client::memory(&server);
    let mut web = deployment("web", 1);
    let spec = &mut web["spec"]["template"]["spec"];
    spec["nodeSelector"] = json!({});
    spec["tolerations"] = json!([]);
    spec["volumes"] = json!([{"name": "v", "emptyDir": {}}]);
    spec["containers"][0]["resources"] = json!({"limits": {}});
    let stored = client.post(DEPLOYMENTS, &web).await.json();
    let spec = &stored["spec"]["template"]["spec"];
    assert_eq!(spec.get("nodeSelector"), None);
    assert_eq!(spec.get("tolerations"), None);
    assert_eq!(spec["volumes"][0]["emptyDir"], json!({}));
    assert_eq!(spec["containers"][0]["resources"], json!({}));

    let maps = "/api/v1/namespaces/shop/configmaps";
    let map = json!({"metadata": {"name": "a"}, "data": {"a": "1"}});
    client.post(maps, &map).await;
    let last = json!({"data": {"a": null}});
    let emptied = client
        .patch(&format!("{maps}/a"), MERGE, &last)
        .await
        .json();
    assert_eq!(emptied.get("data"), None);
    server.shutdown().await;
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused_all_at_once() {
    let server = shop().await;
    let client = Client::memory(&server);
    let post = async |query: &str| {
        let path = format!("{DEPLOYMENTS}?{query}");
        client.post(&path, &deployment("web", 1)).await.refusal()
    };
    insta::assert_snapshot!(post("dryRun=").await, @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: supported values: "All""#);
    insta::assert_snapshot!(post("dryRun=All&dryRun=None").await, @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["All","None"]: supported values: "All""#);
    insta::assert_snapshot!(post("dryRun=x&fieldManager=%00&fieldValidation=z").await, @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: [fieldManager: Invalid value: "\x00": invalid character U+0000 (at position 0), dryRun: Unsupported value: ["x"]: supported values: "All", fieldValidation: Unsupported value: "z": supported values: "", "Ignore", "Strict", "Warn"]"#);
    let path = format!("{DEPLOYMENTS}/web?force=false");
    insta::assert_snapshot!(client.patch(&path, MERGE, &json!({})).await.refusal(), @r#"422 Invalid: PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch"#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_name_that_no_path_can_hold_is_refused() {
    let server = shop().await;
    let client = Client::memory(&server);
    let get = async |name: &str| client.get(&format!("{DEPLOYMENTS}/{name}")).await.refusal();
    insta::assert_snapshot!(get("%2e%2e").await, @r#"400 BadRequest: Name parameter invalid: "..": may not be '..'"#);
    insta::assert_snapshot!(get("a%25b").await, @r#"400 BadRequest: Name parameter invalid: "a%b": may not contain '%'"#);
    server.shutdown().await;
}
