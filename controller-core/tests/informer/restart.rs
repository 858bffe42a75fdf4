use controller_core::watch::{State, Streaming};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::bed::{Heard, config_map, informer, options, server};

/// BX-17: the second run asks for nothing older than what the first one saw. What happened
/// during the pause is told once, and the end of `a` is not lost.
#[tokio::test(start_paused = true)]
async fn a_second_run_goes_on_where_the_first_one_ended() {
    for streaming in [Streaming::Auto, Streaming::Never] {
        let server = server(&["a", "b"]).await;
        let informer = informer(&server, options(streaming));
        let heard = Heard::default();
        let registration = informer.add_handler(heard.handler());
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            assert!(registration.synced().await);
            server.seed(config_map("c"));
            heard.until(3).await;
            stop.cancel();
        });
        let seen = informer.lister().resource_version().unwrap();
        assert!(informer.is_stopped());
        let requests = server.requests().len();

        server.remove("configmaps", "shop", "a");
        server.mutate("configmaps", "shop", "b", |it| {
            it["data"] = json!({"new": "yes"});
        });
        server.seed(config_map("d"));
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            let mut news = heard.until(6).await.split_off(3);
            news[1..].sort();
            assert_eq!(
                news,
                ["vanished a", "added d", "updated b"],
                "{streaming:?}"
            );
            server.remove("configmaps", "shop", "c");
            assert_eq!(heard.until(7).await[6..], ["deleted c"]);
            stop.cancel();
        });
        let first = &server.requests()[requests];
        assert_eq!(
            first.info.query("resourceVersion"),
            Some(&*seen),
            "{streaming:?}"
        );
        server.shutdown().await;
    }
}

/// An informer that was stopped before its first list has synced after its second start, and
/// whoever holds its status or registration needs no new one.
#[tokio::test(start_paused = true)]
async fn an_informer_stopped_too_early_syncs_in_its_next_run() {
    let server = server(&["a"]).await;
    let informer = informer(&server, options(Streaming::Auto));
    let heard = Heard::default();
    let registration = informer.add_handler(heard.handler());
    let mut status = informer.status();
    let stopped = CancellationToken::new();
    stopped.cancel();
    informer.run(stopped).await;
    assert!(server.requests().is_empty());
    assert!(!registration.synced().await);
    assert!(matches!(status.borrow_and_update().state, State::Stopped));

    let stop = CancellationToken::new();
    tokio::join!(informer.run(stop.clone()), async {
        assert!(registration.synced().await);
        status.wait_for(|now| now.watched).await.unwrap();
        stop.cancel();
    });
    assert_eq!(heard.all(), ["initial a"]);
    server.shutdown().await;
}
