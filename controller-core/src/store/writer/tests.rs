use super::*;
use crate::watch::testing::Widget;

struct Scene {
    writer: CacheWriter<Widget>,
    lister: Lister<Widget>,
}

impl Scene {
    /// A cache that listed these at version 10.
    fn listed(objects: impl IntoIterator<Item = Widget>) -> Self {
        let (writer, lister) = cache(Vec::new());
        let mut scene = Self { writer, lister };
        scene.relist("10", objects);
        scene
    }

    fn relist(&mut self, version: &str, objects: impl IntoIterator<Item = Widget>) -> Vec<String> {
        self.begin();
        for object in objects {
            self.writer.apply(WatchEvent::Listed(object));
        }
        self.done(version)
    }

    fn begin(&mut self) {
        self.writer.apply(WatchEvent::ListStarted { fresh: false });
    }

    fn done(&mut self, version: &str) -> Vec<String> {
        self.end(version, false)
    }

    /// A list without a version, answered by a server whose history is another one.
    fn restored(
        &mut self,
        version: &str,
        objects: impl IntoIterator<Item = Widget>,
    ) -> Vec<String> {
        self.writer.apply(WatchEvent::ListStarted { fresh: true });
        for object in objects {
            self.writer.apply(WatchEvent::Listed(object));
        }
        self.end(version, true)
    }

    fn end(&mut self, version: &str, restored: bool) -> Vec<String> {
        self.event(WatchEvent::ListDone {
            resource_version: version.to_owned(),
            restored,
        })
    }

    /// What handlers see, as words.
    fn event(&mut self, event: WatchEvent<Widget>) -> Vec<String> {
        let deltas = self.writer.apply(event);
        deltas.iter().map(words).collect()
    }

    fn versions(&self) -> Vec<String> {
        let mut all: Vec<_> = self
            .lister
            .list()
            .iter()
            .map(|object| name(object))
            .collect();
        all.sort();
        all
    }
}

fn name(object: &Widget) -> String {
    format!("{}@{}", object.key().name(), object.resource_version())
}

fn words(delta: &Delta<Widget>) -> String {
    match delta {
        Delta::Added { new, initial: true } => format!("initial {}", name(new)),
        Delta::Added { new, .. } => format!("added {}", name(new)),
        Delta::Updated { old, new } => format!("updated {} to {}", name(old), name(new)),
        Delta::Resynced { object } => format!("resynced {}", name(object)),
        Delta::Deleted(Deleted::Observed(object)) => format!("deleted {}", name(object)),
        Delta::Deleted(Deleted::FinalStateUnknown(tombstone)) => {
            format!("tombstone {}", name(&tombstone.last_known))
        }
    }
}

fn w(name: &str, version: &str) -> Widget {
    Widget::new(name, version)
}

fn unreadable(key: Option<&str>, during: News) -> WatchEvent<Widget> {
    unreadable_at(key, None, during)
}

fn unreadable_at(key: Option<&str>, version: Option<&str>, during: News) -> WatchEvent<Widget> {
    WatchEvent::Unreadable(Unreadable {
        key: key.map(|name| ObjectKey::namespaced("shop", name)),
        resource_version: version.map(str::to_owned),
        during,
        error: "data error".to_owned(),
    })
}

/// CT-12, CT-13: only what the first list brings is initial.
#[test]
fn the_first_list_adds_everything_as_initial() {
    let (writer, lister) = cache(Vec::new());
    let mut scene = Scene { writer, lister };
    assert_eq!(
        scene.relist("10", [w("a", "1"), w("b", "2")]),
        ["initial a@1", "initial b@2"]
    );
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
    assert_eq!(scene.versions(), ["pod1@14", "pod2@15", "pod4@16"]);
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

#[test]
fn the_end_of_another_object_of_the_name_is_the_end_of_ours_too() {
    let mut scene = Scene::listed([w("a", "1")]);
    assert_eq!(
        scene.event(WatchEvent::Deleted(w("a", "15").with_uid("other"))),
        ["tombstone a@1"]
    );
    assert!(scene.versions().is_empty());
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

fn by_size() -> (&'static str, IndexFunction<Widget>) {
    (
        "size",
        Box::new(|widget: &Widget| {
            assert_ne!(widget.size(), 13, "an unlucky number");
            vec![widget.size().to_string()]
        }),
    )
}

/// ST-01, ST-02, ST-03, SI-01.
#[test]
fn an_index_follows_adds_updates_and_deletes_and_keeps_no_empty_value() {
    let (mut writer, lister) = cache(vec![by_size()]);
    let names = |value: &str| {
        let found = lister.by_index("size", value).unwrap();
        let mut found: Vec<_> = found.iter().map(|object| name(object)).collect();
        found.sort();
        found
    };
    writer.apply(WatchEvent::Added(w("a", "1").with_size(1)));
    writer.apply(WatchEvent::Added(w("b", "2").with_size(1)));
    assert_eq!(names("1"), ["a@1", "b@2"]);
    writer.apply(WatchEvent::Modified(w("a", "3").with_size(2)));
    assert_eq!(
        (names("1"), names("2")),
        (vec!["b@2".to_owned()], vec!["a@3".to_owned()])
    );
    writer.apply(WatchEvent::Modified(w("b", "4").with_size(1)));
    assert_eq!(names("1"), ["b@4"]);
    writer.apply(WatchEvent::Deleted(w("b", "5").with_size(1)));
    assert_eq!(lister.index_values("size").unwrap(), ["2"]);
    assert_eq!(
        lister
            .by_index(crate::store::NAMESPACE_INDEX, "shop")
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        lister.by_index("nope", "1").unwrap_err().to_string(),
        "index with name nope does not exist"
    );
}

/// BX-15.
#[test]
fn a_panicking_index_function_costs_only_its_entry() {
    let (mut writer, lister) = cache(vec![by_size()]);
    writer.apply(WatchEvent::Added(w("a", "1").with_size(13)));
    assert_eq!(lister.len(), 1);
    assert_eq!(lister.counts().index_failures(), 1);
    writer.apply(WatchEvent::Modified(w("a", "2").with_size(3)));
    assert_eq!(lister.by_index("size", "3").unwrap().len(), 1);
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
