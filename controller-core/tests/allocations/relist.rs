use controller_core::client::ObjectKey;
use controller_core::store::{CacheWriter, cache};
use controller_core::watch::{Object, WatchEvent};
use serde_json::json;

use crate::{MEMORY, NOISE, alone};

const OBJECTS: usize = 200;
/// Of each object, in its JSON and in the cache.
const BYTES: usize = 64 << 10;

/// A kind of which so much is kept that one copy too many is seen.
#[derive(serde::Deserialize)]
struct Page {
    name: String,
    version: String,
    text: String,
}

impl Object for Page {
    fn key(&self) -> ObjectKey {
        ObjectKey::namespaced("library", &self.name)
    }

    fn uid(&self) -> &str {
        &self.name
    }

    fn resource_version(&self) -> &str {
        &self.version
    }
}

fn page(number: usize, version: usize) -> String {
    let text = "x".repeat(BYTES);
    let name = format!("page-{number}");
    json!({"name": name, "version": version.to_string(), "text": text}).to_string()
}

fn started(writer: &mut CacheWriter<Page>) {
    writer.apply(WatchEvent::ListStarted { fresh: false });
}

fn listed(writer: &mut CacheWriter<Page>, page: &str) {
    writer.apply(WatchEvent::Listed(serde_json::from_str(page).unwrap()));
}

fn done(writer: &mut CacheWriter<Page>, version: &str) -> usize {
    let deltas = writer.apply(WatchEvent::ListDone {
        resource_version: version.to_owned(),
        restored: false,
    });
    deltas.len()
}

#[test]
fn a_relist_of_an_unchanged_cache_frees_each_item_before_the_next_and_keeps_nothing() {
    let _alone = alone();
    let pages: Vec<_> = (0..OBJECTS).map(|number| page(number, 1)).collect();
    let (mut writer, lister) = cache(Vec::new());
    started(&mut writer);
    for page in &pages {
        listed(&mut writer, page);
    }
    assert_eq!(done(&mut writer, "10"), OBJECTS);

    let before = MEMORY.current_usage();
    // What is known of the list so far: a key and a pointer for each object.
    let tables = OBJECTS * 128 + NOISE;
    started(&mut writer);
    for page in &pages {
        MEMORY.reset_peak_usage();
        listed(&mut writer, page);
        let (peak, after) = (MEMORY.peak_usage(), MEMORY.current_usage());
        assert!(after < before + tables, "{after} after, {before} before");
        assert!(peak < before + tables + 2 * BYTES, "{peak}, {before}");
    }
    MEMORY.reset_peak_usage();
    assert_eq!(done(&mut writer, "20"), 0);
    let (peak, after) = (MEMORY.peak_usage(), MEMORY.current_usage());
    assert!(peak < before + 2 * tables, "{peak}, {before}");
    assert!(after < before + NOISE, "{after} after, {before} before");
    assert_eq!(lister.len(), OBJECTS);
}

/// What has changed replaces its old copy; nobody keeps both.
#[test]
fn a_relist_of_changed_objects_lets_go_of_the_old_copies() {
    let _alone = alone();
    let (mut writer, lister) = cache(Vec::new());
    let mut after_list = Vec::new();
    for version in [1, 2, 3] {
        started(&mut writer);
        for number in 0..OBJECTS {
            listed(&mut writer, &page(number, version));
        }
        assert_eq!(done(&mut writer, &(10 * version).to_string()), OBJECTS);
        after_list.push(MEMORY.current_usage());
    }
    assert!(after_list[2] < after_list[0] + NOISE, "{after_list:?}");
    let page = &lister.snapshot()[0];
    assert_eq!((&*page.version, page.text.len()), ("3", BYTES));
}
