use serde_json::json;
use sim_apiserver::faults::Verb;

use crate::harness::{Scene, deployment, options};

/// One event from the socket to the patch: somebody scales a Deployment down to one.
///
/// `watch` reads a MODIFIED line, `store` finds the old and the new object, `handler` puts
/// the key in line, `queue` hands it to one `worker`, the controller's plan says "raise
/// to 2", and `write` sends one patch that names the very object that was looked at.
#[tokio::test(start_paused = true)]
async fn a_line_of_the_watch_becomes_one_guarded_patch() {
    let mut scene = Scene::new([deployment("web", 3)]).await;
    scene.run(options());
    scene
        .until_said("shop/web already satisfies the minimum of 2 (3 replicas)")
        .await;

    scene.scale_behind_our_back("web", 1);
    let seen = scene.server.object("deployments", "shop", "web").unwrap();
    scene.until_replicas("web", 2).await;
    scene.until_said("shop/web scaled from 1 to 2").await;

    let patches = scene.patches();
    let [patch] = &patches[..] else {
        panic!("{patches:#?}")
    };
    assert!(patch.is_about("deployments/scale"));
    assert_eq!(
        patch.json(),
        json!({
            "metadata": {
                "uid": seen["metadata"]["uid"],
                "resourceVersion": seen["metadata"]["resourceVersion"],
            },
            "spec": {"replicas": 2},
        })
    );
    assert_eq!(patch.info.query("fieldManager"), Some("minrep"));
    assert_eq!(
        patch.headers["content-type"],
        "application/merge-patch+json"
    );

    // For each of the three kinds one watch that began with its list, and for the kind that
    // this server does not have a list and a look at what it has; nothing else was asked.
    let asked = |verb| scene.server.requests_where(|it| it.verb() == verb).len();
    assert_eq!(
        (asked(Verb::List), asked(Verb::Watch), asked(Verb::Get)),
        (1, 3, 1)
    );
    let summary = scene.stop().await;
    assert!(summary.completed);
}
