//! What a handler hears, in which order.
use super::super::*;
use super::scene::{Heard, Scene, options, settle, w};
use crate::handler::HandlerFuncs;
use crate::watch::WatchEvent;
use crate::watch::testing::Widget;

const SECOND: Duration = Duration::from_secs(1);

/// SI-03: events do not wait for handlers' tasks, nor do they get lost before these run.
#[tokio::test(start_paused = true)]
async fn a_task_that_starts_late_brings_everything() {
    let mut scene = Scene::idle(options());
    let (first, second) = (Heard::default(), Heard::default());
    scene.informer.add_handler(first.handler());
    scene.list("10", [w("a", "1")]);
    scene
        .informer
        .add_handler_with_resync(second.handler(), 10 * SECOND);
    scene.add("b", "11");
    scene.delete("a", "12");
    tokio::time::advance(SECOND).await;
    assert!(first.all().await.is_empty());
    scene.start();
    let expected = ["initial a@1", "added b@11", "deleted a@12"];
    assert_eq!(first.all().await, expected);
    assert_eq!(second.all().await, expected);
    scene.stop().await;
}

/// SI-12: one handler twice is two registrations, and one outlives the other.
#[tokio::test]
async fn a_handler_may_be_added_twice() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    let handler = Arc::new(heard.handler());
    let first = scene.informer.add_handler(Arc::clone(&handler));
    let second = scene.informer.add_handler(handler);
    scene.list("10", [w("a", "1")]);
    assert_eq!(heard.all().await, ["initial a@1", "initial a@1"]);
    first.remove().await;
    scene.add("b", "11");
    assert_eq!(heard.all().await[2..], ["added b@11"]);
    assert!(second.has_synced());
    scene.stop().await;
}

/// SI-18: what was heard before the removal was heard, what comes after is not.
#[tokio::test]
async fn a_handler_removed_in_the_middle_has_heard_the_first_half() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    let registration = scene.informer.add_handler(heard.handler());
    scene.list("10", []);
    scene.add("a", "11");
    settle().await;
    registration.remove().await;
    scene.add("b", "12");
    assert_eq!(heard.all().await, ["added a@11"]);
    scene.stop().await;
}

/// SI-21, SI-22: each of five objects is told to both, however often they panic; nobody
/// pauses for a second after each, as client-go does.
#[tokio::test(start_paused = true)]
async fn two_handlers_that_always_panic_hear_everything() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    let panicking = || {
        let heard = heard.clone();
        HandlerFuncs::new().on_add(move |new: &Arc<Widget>, _| {
            heard.note("added", new);
            panic!("as the test wants it");
        })
    };
    let one = scene.informer.add_handler(panicking());
    let other = scene.informer.add_handler(panicking());
    let start = tokio::time::Instant::now();
    scene.list("10", (0..5).map(|number| w(&number.to_string(), "1")));
    assert!(one.synced().await && other.synced().await);
    assert_eq!((one.panics(), other.panics()), (5, 5));
    assert_eq!(heard.all().await.len(), 10);
    assert_eq!(start.elapsed(), Duration::ZERO);
    scene.stop().await;
}

/// FF-16: an object whose update is unheard when the interval ends is not told twice.
#[tokio::test(start_paused = true)]
async fn a_resync_leaves_out_who_has_something_unheard() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    scene
        .informer
        .add_handler_with_resync(heard.handler(), SECOND);
    scene.list("10", [w("a", "1")]);
    assert_eq!(heard.all().await, ["initial a@1"]);
    scene.modify("a", "16");
    tokio::time::advance(SECOND).await;
    assert_eq!(heard.all().await[1..], ["updated a@16"]);
    tokio::time::advance(SECOND).await;
    assert_eq!(heard.all().await[2..], ["resynced a@16"]);
    scene.stop().await;
}

/// FF-32: a resync is one step. It tells of everything that was there, and of nothing that
/// came after it.
#[tokio::test(start_paused = true)]
async fn a_resync_tells_of_everything_once() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    scene
        .informer
        .add_handler_with_resync(heard.handler(), SECOND);
    scene.list("10", [w("a", "1"), w("b", "2")]);
    scene.add("c", "11");
    assert_eq!(heard.all().await.len(), 3);
    tokio::time::advance(SECOND).await;
    let mut all = heard.all().await;
    all[3..].sort();
    assert_eq!(all[3..], ["resynced a@1", "resynced b@2", "resynced c@11"]);
    scene.tell(WatchEvent::Modified(w("a", "12")));
    assert_eq!(heard.all().await[6..], ["updated a@12"]);
    scene.stop().await;
}
