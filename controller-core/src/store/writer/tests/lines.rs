use super::scene::{Scene, w};
use crate::watch::WatchEvent;

#[test]
fn the_end_of_another_object_of_the_name_is_the_end_of_ours_too() {
    let mut scene = Scene::listed([w("a", "1")]);
    assert_eq!(
        scene.event(WatchEvent::Deleted(w("a", "15").with_uid("other"))),
        ["tombstone a@1"]
    );
    assert!(scene.versions().is_empty());
}

#[test]
fn old_copies_are_dropped_and_counted() {
    let mut scene = Scene::listed([w("a", "9")]);
    assert_eq!(
        scene.event(WatchEvent::Modified(w("a", "12"))),
        ["updated a@9 to a@12"]
    );
    for event in [
        WatchEvent::Modified(w("a", "11")),
        WatchEvent::Deleted(w("a", "11")),
        WatchEvent::Added(w("new", "11")),
    ] {
        assert!(scene.event(event).is_empty());
    }
    assert_eq!(scene.versions(), ["a@12"]);
    assert_eq!(scene.lister.counts().stale(), 3);
}

/// A late line must not resurrect a deleted object, not even after a bookmark only.
#[test]
fn a_reordered_line_brings_nothing_back_to_life() {
    let mut scene = Scene::listed([w("a", "9")]);
    assert_eq!(
        scene.event(WatchEvent::Deleted(w("a", "13"))),
        ["deleted a@13"]
    );
    assert!(scene.event(WatchEvent::Modified(w("a", "12"))).is_empty());
    scene.event(WatchEvent::Bookmark {
        resource_version: "30".into(),
    });
    assert!(scene.event(WatchEvent::Added(w("b", "29"))).is_empty());
    assert!(scene.versions().is_empty());
}

#[test]
fn a_line_that_comes_twice_is_one_change() {
    let mut scene = Scene::listed([]);
    assert_eq!(scene.event(WatchEvent::Added(w("a", "11"))), ["added a@11"]);
    assert!(scene.event(WatchEvent::Added(w("a", "11"))).is_empty());
    assert_eq!(
        scene.event(WatchEvent::Deleted(w("a", "12"))),
        ["deleted a@12"]
    );
    assert!(scene.event(WatchEvent::Deleted(w("a", "12"))).is_empty());
}

#[test]
fn a_bookmark_without_a_version_lets_nothing_old_in() {
    for nothing in ["", "0"] {
        let mut scene = Scene::listed([w("a", "9")]);
        scene.event(WatchEvent::Deleted(w("a", "13")));
        scene.event(WatchEvent::Bookmark {
            resource_version: nothing.into(),
        });
        assert!(scene.event(WatchEvent::Modified(w("a", "12"))).is_empty());
    }
}

#[test]
fn versions_that_are_no_numbers_are_taken_as_they_come() {
    let mut scene = Scene::listed([w("a", "x9")]);
    assert_eq!(
        scene.event(WatchEvent::Modified(w("a", "x1"))),
        ["updated a@x9 to a@x1"]
    );
}

/// FF-11: an object that nobody heard of does not vanish.
#[test]
fn the_deletion_of_an_unknown_key_is_no_news() {
    let mut scene = Scene::listed([]);
    assert!(scene.event(WatchEvent::Deleted(w("a", "11"))).is_empty());
}
