//! A whole day against somebody who lowers at once.

use std::time::Duration;

use controller_core::runtime::RunOptions;
use serde_json::json;
use sim_apiserver::SimApiServer;
use tokio::time::{Instant, sleep_until};

use crate::harness::{Scene, deployment, options};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Lowers `web` as soon as it is raised, for ever.
async fn oppose(server: &SimApiServer) {
    loop {
        server
            .wait_for_object("deployments", "shop", "web", |object| {
                object.is_some_and(|object| object["spec"]["replicas"] == 2)
            })
            .await;
        server.mutate("deployments", "shop", "web", |object| {
            object["spec"]["replicas"] = json!(1);
            object["metadata"]["managedFields"] = json!([{
                "manager": "kube-controller-manager", "operation": "Update",
                "apiVersion": "apps/v1", "subresource": "scale",
                "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:replicas": {}}},
            }]);
        });
    }
}

/// Three at once, six until the wait is an hour, then one an hour; the other Deployment is
/// looked after all the while.
#[tokio::test(start_paused = true)]
async fn a_day_of_it_costs_a_bounded_number_of_writes() {
    let mut scene = Scene::new([deployment("web", 1), deployment("api", 3)]).await;
    scene.run(RunOptions {
        resync: Some(Duration::from_secs(600)),
        ..options()
    });
    let end = Instant::now() + DAY;
    tokio::select! {
        () = oppose(&scene.server) => {}
        () = sleep_until(end) => {}
    }
    assert_eq!(scene.patches().len(), 31);
    let said = scene.verdicts.all();
    let fighting = said.iter().filter(|it| it.contains("in a fight")).count();
    assert!(fighting >= 28, "{fighting}");
    let last = said.iter().rfind(|it| it.contains("in a fight")).unwrap();
    assert_eq!(
        last,
        "shop/web in a fight: raised again and again and still below the minimum; field \
         manager \"kube-controller-manager\" owns spec.replicas; the next raise waits 1h"
    );
    scene.scale_behind_our_back("api", 1);
    scene.until_replicas("api", 2).await;
    scene.stop().await;
}
