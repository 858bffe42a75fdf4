//! Rollouts: what `kubectl rollout` shows and does.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use tokio::time::timeout;

use crate::client::{Client, DEPLOYMENTS, MERGE, add_shop, deployment};

const REVISION: &str = "deployment.kubernetes.io/revision";

async fn running(web: Value) -> (SimApiServer, Client) {
    let server = SimApiServer::builder()
        .workload_controllers(true)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    assert_eq!(client.post(DEPLOYMENTS, &web).await.status, 201);
    settled(&server).await;
    (server, client)
}

/// Waits until the Deployment says what `kubectl rollout status` waits for.
async fn settled(server: &SimApiServer) {
    let done = |web: Option<&Value>| {
        let web = web.unwrap();
        let (wanted, status) = (&web["spec"]["replicas"], &web["status"]);
        status["observedGeneration"] == web["metadata"]["generation"]
            && status["updatedReplicas"] == *wanted
            && status["replicas"] == *wanted
            && status["availableReplicas"] == *wanted
    };
    let wait = server.wait_for_object("deployments", "shop", "web", done);
    timeout(Duration::from_secs(20), wait)
        .await
        .expect("a rollout that ends");
}

async fn set_image(client: &Client, image: &str) {
    let patch =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
    assert_eq!(
        client
            .patch(&format!("{DEPLOYMENTS}/web"), MERGE, &patch)
            .await
            .status,
        200
    );
}

/// `REVISION IMAGE REPLICAS` of each ReplicaSet, by revision.
fn revisions(server: &SimApiServer) -> Vec<String> {
    let mut revisions: Vec<String> = server
        .objects("replicasets")
        .iter()
        .map(|set| {
            let revision = set["metadata"]["annotations"][REVISION].as_str().unwrap();
            let image = set["spec"]["template"]["spec"]["containers"][0]["image"]
                .as_str()
                .unwrap();
            format!("{revision} {image} {}", set["spec"]["replicas"])
        })
        .collect();
    revisions.sort();
    revisions
}

#[tokio::test]
async fn a_template_that_comes_back_is_a_new_revision_of_its_replica_set() {
    let (server, client) = running(deployment("web", 3)).await;
    set_image(&client, "i:2").await;
    settled(&server).await;
    assert_eq!(revisions(&server), ["1 i:1 0", "2 i:2 3"]);
    set_image(&client, "i:1").await;
    settled(&server).await;
    assert_eq!(revisions(&server), ["2 i:2 0", "3 i:1 3"]);
    let web = server.object("deployments", "shop", "web").unwrap();
    assert_eq!(web["metadata"]["annotations"][REVISION], "3");
    server.shutdown().await;
}

#[tokio::test]
async fn a_rollout_never_leaves_its_limits() {
    let mut web = deployment("web", 4);
    web["spec"]["strategy"] = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}});
    let (server, client) = running(web).await;
    let from = server.revision();
    let mut sizes: BTreeMap<String, i64> = BTreeMap::new();
    for set in server.objects("replicasets") {
        sizes.insert(set["metadata"]["name"].to_string(), 4);
    }
    let path = "/apis/apps/v1/namespaces/shop/replicasets";
    let mut watch = client
        .watch(&format!("{path}?watch=1&resourceVersion={from}"))
        .await;
    set_image(&client, "i:2").await;
    let mut steps = 0;
    while sizes.len() < 2 || !sizes.values().any(|size| *size == 0) {
        let set = watch.event().await.unwrap()["object"].take();
        let size = set["spec"]["replicas"].as_i64().unwrap();
        let before = sizes.insert(set["metadata"]["name"].to_string(), size);
        steps += usize::from(before != Some(size));
        let total: i64 = sizes.values().sum();
        assert!((3..=5).contains(&total), "{sizes:?}");
    }
    settled(&server).await;
    assert!(steps > 4, "{steps}");
    server.shutdown().await;
}

#[tokio::test]
async fn recreating_takes_the_old_pods_away_first() {
    let mut web = deployment("web", 2);
    web["spec"]["strategy"] = json!({"type": "Recreate"});
    let (server, client) = running(web).await;
    set_image(&client, "i:2").await;
    settled(&server).await;
    assert_eq!(revisions(&server), ["1 i:1 0", "2 i:2 2"]);
    assert_eq!(server.objects("pods").len(), 2);
    server.shutdown().await;
}

#[tokio::test]
async fn a_paused_deployment_is_scaled_and_not_rolled_out() {
    let (server, client) = running(deployment("web", 1)).await;
    let path = format!("{DEPLOYMENTS}/web");
    client
        .patch(&path, MERGE, &json!({"spec": {"paused": true}}))
        .await;
    set_image(&client, "i:2").await;
    client
        .patch(&path, MERGE, &json!({"spec": {"replicas": 2}}))
        .await;
    let scaled = server.wait_for_object("deployments", "shop", "web", |web| {
        web.unwrap()["status"]["availableReplicas"] == 2
    });
    timeout(Duration::from_secs(20), scaled)
        .await
        .expect("it is scaled");
    assert_eq!(revisions(&server), ["1 i:1 2"]);
    let web = server.object("deployments", "shop", "web").unwrap();
    let conditions = web["status"]["conditions"].as_array().unwrap();
    let progressing = conditions
        .iter()
        .find(|condition| condition["type"] == "Progressing")
        .unwrap();
    assert_eq!(progressing["reason"], "DeploymentPaused");
    client
        .patch(&path, MERGE, &json!({"spec": {"paused": null}}))
        .await;
    settled(&server).await;
    assert_eq!(revisions(&server), ["1 i:1 0", "2 i:2 2"]);
    server.shutdown().await;
}

#[tokio::test]
async fn old_revisions_are_forgotten_beyond_the_limit() {
    let mut web = deployment("web", 1);
    web["spec"]["revisionHistoryLimit"] = 1.into();
    let (server, client) = running(web).await;
    for image in ["i:2", "i:3", "i:4"] {
        set_image(&client, image).await;
        settled(&server).await;
    }
    let kept = server.wait_for(|server| server.objects("replicasets").len() == 2);
    timeout(Duration::from_secs(20), kept)
        .await
        .expect("two are left");
    assert_eq!(revisions(&server), ["3 i:3 0", "4 i:4 1"]);
    server.shutdown().await;
}

#[tokio::test]
async fn controllers_tell_of_their_work() {
    let (server, client) = running(deployment("web", 1)).await;
    client
        .patch(
            &format!("{DEPLOYMENTS}/web"),
            MERGE,
            &json!({"spec": {"replicas": 0}}),
        )
        .await;
    let gone = server.wait_for(|server| server.objects("pods").is_empty());
    timeout(Duration::from_secs(20), gone)
        .await
        .expect("no Pods");
    let events = server.objects("events");
    let told = |reason: &str| {
        events
            .iter()
            .filter(|event| event["reason"] == reason)
            .count()
    };
    assert_eq!(told("ScalingReplicaSet"), 2);
    for reason in ["SuccessfulCreate", "SuccessfulDelete", "Scheduled"] {
        assert_eq!(told(reason), 1, "{reason}");
    }
    let web = server.object("deployments", "shop", "web").unwrap();
    let written = |object: &Value| {
        object["status"]["conditions"][0]
            .get("lastUpdateTime")
            .is_some()
    };
    assert!(
        written(&web),
        "a Deployment's conditions have it, a Node's do not"
    );
    assert!(!written(&server.object("nodes", "", "sim-node").unwrap()));
    let about = events
        .iter()
        .find(|event| event["reason"] == "ScalingReplicaSet")
        .unwrap();
    assert_eq!(about["involvedObject"]["uid"], web["metadata"]["uid"]);
    assert!(about["message"].as_str().unwrap().starts_with("Scaled "));
    server.shutdown().await;
}

/// A limit of 0 forgets what has no Pods any more, and nothing else.
#[tokio::test(start_paused = true)]
async fn a_revision_that_still_has_pods_is_kept() {
    let server = SimApiServer::builder()
        .workload_controllers(true)
        .pod_ready_after(Duration::from_secs(3600))
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    let mut web = deployment("web", 4);
    web["spec"]["revisionHistoryLimit"] = 0.into();
    client.post(DEPLOYMENTS, &web).await;
    server
        .wait_for(|server| server.objects("pods").len() == 4)
        .await;
    tokio::time::sleep(Duration::from_secs(4000)).await;
    set_image(&client, "i:2").await;
    server
        .wait_for(|server| server.objects("replicasets").len() == 2)
        .await;
    // Long enough for every look at it, and too short for a new Pod to become Ready.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(revisions(&server), ["1 i:1 3", "2 i:2 2"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_replica_set_has_the_annotations_of_its_deployment_but_not_those_of_others() {
    let mut web = deployment("web", 1);
    web["metadata"]["annotations"] = json!({"kubernetes.io/change-cause": "because",
        "kubectl.kubernetes.io/last-applied-configuration": "{}"});
    let (server, client) = running(web).await;
    let annotations = || server.objects("replicasets")[0]["metadata"]["annotations"].clone();
    let expected = |cause: &str| {
        json!({"kubernetes.io/change-cause": cause, REVISION: "1",
            "deployment.kubernetes.io/desired-replicas": "1",
            "deployment.kubernetes.io/max-replicas": "2"})
    };
    assert_eq!(annotations(), expected("because"));
    let patch = json!({"metadata": {"annotations": {"kubernetes.io/change-cause": "why not"}}});
    client
        .patch(&format!("{DEPLOYMENTS}/web"), MERGE, &patch)
        .await;
    let taken_over = server.wait_for(|_| annotations() == expected("why not"));
    timeout(Duration::from_secs(20), taken_over)
        .await
        .expect("they follow the Deployment's");
    server.shutdown().await;
}
