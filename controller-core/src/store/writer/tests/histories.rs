//! A server that was restored from a backup, and what only looks like one.
use super::scene::{Scene, unreadable, unreadable_at, w};
use crate::store::CaughtUp;
use crate::watch::{News, Object, WatchEvent};

/// What of a list with these objects, at 1000, a cache at 100 hears that has `a` at 50 and `b`
/// at 20; and how many restores it counts.
fn heard(list: impl IntoIterator<Item = crate::watch::testing::Widget>) -> (Vec<String>, u64) {
    let mut scene = Scene::empty();
    scene.relist("100", [w("a", "50"), w("b", "20")]);
    let told = scene.relist("1000", list);
    (told, scene.lister.counts().restored())
}

/// A backup that was restored with a raised revision: what was changed after the backup is
/// back in its older state, under a version of the list that is higher than ever.
#[test]
fn an_older_object_in_a_newer_list_is_a_restored_servers() {
    let mut scene = Scene::empty();
    scene.relist("100", [w("a", "50"), w("b", "20"), w("c", "60")]);
    let before = scene.lister.get(&w("b", "20").key()).unwrap();
    let told = scene.relist("1000", [w("a", "40"), w("b", "20"), w("d", "30")]);
    assert_eq!(
        told,
        ["tombstone c@60", "updated a@50 to a@40", "added d@30"]
    );
    assert_eq!(scene.versions(), ["a@40", "b@20", "d@30"]);
    let after = scene.lister.get(&w("b", "20").key()).unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &after));
    assert_eq!(scene.version(), "1000");
    let counts = scene.lister.counts();
    assert_eq!((counts.restored(), counts.stale()), (1, 0));

    // From now on this is the history.
    let told = scene.event(WatchEvent::Modified(w("a", "1001")));
    assert_eq!(told, ["updated a@40 to a@1001"]);
    assert!(
        scene
            .relist("1002", [w("a", "1001"), w("b", "20"), w("d", "30")])
            .is_empty()
    );
    assert_eq!(scene.lister.counts().restored(), 1);
}

/// The object of before the backup had another uid; an object that came and went after it, too.
#[test]
fn an_older_object_of_another_uid_is_one_too() {
    let (told, restored) = heard([w("a", "10").with_uid("first"), w("b", "20")]);
    assert_eq!(told, ["tombstone a@50", "added a@10"]);
    assert_eq!(restored, 1);
}

/// However the object comes: it may not even be readable.
#[test]
fn an_older_object_that_cannot_be_read_is_one_too() {
    let mut scene = Scene::empty();
    scene.relist("100", [w("a", "50")]);
    scene.begin();
    scene.event(unreadable_at(Some("a"), Some("40"), News::Listed));
    assert!(scene.done("1000").is_empty());
    assert_eq!(scene.lister.counts().restored(), 1);
    assert_eq!(scene.versions(), ["a@50"]);
    // The copy that is left is of the other history.
    assert_eq!(
        scene.relist("1001", [w("a", "45")]),
        ["updated a@50 to a@45"]
    );
    assert_eq!(scene.lister.counts().restored(), 1);
}

/// What could not be read was seen at its version all the same.
#[test]
fn an_object_older_than_what_could_not_be_read_is_one_too() {
    let mut scene = Scene::empty();
    scene.relist("100", [w("a", "50")]);
    scene.event(unreadable_at(Some("a"), Some("101"), News::Changed));
    scene.event(unreadable_at(Some("b"), Some("102"), News::Changed));
    let told = scene.relist("1000", [w("a", "50"), w("b", "30")]);
    assert_eq!(told, ["added b@30"]);
    assert_eq!(scene.lister.counts().restored(), 1);
    assert_eq!(scene.lister.quarantined(), 0);
}

#[test]
fn a_write_of_the_other_history_is_not_waited_for() {
    let mut scene = Scene::empty();
    scene.relist("100", [w("a", "50")]);
    let (state, history) = scene.lister.where_is("101");
    assert_eq!(state, CaughtUp::Behind);
    scene.relist("1000", [w("a", "40")]);
    let state = scene.lister.caught_up_since("101", history);
    assert_eq!(state, CaughtUp::Unknown);
}

/// Within one history: a list that is older itself, one whose age cannot be told, and one that
/// brings an object twice.
#[test]
fn an_older_object_proves_nothing_where_something_else_explains_it() {
    let nothing = |mut scene: Scene, told: Vec<String>| {
        assert!(told.is_empty(), "{told:?}");
        assert_eq!(scene.lister.counts().restored(), 0);
        assert_eq!(scene.event(WatchEvent::Modified(w("a", "2000"))).len(), 1);
    };
    for version in ["99", "x100"] {
        let mut scene = Scene::empty();
        scene.relist("100", [w("a", "50")]);
        let told = scene.relist(version, [w("a", "40")]);
        nothing(scene, told);
    }
    for list in [["40", "50"], ["50", "40"]] {
        let mut scene = Scene::empty();
        scene.relist("100", [w("a", "50")]);
        let told = scene.relist("1000", list.map(|version| w("a", version)));
        nothing(scene, told);
    }
    // Older when it came, and then it went.
    let mut scene = Scene::empty();
    scene.relist("100", [w("b", "20")]);
    scene.begin();
    scene.event(WatchEvent::Listed(w("b", "20")));
    scene.event(WatchEvent::Listed(w("a", "40")));
    scene.event(WatchEvent::Deleted(w("a", "1000")));
    let told = scene.done("1000");
    nothing(scene, told);
}

/// Of two objects one has an opaque version: it is taken for news, and proves nothing.
#[test]
fn an_opaque_version_of_an_object_proves_nothing() {
    let (told, restored) = heard([w("a", "x1"), w("b", "20")]);
    assert_eq!(told, ["updated a@50 to a@x1"]);
    assert_eq!(restored, 0);
}

/// The last known copy of an object that the new history cannot show stays, but no version of
/// it holds against what comes.
#[test]
fn a_copy_that_outlived_its_history_is_replaced_by_any_other() {
    let hidden = [
        unreadable_at(Some("a"), Some("3"), News::Listed),
        unreadable(None, News::Listed),
    ];
    for hidden in hidden {
        let mut scene = Scene::empty();
        scene.relist("100", [w("a", "50").with_size(1)]);
        scene.writer.apply(WatchEvent::ListStarted { fresh: true });
        scene.event(hidden);
        assert!(scene.end("5", true).is_empty());
        let line = WatchEvent::Modified(w("a", "7").with_size(2));
        assert_eq!(scene.event(line), ["updated a@50 to a@7"]);
        assert_eq!(scene.lister.quarantined(), 0);
        // From then on its versions compare.
        let line = WatchEvent::Modified(w("a", "7").with_size(3));
        assert!(scene.event(line).is_empty());
    }
    // The same version may be another state, in a list too.
    let mut scene = Scene::empty();
    scene.relist("100", [w("a", "50").with_size(1)]);
    scene.writer.apply(WatchEvent::ListStarted { fresh: true });
    scene.event(unreadable_at(Some("a"), Some("3"), News::Listed));
    scene.end("5", true);
    let told = scene.relist("60", [w("a", "50").with_size(2)]);
    assert_eq!(told, ["updated a@50 to a@50"]);
    let kept = scene.lister.get(&w("a", "50").key()).unwrap();
    assert_eq!(kept.size(), 2);
    assert_eq!(scene.lister.counts().restored(), 1);
}

/// A server whose lists are not of one moment brought `a` as it was later.
#[test]
fn a_copy_from_beyond_its_list_proves_nothing() {
    let mut scene = Scene::empty();
    scene.relist("100", [w("a", "120")]);
    assert!(scene.relist("110", [w("a", "105")]).is_empty());
    assert_eq!(scene.lister.counts().restored(), 0);
    assert_eq!(scene.versions(), ["a@120"]);
}

/// Of an item that cannot be read and comes twice the newer copy counts, as of any other.
#[test]
fn an_unreadable_item_that_comes_twice_proves_nothing() {
    for copies in [
        [Some("60"), Some("40")],
        [Some("40"), Some("60")],
        [Some("60"), None],
        [None, Some("60")],
    ] {
        let mut scene = Scene::empty();
        scene.relist("100", [w("a", "50")]);
        scene.begin();
        for version in copies {
            scene.event(unreadable_at(Some("a"), version, News::Listed));
        }
        assert!(scene.done("110").is_empty());
        assert_eq!(scene.lister.counts().restored(), 0, "{copies:?}");
        let held = scene.lister.quarantine();
        assert_eq!(
            held[0].resource_version.as_deref(),
            Some("60"),
            "{copies:?}"
        );
    }
}
