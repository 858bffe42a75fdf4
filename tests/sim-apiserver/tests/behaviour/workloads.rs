//! The stand-in for the workload controllers. The clock is paused: Pods take as long as the test says.

use std::time::Duration;

use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use tokio::time::Instant;

use crate::client::{Client, DEPLOYMENTS, MERGE, add_shop, deployment};

const WEB: &str = "/apis/apps/v1/namespaces/shop/deployments/web";

async fn cluster() -> SimApiServer {
    let server = SimApiServer::builder()
        .workload_controllers(true)
        .pod_ready_after(Duration::from_secs(3))
        .start()
        .await
        .unwrap();
    add_shop(&server);
    server
}

async fn rolled_out(server: &SimApiServer, replicas: i64) {
    server
        .wait_for_object("deployments", "shop", "web", |web| {
            let Some(web) = web else { return false };
            let status = &web["status"];
            status["observedGeneration"] == web["metadata"]["generation"]
                && status["updatedReplicas"].as_i64().unwrap_or(0) == replicas
                && status["replicas"].as_i64().unwrap_or(0) == replicas
                && status["availableReplicas"].as_i64().unwrap_or(0) == replicas
        })
        .await;
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array().unwrap();
    conditions
        .iter()
        .find(|condition| condition["type"] == kind)
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_deployment_becomes_ready_pods() {
    let server = cluster().await;
    let client = Client::memory(&server);
    let started = Instant::now();
    client.post(DEPLOYMENTS, &deployment("web", 2)).await;
    server
        .wait_for(|server| server.objects("pods").len() == 2)
        .await;
    assert!(started.elapsed() < Duration::from_secs(1));
    let web = server.object("deployments", "shop", "web").unwrap();
    assert_eq!(condition(&web, "Available")["status"], "False");

    rolled_out(&server, 2).await;
    assert_eq!(started.elapsed().as_secs(), 3);
    let web = server.object("deployments", "shop", "web").unwrap();
    assert_eq!(
        web["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "1"
    );
    assert_eq!(
        condition(&web, "Available")["reason"],
        "MinimumReplicasAvailable"
    );
    assert_eq!(
        condition(&web, "Progressing")["reason"],
        "NewReplicaSetAvailable"
    );

    let sets = server.objects("replicasets");
    assert_eq!(sets.len(), 1);
    let owner = &sets[0]["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["controller"]),
        (&json!("Deployment"), &json!(true))
    );
    assert_eq!(owner["uid"], web["metadata"]["uid"]);
    for pod in server.objects("pods") {
        assert_eq!(
            pod["metadata"]["ownerReferences"][0]["uid"],
            sets[0]["metadata"]["uid"]
        );
        assert_eq!(pod["metadata"]["labels"]["app"], "web");
        assert!(pod["metadata"]["labels"]["pod-template-hash"].is_string());
        assert_eq!(condition(&pod, "Ready")["status"], "True");
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn scaling_makes_and_takes_pods() {
    let server = cluster().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    rolled_out(&server, 1).await;
    let first = server.objects("pods")[0]["metadata"]["name"].clone();
    client
        .patch(
            &format!("{WEB}/scale"),
            MERGE,
            &json!({"spec": {"replicas": 3}}),
        )
        .await;
    rolled_out(&server, 3).await;
    client
        .patch(
            &format!("{WEB}/scale"),
            MERGE,
            &json!({"spec": {"replicas": 1}}),
        )
        .await;
    rolled_out(&server, 1).await;
    assert_eq!(server.objects("pods").len(), 1);
    assert_eq!(
        server.objects("pods")[0]["metadata"]["name"],
        first,
        "the youngest go first"
    );

    client
        .patch(
            &format!("{WEB}/scale"),
            MERGE,
            &json!({"spec": {"replicas": 0}}),
        )
        .await;
    rolled_out(&server, 0).await;
    let web = server.object("deployments", "shop", "web").unwrap();
    assert_eq!(web["status"].get("replicas"), None, "a zero is left out");
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn another_template_is_rolled_out_and_back() {
    let server = cluster().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 2)).await;
    rolled_out(&server, 2).await;
    let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
    for (revision, tag) in [("2", "i:2"), ("3", "i:1")] {
        client
            .patch(WEB, crate::client::STRATEGIC, &image(tag))
            .await;
        rolled_out(&server, 2).await;
        let web = server.object("deployments", "shop", "web").unwrap();
        assert_eq!(
            web["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
            revision
        );
        assert_eq!(server.objects("pods").len(), 2);
        assert!(
            server
                .objects("pods")
                .iter()
                .all(|pod| pod["spec"]["containers"][0]["image"] == tag)
        );
    }
    assert_eq!(
        server.objects("replicasets").len(),
        2,
        "the template that came back has its old ReplicaSet"
    );
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_pod_is_replaced_and_a_deleted_deployment_leaves_nothing() {
    let server = cluster().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    rolled_out(&server, 1).await;
    let pod = server.objects("pods")[0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    client
        .delete(&format!("/api/v1/namespaces/shop/pods/{pod}"), &Value::Null)
        .await;
    server
        .wait_for(|server| {
            server
                .objects("pods")
                .iter()
                .any(|p| p["metadata"]["name"] != pod.as_str())
        })
        .await;
    rolled_out(&server, 1).await;

    client.delete(WEB, &Value::Null).await;
    assert!(server.objects("replicasets").is_empty());
    assert!(server.objects("pods").is_empty());
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_made_where_the_stand_in_is_off() {
    let server = crate::client::shop().await;
    let client = Client::memory(&server);
    let created = client.post(DEPLOYMENTS, &deployment("web", 2)).await.json();
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(client.get(WEB).await.json(), created);
    server.shutdown().await;
}

/// What the stand-in stores can be written back by the strictest client.
#[tokio::test(start_paused = true)]
async fn everything_that_is_stored_has_the_fields_of_its_kind() {
    let server = cluster().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    rolled_out(&server, 1).await;
    let mut checked = 0;
    for (collection, namespaced) in [
        ("/api/v1/nodes", false),
        ("/api/v1/namespaces", false),
        ("/api/v1/pods", true),
        ("/api/v1/events", true),
        ("/api/v1/serviceaccounts", true),
        ("/apis/apps/v1/replicasets", true),
        ("/apis/apps/v1/deployments", true),
    ] {
        let items = client.get(collection).await.json()["items"].take();
        for item in items.as_array().unwrap() {
            let metadata = &item["metadata"];
            let name = metadata["name"].as_str().unwrap();
            let (base, plural) = collection.rsplit_once('/').unwrap();
            let path = match metadata["namespace"].as_str().filter(|_| namespaced) {
                Some(namespace) => format!("{base}/namespaces/{namespace}/{plural}/{name}"),
                None => format!("{base}/{plural}/{name}"),
            };
            let path = format!("{path}?fieldValidation=Strict&dryRun=All");
            let written = client.put(&path, item).await;
            assert_eq!(written.status, 200, "{path}: {}", written.text);
            checked += 1;
        }
    }
    assert!(checked > 8, "{checked}");
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_made_by_hand_runs_on_the_node_too() {
    let server = cluster().await;
    let client = Client::memory(&server);
    let pod = json!({"metadata": {"name": "solo"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    client.post("/api/v1/namespaces/shop/pods", &pod).await;
    server
        .wait_for_object("pods", "shop", "solo", |pod| {
            pod.is_some_and(|pod| pod["status"]["phase"] == "Running")
        })
        .await;
    let pod = server.object("pods", "shop", "solo").unwrap();
    assert_eq!(pod["spec"]["nodeName"], "sim-node");
    let events = server.objects("events");
    let scheduled = events.iter().filter(|event| event["reason"] == "Scheduled");
    assert_eq!(scheduled.count(), 1);
    server.shutdown().await;
}
