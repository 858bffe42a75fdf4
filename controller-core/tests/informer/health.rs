use std::time::Duration;

use controller_core::informer::Health;
use controller_core::watch::{State, Streaming};
use serde_json::json;
use sim_apiserver::faults::{Action, Rule};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::bed::{Heard, informer, options, server};

/// What a person reads, from before the start to after the end.
#[tokio::test(start_paused = true)]
async fn the_health_of_an_informer_is_one_line() {
    let server = server(&["a", "b"]).await;
    let informer = informer(&server, options(Streaming::Never));
    let registration = informer.add_handler(Heard::default().handler());
    let mut lines = Vec::new();
    let mut note = |health: &Health| lines.push(health.to_string());
    note(&informer.health());
    let stop = CancellationToken::new();
    tokio::join!(informer.run(stop.clone()), async {
        assert!(registration.synced().await);
        let mut status = informer.status();
        status.wait_for(|now| now.watched).await.unwrap();
        sleep(Duration::from_secs(5)).await;
        note(&informer.health());

        // An object that the type cannot be read from.
        server.mutate("configmaps", "shop", "b", |it| it["data"] = json!(7));
        sleep(Duration::from_secs(1)).await;
        note(&informer.health());

        let away = Rule::new(Action::status(503).message("etcd is away"));
        server.faults().add(away);
        let backs_off = |state: &State| matches!(state, State::BackingOff { .. });
        status.wait_for(|now| backs_off(&now.state)).await.unwrap();
        note(&informer.health());
        stop.cancel();
    });
    note(&informer.health());
    let filters = [
        ("objects at [0-9]+", "objects at N"),
        ("for [0-9]{2,}s", "for N s"),
        ("[0-9]{2,}s ago", "N s ago"),
    ];
    insta::with_settings!({filters => filters}, {
        insta::assert_snapshot!(lines.join("\n"), @r"
        configmaps: starting for 0s, 0 objects, 0 restarts; heard not synced, 0 behind
        configmaps: watching for 5s, 2 objects at N, last contact 5s ago, 0 restarts; heard has heard everything
        configmaps: watching for 6s, 2 objects at N, last contact 1s ago, 0 restarts, 1 quarantined; heard has heard everything
        configmaps: backing off for 0s (etcd is away), 2 objects at N, last contact 0s ago, 0 restarts, 1 quarantined; heard has heard everything
        configmaps: stopped for 0s, 2 objects at N, last contact 0s ago, 0 restarts, 1 quarantined; heard has heard everything
        ");
    });
    let health = informer.health();
    assert_eq!((health.objects, health.quarantined), (2, 1));
    assert_eq!(health.handlers[0].name, "heard");
    server.shutdown().await;
}
