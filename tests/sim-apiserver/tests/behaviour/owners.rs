//! Who owns which field, and what counts as a new generation.

use http::StatusCode;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;

use crate::client::{Client, DEPLOYMENTS, MERGE, add_shop, deployment, shop};

fn owners(object: &Value) -> Vec<String> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let text = |entry: &Value| {
        let subresource = entry["subresource"].as_str().unwrap_or("-");
        let replicas = !entry["fieldsV1"]["f:spec"]["f:replicas"].is_null();
        let time = entry["time"].is_string();
        format!(
            "{} {subresource} replicas={replicas} time={time}",
            entry["manager"]
        )
    };
    entries.iter().map(text).collect()
}

/// Who fights over the replicas is found by this.
#[tokio::test]
async fn the_replicas_belong_to_who_wrote_them_last() {
    let server = shop().await;
    let client = Client::memory(&server);
    let web = format!("{DEPLOYMENTS}/web");
    client
        .post(
            &format!("{DEPLOYMENTS}?fieldManager=maker"),
            &deployment("web", 1),
        )
        .await;
    let scale = async |manager: &str, replicas: u8| {
        let path = format!("{web}/scale?fieldManager={manager}");
        client
            .patch(&path, MERGE, &json!({"spec": {"replicas": replicas}}))
            .await;
        owners(&client.get(&web).await.json())
    };
    assert_eq!(
        scale("minrep", 2).await,
        [
            r#""minrep" scale replicas=true time=false"#,
            r#""maker" - replicas=false time=true"#
        ]
    );
    assert_eq!(
        scale("other", 3).await,
        [
            r#""other" scale replicas=true time=false"#,
            r#""maker" - replicas=false time=true"#
        ]
    );
    let path = format!("{web}?fieldManager=maker");
    client
        .patch(&path, MERGE, &json!({"spec": {"replicas": 4}}))
        .await;
    assert_eq!(
        owners(&client.get(&web).await.json()),
        [r#""maker" - replicas=true time=true"#]
    );
    server.shutdown().await;
}

#[tokio::test]
async fn what_the_server_fills_in_belongs_to_nobody() {
    let server = shop().await;
    let client = Client::memory(&server);
    let namespace = client
        .post("/api/v1/namespaces", &json!({"metadata": {"name": "a"}}))
        .await
        .json();
    assert_eq!(
        namespace["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:metadata": {"f:labels": {"f:kubernetes.io/metadata.name": {}}}})
    );
    let pod = json!({"metadata": {"name": "a"}, "spec": {"tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "a", "image": "i"}]}});
    let pod = client
        .post("/api/v1/namespaces/shop/pods", &pod)
        .await
        .json();
    let fields = &pod["metadata"]["managedFields"][0]["fieldsV1"];
    assert_eq!(fields.get("f:status"), None);
    assert_eq!(fields["f:spec"].get("f:priority"), None);
    // What was given was given.
    assert_eq!(fields["f:spec"]["f:tolerations"], json!({}));
    server.shutdown().await;
}

#[tokio::test]
async fn fields_have_the_names_of_the_version_that_was_written() {
    let server = shop().await;
    let client = Client::memory(&server);
    let event = json!({"metadata": {"name": "web.1"}, "eventTime": "2024-05-06T07:08:09.123456Z", "action": "a",
        "reason": "r", "type": "Normal", "reportingController": "c", "reportingInstance": "i", "note": "n",
        "regarding": {"name": "web", "namespace": "shop"}});
    client
        .post("/apis/events.k8s.io/v1/namespaces/shop/events", &event)
        .await;
    let stored = server.object("events", "shop", "web.1").unwrap();
    let entry = &stored["metadata"]["managedFields"][0];
    assert_eq!(entry["apiVersion"], "events.k8s.io/v1");
    assert_eq!(entry["fieldsV1"]["f:regarding"], json!({}));
    assert_eq!(entry["fieldsV1"]["f:note"], json!({}));
    assert_eq!(entry["fieldsV1"].get("f:involvedObject"), None);
    server.shutdown().await;
}

#[tokio::test]
async fn an_annotation_is_a_new_generation_of_a_deployment_only() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let annotation = json!({"metadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}}});
    let web = client
        .patch(&format!("{DEPLOYMENTS}/web"), MERGE, &annotation)
        .await
        .json();
    assert_eq!(web["metadata"]["generation"], 2);
    let mut set = deployment("web-1", 1);
    set["kind"] = "ReplicaSet".into();
    let sets = "/apis/apps/v1/namespaces/shop/replicasets";
    let made = client.post(sets, &set).await;
    assert_eq!(made.json()["metadata"]["generation"], 1);
    let set = client
        .patch(&format!("{sets}/web-1"), MERGE, &annotation)
        .await
        .json();
    assert_eq!(set["metadata"]["annotations"]["a"], "b");
    assert_eq!(set["metadata"]["generation"], 1);
    server.shutdown().await;
}

/// A Deployment's controller notes its revision by this, without making a new generation.
#[tokio::test]
async fn metadata_can_be_written_with_the_status() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let path = format!("{DEPLOYMENTS}/web/status");
    let metadata = json!({"metadata": {"annotations": {"a": "b"}, "labels": {"c": "d"}}, "spec": {"replicas": 5}});
    let web = client.patch(&path, MERGE, &metadata).await.json();
    assert_eq!(web["metadata"]["annotations"]["a"], "b");
    assert_eq!(web["metadata"]["labels"].get("c"), None);
    assert_eq!(web["metadata"]["generation"], 1);
    assert_eq!(web["spec"]["replicas"], 1);
    let bad = json!({"metadata": {"annotations": {"a b": "c"}}});
    let bad = client.patch(&path, MERGE, &bad).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);

    let mut set = deployment("web-1", 1);
    set["kind"] = "ReplicaSet".into();
    let sets = "/apis/apps/v1/namespaces/shop/replicasets";
    client.post(sets, &set).await;
    let set = client
        .patch(&format!("{sets}/web-1/status"), MERGE, &metadata)
        .await
        .json();
    assert_eq!(set["metadata"]["labels"]["c"], "d");
    server.shutdown().await;
}

#[tokio::test]
async fn a_rollout_is_no_new_generation() {
    let server = SimApiServer::builder()
        .workload_controllers(true)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let ready = |web: Option<&Value>| web.is_some_and(|web| web["status"]["readyReplicas"] == 1);
    server
        .wait_for_object("deployments", "shop", "web", ready)
        .await;
    let web = server.object("deployments", "shop", "web").unwrap();
    assert_eq!(
        web["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "1"
    );
    assert_eq!(web["metadata"]["generation"], 1);
    server.shutdown().await;
}
