//! What a handler is told, event by event: the rows of client-go's queues, which we do not
//! have, as what comes out of the cache.
use std::sync::Arc;

use super::scene::{Scene, w};
use crate::store::cache;
use crate::watch::Object;
use crate::watch::WatchEvent::{self, Added, Deleted, Modified};
use crate::watch::testing::Widget;

/// Three objects, the whole at version 10.
fn known() -> Scene {
    Scene::listed([w("foo", "5"), w("bar", "6"), w("baz", "7")])
}

fn sorted(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    words
}

/// FF-02.
#[test]
fn a_deletion_is_not_told_again_by_the_list_that_follows() {
    let mut scene = Scene::listed([w("foo", "1")]);
    assert_eq!(scene.event(Deleted(w("foo", "11"))), ["deleted foo@11"]);
    assert_eq!(scene.relist("20", [w("foo2", "15")]), ["added foo2@15"]);
}

/// FF-04.
#[test]
fn what_came_and_went_is_nothing_to_an_empty_list() {
    let mut scene = Scene::listed([]);
    assert_eq!(scene.event(Added(w("foo", "11"))), ["added foo@11"]);
    assert_eq!(scene.event(Deleted(w("foo", "12"))), ["deleted foo@12"]);
    assert!(scene.relist("20", []).is_empty());
}

/// FF-05: lists that change nothing are silent.
#[test]
fn what_was_listed_twice_vanishes_once() {
    let mut scene = Scene::listed([]);
    assert_eq!(scene.event(Added(w("foo", "11"))), ["added foo@11"]);
    assert!(scene.relist("20", [w("foo", "11")]).is_empty());
    assert!(scene.relist("21", [w("foo", "11")]).is_empty());
    assert_eq!(scene.relist("22", []), ["tombstone foo@11"]);
}

/// FF-07.
#[test]
fn a_tombstone_carries_the_last_state_that_was_seen() {
    let mut scene = Scene::listed([]);
    scene.event(Added(w("foo", "12")));
    scene.event(Deleted(w("foo", "13")));
    scene.event(Added(w("foo", "14").with_uid("second")));
    assert_eq!(scene.relist("20", []), ["tombstone foo@14"]);
}

/// FF-08.
#[test]
fn a_bookmark_moves_the_version_and_nothing_else() {
    let mut scene = known();
    let bookmark = WatchEvent::Bookmark {
        resource_version: "15".to_owned(),
    };
    assert!(scene.event(bookmark).is_empty());
    assert_eq!(scene.version(), "15");
    assert_eq!(scene.versions(), ["bar@6", "baz@7", "foo@5"]);
}

/// FF-11, except that the end of what nobody heard of is no news.
#[test]
fn without_a_list_each_line_is_news_of_its_own() {
    let mut scene = Scene::listed([]);
    let told: Vec<_> = [
        Added(w("foo", "11")),
        Modified(w("bar", "15")),
        Added(w("qux", "17")),
        Deleted(w("qux", "18")),
        Deleted(w("baz", "20")),
    ]
    .into_iter()
    .flat_map(|event| scene.event(event))
    .collect();
    assert_eq!(
        told,
        [
            "added foo@11",
            "added bar@15",
            "added qux@17",
            "deleted qux@18"
        ]
    );
}

/// FF-12.
#[test]
fn an_added_line_of_what_is_known_is_an_update() {
    let mut scene = known();
    assert_eq!(
        scene.event(Added(w("foo", "11"))),
        ["updated foo@5 to foo@11"]
    );
    assert_eq!(
        scene.event(Modified(w("bar", "15"))),
        ["updated bar@6 to bar@15"]
    );
    assert_eq!(scene.event(Deleted(w("baz", "20"))), ["deleted baz@20"]);
}

/// FF-13, FF-31.
#[test]
fn a_list_updates_what_a_line_added() {
    let mut scene = Scene::listed([]);
    assert_eq!(scene.event(Added(w("foo", "11"))), ["added foo@11"]);
    assert_eq!(scene.version(), "11");
    assert_eq!(
        scene.relist("20", [w("foo", "15")]),
        ["updated foo@11 to foo@15"]
    );
    assert_eq!(scene.version(), "20");
}

/// FF-18.
#[test]
fn a_list_ends_what_it_does_not_bring_and_not_what_has_ended() {
    let mut scene = known();
    assert_eq!(scene.event(Deleted(w("baz", "11"))), ["deleted baz@11"]);
    assert_eq!(scene.relist("20", [w("foo", "5")]), ["tombstone bar@6"]);
}

/// FF-19.
#[test]
fn a_list_ends_the_newest_known_state() {
    let mut scene = known();
    assert_eq!(
        scene.event(Added(w("baz", "11"))),
        ["updated baz@7 to baz@11"]
    );
    assert_eq!(
        sorted(scene.relist("20", [w("foo", "5")])),
        ["tombstone bar@6", "tombstone baz@11"]
    );
}

/// FF-20.
#[test]
fn a_list_ends_what_came_back() {
    let mut scene = known();
    assert_eq!(scene.event(Deleted(w("bar", "11"))), ["deleted bar@11"]);
    assert_eq!(scene.event(Added(w("bar", "100"))), ["added bar@100"]);
    assert_eq!(
        sorted(scene.relist("200", [w("foo", "5")])),
        ["tombstone bar@100", "tombstone baz@7"]
    );
}

/// FF-22.
#[test]
fn a_list_ends_what_only_a_line_has_told_of() {
    let mut scene = Scene::listed([]);
    assert_eq!(scene.event(Added(w("baz", "11"))), ["added baz@11"]);
    assert_eq!(
        scene.relist("20", [w("foo", "15")]),
        ["tombstone baz@11", "added foo@15"]
    );
}

/// FF-24: the order is that of the watch, whatever has changed twice.
#[test]
fn nobody_jumps_the_line() {
    let mut scene = Scene::listed([]);
    let lines = [
        ("foo", 10),
        ("bar", 1),
        ("foo", 11),
        ("foo", 13),
        ("zab", 30),
        ("foo", 14),
    ];
    let told = (11..).zip(lines).flat_map(|(version, (name, size))| {
        let object = w(name, &version.to_string()).with_size(size);
        let deltas = scene.writer.apply(Modified(object));
        deltas.into_iter().map(|delta| delta.object().size())
    });
    assert_eq!(told.collect::<Vec<_>>(), [10, 1, 11, 13, 30, 14]);
}

/// FF-30: a list replaces all or nothing.
#[test]
fn no_reader_sees_half_of_a_list() {
    const ROUNDS: usize = 500;
    let (mut writer, lister) = cache(Vec::new());
    let list = |round: usize| {
        let version = (10 * round).to_string();
        let parity = round % 2;
        let objects: Vec<_> = (0..20)
            .map(|index| w(&format!("{parity}-{index}"), &version))
            .collect();
        (version, objects)
    };
    let mut replace = |round: usize| {
        let (version, objects) = list(round);
        writer.apply(WatchEvent::ListStarted { fresh: false });
        for object in objects {
            writer.apply(WatchEvent::Listed(object));
        }
        writer.apply(WatchEvent::ListDone {
            resource_version: version,
            restored: false,
        });
    };
    let seen_whole = |objects: &[Arc<Widget>], version: Option<&str>| {
        let whole = objects.len() == 20
            && objects.iter().all(|object| {
                object.resource_version() == objects[0].resource_version()
                    && version.is_none_or(|version| object.resource_version() == version)
            });
        assert!(whole, "{version:?}: {objects:?}");
    };
    replace(1);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| (2..=ROUNDS).for_each(&mut replace));
        while !writing.is_finished() {
            seen_whole(&lister.list(), None);
            let snapshot = lister.snapshot();
            seen_whole(&snapshot, snapshot.resource_version());
        }
        writing.join().unwrap();
    });
    let last = lister.snapshot();
    assert_eq!(last.resource_version(), Some(&*(10 * ROUNDS).to_string()));
}

/// CT-14, ST-04: the version follows whatever moves it, and never goes back.
#[test]
fn the_version_of_the_cache_follows_the_watch() {
    let mut scene = Scene::empty();
    assert_eq!(scene.version(), "");
    scene.event(Added(w("a", "10")));
    assert_eq!(scene.version(), "10");
    for (event, version) in [
        (Added(w("a", "10")), "10"),
        (Modified(w("a", "20")), "20"),
        (Modified(w("a", "15")), "20"),
        (Deleted(w("a", "30")), "30"),
        (Deleted(w("gone", "40")), "40"),
    ] {
        scene.event(event);
        assert_eq!(scene.version(), version);
    }
    scene.relist("50", [w("a", "45")]);
    assert_eq!(scene.version(), "50");
    scene.restored("9", [w("a", "7")]);
    assert_eq!(scene.version(), "9");
}

/// ST-05.
#[test]
fn a_cache_is_read_by_key_and_as_a_whole() {
    let mut scene = Scene::empty();
    let key = |name: &str| w(name, "1").key();
    assert!(scene.lister.is_empty() && scene.lister.get(&key("a")).is_none());
    scene.event(Added(w("a", "11").with_size(1)));
    scene.event(Added(w("b", "12")));
    assert_eq!(scene.lister.get(&key("a")).unwrap().size(), 1);
    scene.event(Modified(w("a", "13").with_size(2)));
    assert_eq!(scene.lister.get(&key("a")).unwrap().size(), 2);
    assert_eq!(scene.lister.len(), 2);
    scene.event(Deleted(w("b", "14")));
    assert_eq!(scene.versions(), ["a@13"]);
    scene.relist("20", [w("c", "15"), w("d", "16")]);
    assert_eq!(scene.versions(), ["c@15", "d@16"]);
}
