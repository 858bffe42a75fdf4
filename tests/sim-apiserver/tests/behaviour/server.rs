//! The server itself: start, shutdown, records, tokens, size.

use std::time::Duration;

use faults::Verb;
use http::StatusCode;
use serde_json::{Value, json};
use sim_apiserver::{Kind, SimApiServer, faults};
use tokio::time::{Instant, timeout};

use crate::client::{Client, DEPLOYMENTS, MERGE, add_shop, deployment, shop};

/// The best of several: a machine that is busy with something else says nothing about the server.
#[tokio::test]
async fn it_is_there_in_less_than_fifty_milliseconds() {
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let started = Instant::now();
        let server = SimApiServer::builder()
            .workload_controllers(true)
            .start()
            .await
            .unwrap();
        assert_eq!(Client::socket(&server).get("/readyz").await.text, "ok");
        best = best.min(started.elapsed());
        server.shutdown().await;
    }
    println!("start to first answer: {best:?}");
    assert!(best < Duration::from_millis(50), "{best:?}");
}

#[tokio::test]
async fn shutdown_ends_open_watches_and_hanging_requests() {
    let server = shop().await;
    server
        .faults()
        .add(faults::Rule::new(faults::Action::Hang).path("/healthz"));
    let client = Client::socket(&server);
    let mut watch = client
        .watch(&format!(
            "{DEPLOYMENTS}?watch=1&resourceVersion={}",
            server.revision()
        ))
        .await;
    let hanging = client.send("GET", "/healthz", &[], "");
    let (hung, told, ()) = tokio::join!(hanging, watch.told(), async {
        server
            .wait_for_requests(|asked| asked.iter().any(|request| request.info.path == "/healthz"))
            .await;
        timeout(Duration::from_secs(5), server.shutdown())
            .await
            .expect("every task ends");
    });
    assert_eq!(told, "end");
    assert_eq!(watch.error, None, "a watch ends cleanly");
    hung.expect_err("no answer");
    assert!(
        client.send("GET", "/healthz", &[], "").await.is_err(),
        "nobody listens"
    );
}

#[tokio::test]
async fn it_tells_what_it_was_asked() {
    let server = shop().await;
    server.seed(deployment("web", 1));
    let client = Client::socket(&server);
    let patch = json!({"spec": {"replicas": 2}});
    client
        .patch(
            &format!("{DEPLOYMENTS}/web/scale?dryRun=All&fieldManager=m"),
            MERGE,
            &patch,
        )
        .await;
    client.get(&format!("{DEPLOYMENTS}?limit=500")).await;
    client.get(&format!("{DEPLOYMENTS}/nope")).await;

    let requests = server.requests();
    let verbs: Vec<Verb> = requests.iter().map(sim_apiserver::Recorded::verb).collect();
    assert_eq!(verbs, [Verb::Patch, Verb::List, Verb::Get]);
    let write = &requests[0];
    assert!(write.is_about("deployments/scale"));
    assert_eq!(write.info.namespace.as_deref(), Some("shop"));
    assert_eq!(write.info.name.as_deref(), Some("web"));
    assert_eq!(write.info.query("dryRun"), Some("All"));
    assert_eq!(write.json(), patch);
    assert_eq!(write.headers["user-agent"], "tester/1.0");
    assert_eq!(write.status, Some(StatusCode::OK));
    assert_eq!(requests[2].status, Some(StatusCode::NOT_FOUND));
    assert!(requests[0].at <= requests[1].at);
    assert_eq!(requests[0].connection, Some(1));
    assert_eq!(
        requests[1].connection,
        Some(1),
        "the connection is kept alive"
    );
    server.clear_requests();
    assert!(server.requests().is_empty());
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_that_stays_up_forgets_old_requests() {
    let server = SimApiServer::builder()
        .recorded_requests(3)
        .start()
        .await
        .unwrap();
    let client = Client::memory(&server);
    for limit in 1..=20 {
        client.get(&format!("{DEPLOYMENTS}?limit={limit}")).await;
    }
    let requests = server.requests();
    assert!((3..=6).contains(&requests.len()), "{}", requests.len());
    let newest = requests.last().expect("the newest");
    assert_eq!(newest.info.query("limit"), Some("20"));
    assert!(newest.status.is_some(), "its answer is found again");
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_test_waits_for_a_condition_not_for_a_time() {
    let server = shop().await;
    let client = Client::memory(&server);
    let web = deployment("web", 1);
    let ((), created) = tokio::join!(
        server.wait_for_object("deployments", "shop", "web", |web| web.is_some()),
        client.post(DEPLOYMENTS, &web),
    );
    assert_eq!(created.status, StatusCode::CREATED);
    assert!(
        timeout(Duration::from_secs(9), server.wait_for(|_| false))
            .await
            .is_err()
    );
    server.shutdown().await;
}

/// C-02: from a moment on only the new token is good.
#[tokio::test]
async fn tokens_are_asked_for_and_can_change() {
    let server = SimApiServer::builder()
        .require_token("A")
        .start()
        .await
        .unwrap();
    assert!(server.kubeconfig().contains("token: \"A\""));
    let client = Client::socket(&server);
    let with = async |token: &str| {
        let bearer = format!("Bearer {token}");
        client
            .call(
                "GET",
                "/api/v1/namespaces",
                &[("authorization", &bearer)],
                "",
            )
            .await
    };
    assert_eq!(with("A").await.status, StatusCode::OK);
    server.set_tokens(Some(vec!["B".to_owned()]));
    insta::assert_snapshot!(with("A").await.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}"#);
    assert_eq!(with("B").await.status, StatusCode::OK);
    assert_eq!(
        client.get("/healthz").await.status,
        StatusCode::OK,
        "health asks for no token"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn discovery_names_every_kind_and_its_subresources() {
    let server = shop().await;
    let client = Client::socket(&server);
    let version = client.get("/version").await.json();
    assert_eq!(
        (&version["major"], &version["minor"]),
        (&json!("1"), &json!("36"))
    );
    let apps = client.get("/apis/apps/v1").await.json();
    let names: Vec<&Value> = apps["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["name"])
        .collect();
    assert_eq!(
        names,
        [
            "daemonsets",
            "daemonsets/status",
            "deployments",
            "deployments/scale",
            "deployments/status",
            "replicasets",
            "replicasets/scale",
            "replicasets/status",
            "statefulsets",
            "statefulsets/scale",
            "statefulsets/status"
        ]
    );
    let groups = client.get("/apis").await.json();
    let names: Vec<&Value> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| &group["name"])
        .collect();
    assert_eq!(
        names,
        [
            "apps",
            "events.k8s.io",
            "authentication.k8s.io",
            "authorization.k8s.io",
            "autoscaling",
            "batch",
            "policy",
            "coordination.k8s.io",
        ]
    );
    assert_eq!(
        client.get("/apis/autoscaling").await.json()["preferredVersion"]["version"],
        "v2"
    );

    let aggregated = [(
        "accept",
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    )];
    let core = client.call("GET", "/api", &aggregated, "").await;
    assert_eq!(core.headers["content-type"], aggregated[0].1);
    let kinds: Vec<Value> = core.json()["items"][0]["versions"][0]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["responseKind"]["kind"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            "ConfigMap",
            "Event",
            "Namespace",
            "Node",
            "Pod",
            "Secret",
            "ServiceAccount",
            "Service"
        ]
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_further_kind_is_one_entry() {
    const SCALED_OBJECT: Kind = Kind::new("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects")
        .short_names(&["so"])
        .with_status();
    let server = SimApiServer::builder()
        .kind(SCALED_OBJECT)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::socket(&server);
    let path = "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects";
    let object = json!({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "so"},
        "spec": {"scaleTargetRef": {"name": "web"}}});
    assert_eq!(client.post(path, &object).await.status, StatusCode::CREATED);
    assert_eq!(client.get(path).await.json()["kind"], "ScaledObjectList");
    assert_eq!(
        client.get("/apis/keda.sh/v1alpha1").await.json()["resources"][0]["shortNames"],
        json!(["so"])
    );
    server.shutdown().await;
}

/// A Deployment of about 3 KB.
fn large(index: usize) -> Value {
    let mut object = deployment(&format!("web-{index:06}"), 1);
    object["metadata"]["annotations"] = json!({"filling": "x".repeat(2_500)});
    object
}

#[tokio::test]
async fn twenty_thousand_deployments_are_listed_whole_and_in_pages() {
    const COUNT: usize = 20_000;
    let server = shop().await;
    let started = Instant::now();
    server.seed_all((0..COUNT).map(large));
    let filled = started.elapsed();

    let client = Client::socket(&server);
    let started = Instant::now();
    let list = client.get("/apis/apps/v1/deployments").await;
    let listed = started.elapsed();
    let length: usize = list.headers["content-length"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(list.text.len(), length);
    assert_eq!(list.text.matches("\"filling\"").count(), COUNT);
    let megabytes = list.text.len() as f64 / 1e6;
    println!(
        "{COUNT} Deployments filled in {filled:?}; {megabytes:.0} MB listed in {listed:?}, client included"
    );

    let started = Instant::now();
    let (mut token, mut seen, mut pages) = (String::new(), 0, 0);
    loop {
        let path = format!("/apis/apps/v1/deployments?limit=500&continue={token}");
        let page = client.get(&path).await.text;
        seen += page.matches("\"filling\"").count();
        pages += 1;
        let Some((_, rest)) = page.split_once("\"continue\":\"") else {
            break;
        };
        rest.split('"').next().unwrap().clone_into(&mut token);
        // Something changes between two pages, as it always does.
        server.mutate("deployments", "shop", "web-000000", |_| {});
    }
    println!("{pages} pages in {:?}", started.elapsed());
    assert_eq!((seen, pages), (COUNT, 40));
    server.shutdown().await;
}
