//! Objects to fill a server with.

use std::ops::Range;

use serde_json::{Value, json};

/// Deployments of namespace `default` that opted in to `demo/min-replicas` and have one replica, as the real
/// server completes them: `demo-000000`, `demo-000001` and so on, one for each number.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sim_apiserver::{SimApiServer, many_deployments};
///
/// let server = SimApiServer::builder().start().await?;
/// server.seed_all(many_deployments(0..1000));
/// assert!(server.object("deployments", "default", "demo-000999").is_some());
/// server.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub fn many_deployments(numbers: Range<u32>) -> impl Iterator<Item = Value> {
    let template = deployment("demo");
    numbers.map(move |number| copy(&template, &format!("demo-{number:06}")))
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
