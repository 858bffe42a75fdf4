use serde::Deserialize;

use super::*;
use crate::client::ObjectKey;
use crate::store::{Lister, cache};
use crate::watch::{KeptLabels, WatchEvent};

/// Keeps one of its labels, as a projection does.
#[derive(Deserialize)]
struct Lamp {
    namespace: String,
    name: String,
    version: String,
    room: Option<String>,
}

impl Object for Lamp {
    const LABELS: KeptLabels = KeptLabels::Only(&["room"]);

    fn key(&self) -> ObjectKey {
        ObjectKey::namespaced(&self.namespace, &self.name)
    }

    fn uid(&self) -> &str {
        &self.name
    }

    fn resource_version(&self) -> &str {
        &self.version
    }

    fn label(&self, key: &str) -> Option<&str> {
        (key == "room").then_some(self.room.as_deref()).flatten()
    }
}

fn lamps() -> Lister<Lamp> {
    let (mut writer, lister) = cache(Vec::new());
    let rows = [
        ("east", "a", Some("hall")),
        ("east", "b", Some("attic")),
        ("west", "c", Some("hall")),
        ("west", "d", None),
    ];
    for (index, (namespace, name, room)) in rows.into_iter().enumerate() {
        writer.apply(WatchEvent::Added(Lamp {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            version: (index + 1).to_string(),
            room: room.map(str::to_owned),
        }));
    }
    lister
}

fn selected(namespace: Option<&str>, selector: &str) -> String {
    let selector = SelectorOf::new(selector.parse().unwrap()).unwrap();
    let found = lamps().select(namespace, &selector);
    let mut names: Vec<_> = found.iter().map(|lamp| lamp.name.as_str()).collect();
    names.sort_unstable();
    names.concat()
}

#[test]
fn a_selector_reads_within_a_namespace_or_everywhere() {
    assert_eq!(selected(None, "room=hall"), "ac");
    assert_eq!(selected(Some("west"), "room=hall"), "c");
    assert_eq!(selected(Some("west"), "!room"), "d");
    assert_eq!(selected(None, "room!=hall"), "bd");
    assert_eq!(selected(None, "room in (attic, cellar)"), "b");
    assert_eq!(selected(Some("west"), ""), "cd");
    assert_eq!(selected(Some("north"), ""), "");
    let everything = SelectorOf::everything();
    assert_eq!(lamps().select(None, &everything).len(), 4);
}

#[test]
fn a_label_that_is_not_kept_cannot_be_asked_for() {
    for selector in ["floor=1", "!floor", "room=hall,floor notin (1)"] {
        let error = SelectorOf::<Lamp>::new(selector.parse().unwrap()).unwrap_err();
        assert_eq!(error.label, "floor", "{selector}");
    }
    let error = LabelNotKept::check::<Lamp>("floor").unwrap_err();
    insta::assert_snapshot!(
        error,
        @"label floor is not kept by controller_core::store::select::tests::Lamp"
    );
}
