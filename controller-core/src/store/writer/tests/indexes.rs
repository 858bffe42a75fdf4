use k8s_openapi::api::core::v1::ConfigMap;

use super::scene::{name, w};
use crate::store::{IndexFunction, Lister, cache};
use crate::watch::WatchEvent;
use crate::watch::testing::Widget;

fn by_size() -> (&'static str, IndexFunction<Widget>) {
    (
        "size",
        Box::new(|widget: &Widget| {
            assert_ne!(widget.size(), 13, "an unlucky number");
            vec![widget.size().to_string()]
        }),
    )
}

/// ST-01, ST-02, SI-01.
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

/// B changes in a way that its function cannot stand.
#[test]
fn what_an_index_function_can_no_longer_compute_leaves_no_entry_behind() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let broken = Arc::new(AtomicBool::new(false));
    let breaks = Arc::clone(&broken);
    let by_size: IndexFunction<Widget> = Box::new(move |widget| {
        assert!(!breaks.load(Ordering::Relaxed), "broken");
        vec![widget.size().to_string()]
    });
    let (mut writer, lister) = cache(vec![("size", by_size)]);
    writer.apply(WatchEvent::Added(w("a", "1").with_size(1)));
    writer.apply(WatchEvent::Added(w("b", "2").with_size(1)));
    writer.apply(WatchEvent::Added(w("c", "3").with_size(3)));
    broken.store(true, Ordering::Relaxed);
    writer.apply(WatchEvent::Modified(w("a", "4").with_size(2)));
    writer.apply(WatchEvent::Deleted(w("c", "5").with_size(3)));
    broken.store(false, Ordering::Relaxed);
    let left = lister.by_index("size", "1").unwrap();
    assert_eq!(
        left.iter().map(|object| name(object)).collect::<Vec<_>>(),
        ["b@2"]
    );
    assert_eq!(lister.index_values("size").unwrap(), ["1"]);
    assert_eq!(lister.counts().index_failures(), 2);

    // It was left out, so that there is nothing to take out.
    writer.apply(WatchEvent::Modified(w("a", "6").with_size(1)));
    assert_eq!(lister.by_index("size", "1").unwrap().len(), 2);
    assert_eq!(lister.counts().index_failures(), 2);
}

/// A map whose annotation `users` names several, separated by commas.
fn shared(name: &str, version: u32, users: &str) -> ConfigMap {
    let metadata = serde_json::json!({
        "name": name, "namespace": "shop", "uid": name, "resourceVersion": version.to_string(),
        "annotations": {"users": users},
    });
    serde_json::from_value(serde_json::json!({"metadata": metadata})).unwrap()
}

fn by_user() -> (&'static str, IndexFunction<ConfigMap>) {
    let users = |map: &ConfigMap| {
        let users = map.metadata.annotations.as_ref().unwrap()["users"].split(',');
        let named = users.filter(|user| !user.is_empty());
        named.map(str::to_owned).collect()
    };
    ("user", Box::new(users))
}

/// The names under each value, such as `bert: one two; ernie: one`.
fn told(lister: &Lister<ConfigMap>) -> String {
    let mut values = lister.index_values("user").unwrap();
    values.sort();
    let lines = values.iter().map(|value| {
        let found = lister.by_index("user", value).unwrap();
        let mut names: Vec<_> = found
            .iter()
            .map(|map| map.metadata.name.clone().unwrap())
            .collect();
        names.sort();
        format!("{value}: {}", names.join(" "))
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// ST-03, ST-07, ST-11: an object is found under each of its values, and under no other.
#[test]
fn an_index_with_several_values_is_exact_at_every_step() {
    let (mut writer, lister) = cache(vec![by_user()]);
    let steps = [
        (
            WatchEvent::Added(shared("one", 1, "ernie,bert")),
            "bert: one; ernie: one",
        ),
        (
            WatchEvent::Added(shared("two", 2, "bert,oscar")),
            "bert: one two; ernie: one; oscar: two",
        ),
        (
            WatchEvent::Added(shared("tre", 3, "ernie,elmo")),
            "bert: one two; elmo: tre; ernie: one tre; oscar: two",
        ),
        (
            WatchEvent::Modified(shared("one", 4, "bert,bert")),
            "bert: one two; elmo: tre; ernie: tre; oscar: two",
        ),
        (
            WatchEvent::Modified(shared("two", 5, "")),
            "bert: one; elmo: tre; ernie: tre",
        ),
        (
            WatchEvent::Deleted(shared("tre", 6, "ernie,elmo")),
            "bert: one",
        ),
        (
            WatchEvent::Modified(shared("two", 7, "elmo")),
            "bert: one; elmo: two",
        ),
        (WatchEvent::Deleted(shared("one", 8, "bert")), "elmo: two"),
    ];
    for (event, expected) in steps {
        writer.apply(event);
        assert_eq!(told(&lister), expected);
    }
}

/// ST-10.
#[test]
fn the_values_of_an_index_come_once_each() {
    let (mut writer, lister) = cache(vec![by_user()]);
    for (version, (name, user)) in (1..).zip([("a", "one"), ("b", "one"), ("c", "two")]) {
        writer.apply(WatchEvent::Added(shared(name, version, user)));
    }
    let mut values = lister.index_values("user").unwrap();
    values.sort();
    assert_eq!(values, ["one", "two"]);
}
