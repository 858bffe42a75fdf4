//! Handlers that take their time.
use captured_log::CapturedLog;
use tracing::Level;

use super::super::*;
use super::log::{count, logged};
use super::scene::{Door, Heard, Scene, options, w};
use crate::handler::HandlerFuncs;
use crate::watch::testing::Widget;

/// A handler that blocks at its first call, and notes all.
fn blocking(heard: &Heard, name: &'static str) -> (Door, HandlerFuncs<Widget>) {
    let (door, pass) = Door::new();
    let (added, updated) = (heard.clone(), heard.clone());
    let first = std::sync::Once::new();
    let handler = HandlerFuncs::new()
        .named(name)
        .on_add(move |new: &Arc<Widget>, _| {
            added.note("added", new);
            first.call_once(&pass);
        })
        .on_update(move |_, new| updated.note("updated", new));
    (door, handler)
}

/// BX-14: told once when it falls behind and once when it has caught up; the others hear as
/// if nothing were.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_handler_is_reported_by_name_and_slows_no_other() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let mut scene = Scene::idle(options().buffer(3));
    let (slow, quick) = (Heard::default(), Heard::default());
    let (door, handler) = blocking(&slow, "the slow one");
    let registration = scene.informer.add_handler(handler);
    let other = scene
        .informer
        .add_handler(quick.handler().named("the quick one"));
    let (informer, shutdown) = (scene.informer.clone(), CancellationToken::new());
    tokio::join!(informer.run(shutdown.clone()), async {
        scene.list("10", [w("a", "1")]);
        assert!(other.synced().await);
        door.wait();
        for version in 11..=20 {
            scene.modify("a", &version.to_string());
        }
        logged(&log, "event handler is slow").await;
        let last = "updated a@20".to_owned();
        while quick.now().last() != Some(&last) {
            tokio::task::yield_now().await;
        }
        // The call under way, the mark of the first list, two updates, and a net change.
        let health = scene.informer.health();
        let [behind, well] = &health.handlers[..] else {
            panic!("{health:?}")
        };
        assert_eq!((behind.pending, behind.synced), (5, false));
        assert!(behind.lag >= Duration::from_secs(1), "{behind:?}");
        assert_eq!(
            (registration.pending(), &*registration.name()),
            (5, "the slow one")
        );
        assert_eq!(
            (well.pending, well.synced, well.lag),
            (0, true, Duration::ZERO)
        );
        door.open();
        logged(&log, "event handler has caught up").await;
        shutdown.cancel();
    });
    assert_eq!(
        slow.now(),
        ["added a@1", "updated a@11", "updated a@12", "updated a@20"]
    );
    assert_eq!(count(&log, "event handler is slow"), 1, "{}", log.text());
    assert_eq!(count(&log, "the slow one"), 2, "{}", log.text());
    assert_eq!(count(&log, "the quick one"), 0, "{}", log.text());
}

/// RW-07: a call that never returns keeps neither the program from ending nor the informer
/// from running again, and its handler never has two calls at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_does_not_wait_for_a_handler_that_hangs() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let stop_within = Duration::from_millis(50);
    let mut scene = Scene::idle(options().stop_within(stop_within));
    let (hangs, well) = (Heard::default(), Heard::default());
    let (door, handler) = blocking(&hangs, "the one that hangs");
    let registration = scene.informer.add_handler(handler);
    scene.informer.add_handler(well.handler());
    let (informer, shutdown) = (scene.informer.clone(), CancellationToken::new());
    tokio::join!(informer.run(shutdown.clone()), async {
        scene.list("10", [w("a", "1")]);
        door.wait();
        shutdown.cancel();
    });
    assert!(informer.is_stopped());
    let line = "ERROR event handler hangs; the informer ends without it \
                resource=widgets.example.com handler=\"the one that hangs\" after=50ms";
    assert!(log.text().contains(line), "{}", log.text());
    assert_eq!(scene.handlers(), (2, 1));

    scene.start();
    scene.modify("a", "11");
    while well.now().last().map(String::as_str) != Some("updated a@11") {
        tokio::task::yield_now().await;
    }
    assert_eq!(hangs.now(), ["added a@1"]);
    door.open();
    assert!(registration.synced().await);
    while hangs.now().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(hangs.now(), ["added a@1", "updated a@11"]);
    scene.stop().await;
    assert_eq!(scene.handlers(), (2, 0));
}
