//! Handlers that come, go, hang and panic while an informer runs.
use tokio::time::Instant;

use super::super::*;
use super::scene::{Door, Heard, Scene, options, settle, w};
use crate::handler::HandlerFuncs;
use crate::watch::WatchEvent;
use crate::watch::testing::Widget;

/// CT-13, SI-31: what the first list brings is initial, and a handler has synced when it
/// has heard of it, not when the cache has it.
#[tokio::test]
async fn a_handler_has_synced_when_it_has_heard_of_the_whole_first_list() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    let registration = scene.informer.add_handler(heard.handler());
    scene.list("10", [w("a", "1"), w("b", "2")]);
    assert!(scene.informer.has_synced() && !registration.has_synced());
    assert!(registration.synced().await);
    assert_eq!(heard.all().await, ["initial a@1", "initial b@2"]);
    scene.add("c", "11");
    assert_eq!(heard.all().await[2..], ["added c@11"]);
    scene.stop().await;
}

#[tokio::test]
async fn an_empty_first_list_syncs_a_handler_too() {
    let mut scene = Scene::new();
    let registration = scene.informer.add_handler(Heard::default().handler());
    scene.list("10", []);
    assert!(registration.synced().await);
    scene.stop().await;
}

/// A late handler hears of all there is, then of what happens: no gap, no repetition.
#[tokio::test]
async fn a_late_handler_hears_of_everything_exactly_once() {
    let mut scene = Scene::new();
    scene.list("10", [w("a", "1")]);
    scene.add("b", "11");
    let heard = Heard::default();
    let registration = scene.informer.add_handler(heard.handler());
    scene.add("c", "12");
    assert!(registration.synced().await);
    let mut all = heard.all().await;
    all[..2].sort();
    assert_eq!(all, ["initial a@1", "initial b@11", "added c@12"]);
    scene.stop().await;
}

/// SI-10, SI-18.
#[tokio::test]
async fn a_removed_handler_hears_nothing_more_and_costs_nothing() {
    let mut scene = Scene::new();
    let (gone, stays) = (Heard::default(), Heard::default());
    let registration = scene.informer.add_handler(gone.handler());
    scene.informer.add_handler(stays.handler());
    scene.list("10", [w("a", "1")]);
    settle().await;
    registration.remove().await;
    scene.add("b", "11");
    assert_eq!(gone.all().await, ["initial a@1"]);
    assert_eq!(stays.all().await, ["initial a@1", "added b@11"]);
    assert_eq!(scene.handlers(), (1, 1));
    scene.stop().await;
}

/// BX-16, SI-21, SI-22: a panic costs one delivery, not the handler, nor another one.
#[tokio::test]
async fn a_panicking_handler_still_syncs_and_harms_no_other() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    let panicking = HandlerFuncs::new().on_add(|new: &Arc<Widget>, _| {
        assert_ne!(new.key().name(), "a", "as the test wants it");
    });
    let registration = scene.informer.add_handler(panicking);
    scene.informer.add_handler(heard.handler());
    scene.list("10", [w("a", "1"), w("b", "2")]);
    assert!(registration.synced().await);
    assert_eq!(registration.panics(), 1);
    assert_eq!(heard.all().await, ["initial a@1", "initial b@2"]);
    scene.stop().await;
}

/// BX-14: a handler that hangs stops neither the cache nor another handler, and what it
/// misses meanwhile is merged by key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_handler_stops_nobody_and_hears_the_net_change() {
    let mut scene = Scene::with(options().buffer(2));
    let slow = Heard::default();
    let (door, pass) = Door::new();
    let blocking = HandlerFuncs::new()
        .on_add({
            let slow = slow.clone();
            move |new: &Arc<Widget>, _| {
                slow.say(format!("added {}", new.key().name()));
                if new.key().name() == "first" {
                    pass();
                }
            }
        })
        .on_update({
            let slow = slow.clone();
            move |old, new| {
                let (old, new) = (old.resource_version(), new.resource_version());
                slow.say(format!("updated {old} to {new}"));
            }
        });
    let registration = scene.informer.add_handler(blocking);
    let (told, mut quick) = tokio::sync::mpsc::channel(1);
    scene
        .informer
        .add_handler(HandlerFuncs::new().on_update(move |_, new: &Arc<Widget>| {
            if new.resource_version() == "1000" {
                told.try_send(()).unwrap();
            }
        }));
    scene.list("10", [w("first", "1")]);
    door.wait();
    scene.add("hot", "99");
    for version in 100..=1000 {
        let version = version.to_string();
        scene.modify("hot", &version);
    }
    quick.recv().await.unwrap();
    assert_eq!(scene.informer.lister().len(), 2);
    door.open();
    assert!(registration.synced().await);
    scene.stop().await;
    let heard = slow.now();
    assert_eq!(heard.first().unwrap(), "added first");
    assert!(heard.len() <= 4, "{heard:?}");
}

/// SI-02: each handler has its own interval, and nobody else's.
#[tokio::test(start_paused = true)]
async fn a_resync_replays_the_cache_to_the_handler_that_asked_for_it() {
    let mut scene = Scene::new();
    let (two, three, never) = (Heard::default(), Heard::default(), Heard::default());
    let seconds = Duration::from_secs;
    scene
        .informer
        .add_handler_with_resync(two.handler(), seconds(2));
    scene
        .informer
        .add_handler_with_resync(three.handler(), seconds(3));
    scene.informer.add_handler(never.handler());
    scene.list("10", [w("a", "1")]);
    // The intervals begin when the handlers' tasks first run.
    settle().await;
    let start = Instant::now();
    let count = |heard: &[String]| {
        let resyncs = heard.iter().filter(|word| *word == "resynced a@1");
        resyncs.count()
    };
    for (at, expected) in [
        (1, (0, 0)),
        (2, (1, 0)),
        (3, (1, 1)),
        (4, (2, 1)),
        (6, (3, 2)),
    ] {
        tokio::time::advance(start + seconds(at) - Instant::now()).await;
        let counts = (count(&two.all().await), count(&three.all().await));
        assert_eq!(counts, expected, "at {at} s");
    }
    assert_eq!(never.all().await, ["initial a@1"]);
    scene.stop().await;
}

/// An object that is gone must not come back by a resync that was under way.
#[tokio::test(start_paused = true)]
async fn a_resync_never_follows_the_deletion_of_its_object() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    scene
        .informer
        .add_handler_with_resync(heard.handler(), Duration::from_secs(1));
    scene.list("10", [w("a", "1"), w("b", "2")]);
    settle().await;
    scene.delete("a", "11");
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(heard.all().await[2..], ["deleted a@11"]);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(heard.all().await[3..], ["resynced b@2"]);
    scene.stop().await;
}

/// SI-01.
#[tokio::test]
async fn an_index_added_late_is_complete_at_once_and_its_name_is_taken() {
    let mut scene = Scene::new();
    scene.list("10", [w("a", "1").with_size(3)]);
    let by_size = |widget: &Widget| vec![widget.size().to_string()];
    scene.informer.add_index("size", by_size).unwrap();
    let lister = scene.informer.lister();
    assert_eq!(lister.by_index("size", "3").unwrap().len(), 1);
    scene.tell(WatchEvent::Added(w("b", "11").with_size(3)));
    assert_eq!(lister.by_index("size", "3").unwrap().len(), 2);
    let refused = scene.informer.add_index("size", by_size).unwrap_err();
    assert_eq!(refused.to_string(), "index with name size exists already");
    scene.stop().await;
}

/// A period that no clock can tell is "never", and costs no panic.
#[tokio::test(start_paused = true)]
async fn a_resync_period_without_end_never_ends() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    let registration = scene
        .informer
        .add_handler_with_resync(heard.handler(), Duration::MAX);
    scene.list("10", [w("a", "1")]);
    assert!(registration.synced().await);
    tokio::time::sleep(Duration::from_secs(10_000)).await;
    scene.modify("a", "11");
    assert_eq!(heard.all().await, ["initial a@1", "updated a@11"]);
    scene.stop().await;
}

#[tokio::test]
#[should_panic(expected = "period of zero")]
async fn a_resync_without_a_pause_is_refused_where_it_is_asked_for() {
    let handler = Heard::default().handler();
    Scene::new()
        .informer
        .add_handler_with_resync(handler, Duration::ZERO);
}

/// SI-23, SI-24: what the handler uses may be taken away once `remove` has returned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removal_waits_for_the_call_that_is_under_way() {
    let mut scene = Scene::new();
    let (door, pass) = Door::new();
    let handler = HandlerFuncs::new().on_add(move |_: &Arc<Widget>, _| pass());
    let registration = scene.informer.add_handler(handler);
    scene.list("10", [w("a", "1")]);
    door.wait();
    let mut removal = std::pin::pin!(registration.remove());
    assert!(futures::poll!(&mut removal).is_pending());
    door.open();
    removal.await;
    scene.stop().await;
}
