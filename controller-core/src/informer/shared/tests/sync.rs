//! When a handler has synced.
use super::super::*;
use super::scene::{Door, Heard, Scene, options, settle, w};
use crate::handler::HandlerFuncs;
use crate::watch::testing::Widget;
use crate::watch::{News, Unreadable, WatchEvent};

/// A handler that stops at each of its calls.
fn step_by_step() -> (Door, HandlerFuncs<Widget>) {
    let (door, pass) = Door::new();
    let handler = HandlerFuncs::new().on_add(move |_: &Arc<Widget>, _| pass());
    (door, handler)
}

/// FF-26, SI-31: synced if and only if the list is complete and all of it has been heard.
///
/// Mended: in client-go an object that was added without a list counts as a first list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_has_synced_when_list_and_calls_are_complete() {
    type Feed = fn(&mut Scene);
    let scripts: [(&str, Feed, usize, bool); 8] = [
        ("nothing", |_| {}, 0, false),
        ("no list", |it| it.add("a", "1"), 1, false),
        ("empty list", |it| it.list("10", []), 0, true),
        (
            "none heard",
            |it| it.list("10", [w("a", "1"), w("b", "2")]),
            0,
            false,
        ),
        (
            "one heard",
            |it| it.list("10", [w("a", "1"), w("b", "2")]),
            1,
            false,
        ),
        (
            "both heard",
            |it| it.list("10", [w("a", "1"), w("b", "2")]),
            2,
            true,
        ),
        (
            "one twice",
            |it| it.list("10", [w("a", "1"), w("a", "1"), w("b", "2")]),
            2,
            true,
        ),
        (
            "half a list",
            |it| {
                it.tell(WatchEvent::ListStarted { fresh: false });
                it.tell(WatchEvent::Listed(w("a", "1")));
            },
            0,
            false,
        ),
    ];
    for (name, feed, heard, expected) in scripts {
        let mut scene = Scene::new();
        let (door, handler) = step_by_step();
        let registration = scene.informer.add_handler(handler);
        feed(&mut scene);
        for _ in 0..heard {
            door.wait();
            door.open();
        }
        if expected {
            assert!(registration.synced().await, "{name}");
        } else if registration.pending() > 0 {
            // It stands at the door, or at its way there.
            assert!(!registration.has_synced(), "{name}");
        } else {
            settle().await;
            assert!(!registration.has_synced(), "{name}");
        }
        for _ in heard..2 {
            door.open();
        }
        scene.stop().await;
    }
}

/// SI-33: of 100 objects the last one counts. That one is finished twice is impossible here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_object_of_a_hundred_counts() {
    let mut scene = Scene::new();
    let (door, handler) = step_by_step();
    let registration = scene.informer.add_handler(handler);
    scene.list("1000", (0..100).map(|number| w(&number.to_string(), "1")));
    for _ in 0..99 {
        door.wait();
        door.open();
    }
    door.wait();
    assert!(scene.informer.has_synced() && !registration.has_synced());
    door.open();
    assert!(registration.synced().await);
    scene.stop().await;
}

/// FF-23: what was known before and is gone by now does not end the wait early, and was
/// initial all the same.
#[tokio::test]
async fn deletions_among_what_is_unheard_do_not_sync_a_handler() {
    let mut scene = Scene::idle(options());
    scene.list("10", [w("a", "1"), w("b", "2"), w("c", "3")]);
    let heard = Heard::default();
    let registration = scene.informer.add_handler(heard.handler());
    scene.list("20", [w("a", "1")]);
    assert!(!registration.has_synced());
    scene.start();
    assert!(registration.synced().await);
    let mut all = heard.all().await;
    assert!(
        all[..3].iter().all(|it| it.starts_with("initial")),
        "{all:?}"
    );
    all[3..].sort();
    assert_eq!(all[3..], ["vanished b@2", "vanished c@3"]);
    scene.stop().await;
}

/// A first list of items that all hide their names: the cache has synced, is empty, and
/// quarantines nothing.
#[tokio::test]
async fn the_health_tells_that_a_list_hid_even_names() {
    let mut scene = Scene::new();
    let nameless = WatchEvent::Unreadable(Unreadable {
        key: None,
        resource_version: None,
        during: News::Listed,
        error: "an object of another kind".to_owned(),
    });
    scene.tell(WatchEvent::ListStarted { fresh: false });
    scene.tell(nameless);
    scene.tell(WatchEvent::ListDone {
        resource_version: "10".to_owned(),
        restored: false,
    });
    assert!(scene.informer.has_synced());
    let health = scene.informer.health();
    assert!(health.hides_objects);
    assert_eq!((health.objects, health.quarantined), (0, 0));
    let hidden = ", objects without a key hidden";
    assert!(health.to_string().ends_with(hidden), "{health}");

    scene.list("20", []);
    let health = scene.informer.health();
    assert!(!health.hides_objects);
    assert!(!health.to_string().contains(hidden), "{health}");
    scene.stop().await;
}
