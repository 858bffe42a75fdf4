use std::sync::Arc;

use super::scene::{Scene, unreadable_at, w};
use crate::watch::{News, Object, WatchEvent};

/// CT-12, CT-13: only what the first list brings is initial.
#[test]
fn the_first_list_adds_everything_as_initial() {
    let mut scene = Scene::empty();
    assert_eq!(
        scene.relist("10", [w("a", "1"), w("b", "2")]),
        ["initial a@1", "initial b@2"]
    );
    assert_eq!(scene.version(), "10");
    assert_eq!(
        scene.relist("20", [w("a", "11"), w("b", "2"), w("c", "12")]),
        ["updated a@1 to a@11", "added c@12"]
    );
}

/// CT-10, BX-29: deletions first, and the cache already shows the new world.
#[test]
fn a_relist_reports_deletions_first_then_the_order_of_the_list() {
    let mut scene = Scene::listed([w("pod1", "1"), w("pod2", "2"), w("pod3", "3")]);
    scene.begin();
    for object in [w("pod1", "14"), w("pod2", "15"), w("pod4", "16")] {
        scene.writer.apply(WatchEvent::Listed(object));
    }
    assert_eq!(scene.versions(), ["pod1@1", "pod2@2", "pod3@3"]);
    assert_eq!(
        scene.done("16"),
        [
            "tombstone pod3@3",
            "updated pod1@1 to pod1@14",
            "updated pod2@2 to pod2@15",
            "added pod4@16",
        ]
    );
    // Nobody has heard of any of it yet.
    assert_eq!(scene.versions(), ["pod1@14", "pod2@15", "pod4@16"]);
    assert!(scene.lister.get(&w("pod3", "3").key()).is_none());
    assert_eq!(scene.version(), "16");
}

/// CT-11, FF-06: exactly one `Deleted`, however often the empty list comes.
#[test]
fn an_empty_relist_deletes_everything_once() {
    let mut scene = Scene::listed([w("a", "1"), w("b", "2")]);
    let mut gone = scene.relist("20", []);
    gone.sort();
    assert_eq!(gone, ["tombstone a@1", "tombstone b@2"]);
    assert!(scene.relist("21", []).is_empty());
}

/// SI-06: an object that did not change is no news.
#[test]
fn a_relist_of_unchanged_objects_says_nothing_and_keeps_the_copies() {
    let mut scene = Scene::listed([w("a", "1")]);
    let before = scene.lister.get(&w("a", "1").key()).unwrap();
    assert!(scene.relist("20", [w("a", "1")]).is_empty());
    let after = scene.lister.get(&w("a", "1").key()).unwrap();
    assert!(Arc::ptr_eq(&before, &after));
}

/// BX-09: identity is the uid.
#[test]
fn another_uid_after_a_gap_is_a_delete_and_an_add() {
    let mut scene = Scene::listed([w("a", "1")]);
    assert_eq!(
        scene.relist("20", [w("a", "15").with_uid("other")]),
        ["tombstone a@1", "added a@15"]
    );
    assert_eq!(
        scene.event(WatchEvent::Modified(w("a", "21").with_uid("third"))),
        ["tombstone a@15", "added a@21"]
    );
}

/// A list that fails on page two must not bring back what vanished before the next.
#[test]
fn an_aborted_list_leaves_no_trace() {
    let mut scene = Scene::listed([w("a", "1"), w("b", "2")]);
    scene.begin();
    scene.event(WatchEvent::Listed(w("b", "2")));
    scene.event(WatchEvent::Listed(w("ghost", "11")));
    assert_eq!(scene.relist("20", [w("a", "1")]), ["tombstone b@2"]);
    assert_eq!(scene.versions(), ["a@1"]);
}

/// C-35: a list over a moving history may bring an object twice.
#[test]
fn an_object_that_a_list_brings_twice_counts_once_and_in_its_newer_copy() {
    let mut scene = Scene::listed([]);
    assert_eq!(
        scene.relist("20", [w("a", "12"), w("b", "13"), w("a", "11")]),
        ["added a@12", "added b@13"]
    );
}

#[test]
fn a_restored_server_replaces_the_cache_and_its_lower_versions_count() {
    let mut scene = Scene::listed([w("a", "9"), w("b", "8")]);
    let heard = scene.restored("5", [w("a", "3")]);
    assert_eq!(heard, ["tombstone b@8", "updated a@9 to a@3"]);
    assert_eq!(
        scene.event(WatchEvent::Modified(w("a", "6"))),
        ["updated a@3 to a@6"]
    );
    assert_eq!(scene.lister.counts().restored(), 1);
}

/// One number may mean two states in two histories. Keeping the old copy would let a write
/// that is guarded by that number pass on a state that nobody looked at.
#[test]
fn a_restored_server_replaces_even_what_has_the_same_version() {
    let mut scene = Scene::listed([w("a", "9").with_size(1)]);
    let heard = scene.restored("9", [w("a", "9").with_size(10)]);
    assert_eq!(heard, ["updated a@9 to a@9"]);
    let kept = scene.lister.get(&w("a", "9").key()).unwrap();
    assert_eq!(kept.size(), 10);
}

/// WL-10: a list that is streamed tells of what changes meanwhile.
#[test]
fn what_a_list_takes_back_was_never_there() {
    let mut scene = Scene::listed([w("a", "1"), w("b", "2")]);
    scene.begin();
    for listed in [w("a", "1"), w("b", "2"), w("c", "11"), w("d", "12")] {
        scene.event(WatchEvent::Listed(listed));
    }
    scene.event(WatchEvent::Deleted(w("a", "13")));
    scene.event(WatchEvent::Deleted(w("c", "14")));
    scene.event(unreadable_at(Some("d"), Some("15"), News::Deleted));
    scene.event(WatchEvent::Listed(w("e", "16")));
    assert_eq!(scene.done("16"), ["tombstone a@1", "added e@16"]);
    assert_eq!(scene.versions(), ["b@2", "e@16"]);
}

/// BX-29: the end of an object whose name was taken over is a deletion like any other.
#[test]
fn a_relist_reports_another_uid_among_the_deletions_and_among_the_additions() {
    let mut scene = Scene::listed([w("pod1", "1"), w("pod2", "2"), w("pod3", "3")]);
    let list = [w("pod2", "15"), w("pod1", "14").with_uid("other")];
    assert_eq!(
        scene.relist("16", list),
        [
            "tombstone pod3@3",
            "tombstone pod1@1",
            "updated pod2@2 to pod2@15",
            "added pod1@14",
        ]
    );
}
