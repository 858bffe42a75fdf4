use super::scene::{Scene, unreadable, unreadable_at, w};
use crate::watch::{News, Object, WatchEvent};

#[test]
fn an_unreadable_item_keeps_its_old_copy_and_others_vanish() {
    let mut scene = Scene::listed([w("a", "1"), w("b", "2"), w("c", "3")]);
    scene.begin();
    scene.event(unreadable(Some("a"), News::Listed));
    scene.event(WatchEvent::Listed(w("b", "2")));
    assert_eq!(scene.done("20"), ["tombstone c@3"]);
    let key = w("a", "1").key();
    assert!(scene.lister.is_outdated(&key));
    assert_eq!(scene.lister.counts().unreadable(), 1);
    scene.event(WatchEvent::Modified(w("a", "21")));
    assert!(!scene.lister.is_outdated(&key));
}

#[test]
fn a_list_with_an_item_that_has_no_key_says_nothing_is_gone() {
    let mut scene = Scene::listed([w("a", "1"), w("b", "2")]);
    scene.begin();
    scene.event(unreadable(None, News::Listed));
    scene.event(WatchEvent::Listed(w("b", "15")));
    assert_eq!(scene.done("20"), ["updated b@2 to b@15"]);
    assert!(scene.lister.is_outdated(&w("a", "1").key()));
    assert!(scene.relist("25", [w("a", "1"), w("b", "15")]).is_empty());
    assert!(!scene.lister.is_outdated(&w("a", "1").key()));
    assert_eq!(scene.relist("30", [w("b", "15")]), ["tombstone a@1"]);
}

#[test]
fn an_unreadable_change_marks_the_copy_and_an_unreadable_deletion_removes_it() {
    let mut scene = Scene::listed([w("a", "1")]);
    assert!(scene.event(unreadable(Some("a"), News::Changed)).is_empty());
    assert!(scene.lister.is_outdated(&w("a", "1").key()));
    assert_eq!(
        scene.event(unreadable(Some("a"), News::Deleted)),
        ["tombstone a@1"]
    );
    assert!(scene.lister.is_empty());
}

#[test]
fn an_unreadable_deletion_from_an_older_time_removes_nothing() {
    let mut scene = Scene::listed([w("a", "9")]);
    scene.event(WatchEvent::Modified(w("a", "12")));
    let WatchEvent::Unreadable(mut old) = unreadable(Some("a"), News::Deleted) else {
        panic!("not unreadable")
    };
    old.resource_version = Some("11".to_owned());
    assert!(scene.event(WatchEvent::Unreadable(old)).is_empty());
    assert_eq!(scene.versions(), ["a@12"]);
}

/// Nothing comes back to life by a line that arrives late, whether or not what came in
/// between could be read.
#[test]
fn what_is_older_than_an_unreadable_line_is_old_news() {
    for during in [News::Deleted, News::Changed, News::Unknown] {
        let mut scene = Scene::listed([w("a", "9")]);
        scene.event(unreadable_at(Some("a"), Some("13"), during));
        assert!(
            scene.event(WatchEvent::Modified(w("a", "12"))).is_empty(),
            "{during:?}"
        );
        let deleted = during == News::Deleted;
        assert_eq!(scene.lister.is_outdated(&w("a", "9").key()), !deleted);
    }
}

#[test]
fn an_unreadable_line_that_comes_late_marks_nothing() {
    let mut scene = Scene::listed([w("a", "9")]);
    scene.event(WatchEvent::Modified(w("a", "13")));
    scene.event(unreadable_at(Some("a"), Some("12"), News::Changed));
    assert!(!scene.lister.is_outdated(&w("a", "9").key()));
    scene.event(unreadable_at(Some("a"), Some("12"), News::Deleted));
    assert_eq!(scene.versions(), ["a@13"]);
}

/// The mark is about the newest state: an older copy does not take it away.
#[test]
fn only_a_state_that_is_not_older_ends_the_quarantine() {
    let mut scene = Scene::listed([w("a", "5")]);
    scene.begin();
    scene.event(WatchEvent::Listed(w("a", "11")));
    scene.event(unreadable_at(Some("a"), Some("12"), News::Listed));
    assert_eq!(scene.done("20"), ["updated a@5 to a@11"]);
    assert!(scene.lister.is_outdated(&w("a", "1").key()));
    scene.relist("30", [w("a", "12")]);
    assert!(!scene.lister.is_outdated(&w("a", "1").key()));
    assert_eq!(scene.lister.quarantined(), 0);
}

/// What could never be read is in no cache, and somebody has to know of it.
#[test]
fn the_quarantine_holds_objects_that_the_cache_never_had() {
    let mut scene = Scene::listed([w("a", "1")]);
    scene.event(unreadable_at(Some("b"), Some("12"), News::Changed));
    scene.event(unreadable_at(Some("a"), Some("13"), News::Changed));
    scene.event(unreadable(None, News::Unknown));
    let held = scene.lister.quarantine();
    let words: Vec<_> = held
        .iter()
        .map(|held| {
            (
                held.key.name(),
                held.resource_version.as_deref(),
                held.has_older_copy,
            )
        })
        .collect();
    assert_eq!(words, [("a", Some("13"), true), ("b", Some("12"), false)]);
    assert!(!scene.lister.is_outdated(&w("b", "1").key()), "no copy");

    scene.event(unreadable_at(Some("b"), Some("14"), News::Deleted));
    assert_eq!(scene.lister.quarantined(), 1);
    scene.event(WatchEvent::Deleted(w("a", "15")));
    assert_eq!(scene.lister.quarantined(), 0);
}

#[test]
fn a_complete_list_settles_who_is_in_quarantine() {
    let mut scene = Scene::listed([w("a", "1")]);
    for name in ["b", "c"] {
        scene.event(unreadable(Some(name), News::Changed));
    }
    scene.begin();
    scene.event(WatchEvent::Listed(w("a", "1")));
    scene.event(unreadable(Some("c"), News::Listed));
    scene.event(unreadable(None, News::Listed));
    scene.done("20");
    assert_eq!(scene.lister.quarantined(), 2, "b may be what hid its key");
    scene.begin();
    scene.event(WatchEvent::Listed(w("a", "1")));
    scene.event(unreadable(Some("c"), News::Listed));
    scene.done("30");
    assert_eq!(scene.lister.quarantine()[0].key.name(), "c");
    assert_eq!(scene.lister.quarantined(), 1);
    scene.restored("5", [w("c", "3")]);
    assert_eq!(scene.lister.quarantined(), 0);
}

/// A version that is known says more than none.
#[test]
fn a_line_without_a_version_does_not_hide_the_one_before() {
    let mut scene = Scene::listed([w("a", "1")]);
    scene.event(unreadable_at(Some("a"), Some("12"), News::Changed));
    scene.event(unreadable(Some("a"), News::Changed));
    let held = scene.lister.quarantine();
    assert_eq!(held[0].resource_version.as_deref(), Some("12"));
}

/// A first list of such items alone leaves a cache that is empty, has synced, and quarantines
/// nothing.
#[test]
fn what_hides_even_its_key_is_told_until_a_list_hides_nothing() {
    type Hide = fn(&mut Scene);
    let hiding: [(&str, Hide); 4] = [
        ("a first list", |scene| {
            *scene = Scene::empty();
            scene.begin();
            scene.event(unreadable(None, News::Listed));
            scene.done("10");
            assert!(scene.writer.is_synced() && scene.lister.is_empty());
        }),
        ("a later list", |scene| {
            scene.begin();
            scene.event(WatchEvent::Listed(w("a", "1")));
            scene.event(unreadable(None, News::Listed));
            scene.done("20");
        }),
        ("a changed object", |scene| {
            scene.event(unreadable(None, News::Changed));
        }),
        ("a line of garbage", |scene| {
            scene.event(unreadable(None, News::Unknown));
        }),
    ];
    for (what, hide) in hiding {
        let mut scene = Scene::listed([w("a", "1")]);
        assert!(!scene.lister.hides_objects());
        hide(&mut scene);
        assert!(scene.lister.hides_objects(), "{what}");
        assert_eq!(scene.lister.quarantined(), 0, "{what}");
        // Half a list is none.
        scene.begin();
        scene.event(WatchEvent::Listed(w("a", "1")));
        assert!(scene.lister.hides_objects(), "{what}");
        scene.relist("30", [w("a", "1")]);
        assert!(!scene.lister.hides_objects(), "{what}");
        hide(&mut scene);
        scene.restored("5", [w("a", "3")]);
        assert!(!scene.lister.hides_objects(), "{what}");
    }
    let mut scene = Scene::listed([w("a", "1")]);
    scene.event(unreadable(None, News::Deleted));
    assert!(!scene.lister.hides_objects(), "what is gone is not hidden");
}
