use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use tokio::task::yield_now;

/// How many objects are stored before others get a turn: Ctrl-C, and whoever asks the server.
const BATCH: u32 = 500;

/// Stores `count` Deployments that opted in and have one replica: `demo-000000` and so on.
pub(super) async fn fill(server: &SimApiServer, count: u32) {
    let template = deployment("demo");
    for start in (0..count).step_by(BATCH as usize) {
        let end = count.min(start + BATCH);
        server.seed_all((start..end).map(|number| copy(&template, &format!("demo-{number:06}"))));
        yield_now().await;
    }
}

/// The same under another name. To copy one takes a debug build a third of the time that it takes to put one
/// together.
fn copy(template: &Value, name: &str) -> Value {
    let mut object = template.clone();
    for place in [
        "/metadata/name",
        "/metadata/labels/app",
        "/spec/selector/matchLabels/app",
        "/spec/template/metadata/labels/app",
    ] {
        if let Some(text) = object.pointer_mut(place) {
            *text = name.into();
        }
    }
    object
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": "default",
            "generation": 1,
            "labels": {"app": name, "demo/min-replicas": "true"},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            },
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "containers": [{"name": "nginx", "image": "nginx:1.27"}],
                    "restartPolicy": "Always",
                },
            },
        },
        "status": {},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_object_is_opted_in_and_has_a_name_of_its_own() {
        let server = SimApiServer::builder().start().await.unwrap();
        fill(&server, BATCH + 1).await;
        let deployments = server.objects("deployments");
        assert_eq!(deployments.len(), BATCH as usize + 1);
        assert_eq!(
            deployments[BATCH as usize]["metadata"]["name"],
            "demo-000500"
        );
        for deployment in &deployments {
            let labels = &deployment["metadata"]["labels"];
            assert_eq!(labels["demo/min-replicas"], "true");
            assert_eq!(deployment["spec"]["replicas"], 1);
        }
        server.shutdown().await;
    }
}
