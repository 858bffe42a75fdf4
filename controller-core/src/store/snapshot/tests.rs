use super::*;
use crate::store::cache;
use crate::watch::WatchEvent;
use crate::watch::testing::Widget;

fn added(name: &str, version: &str) -> WatchEvent<Widget> {
    WatchEvent::Added(Widget::new(name, version))
}

#[test]
fn snapshots_of_an_unchanged_cache_are_one_list() {
    let (mut writer, lister) = cache(Vec::new());
    writer.apply(added("a", "1"));
    let first = lister.snapshot();
    writer.apply(added("a", "1"));
    writer.apply(WatchEvent::Bookmark {
        resource_version: "5".to_owned(),
    });
    let second = lister.snapshot();
    assert!(Arc::ptr_eq(&first.objects, &second.objects));
    assert_eq!(
        (first.resource_version(), second.resource_version()),
        (Some("1"), Some("5"))
    );
}

#[test]
fn a_snapshot_stays_as_it_was() {
    let (mut writer, lister) = cache(Vec::new());
    assert_eq!(lister.snapshot().resource_version(), None);
    writer.apply(added("a", "1"));
    let then = lister.snapshot();
    writer.apply(WatchEvent::Modified(Widget::new("a", "2")));
    writer.apply(added("b", "3"));
    assert_eq!(then.len(), 1);
    assert_eq!(then[0].resource_version(), "1");
    let now = lister.snapshot();
    assert_eq!((now.len(), now.resource_version()), (2, Some("3")));
    let everything = SelectorOf::everything();
    assert_eq!(now.select(Some("shop"), &everything).count(), 2);
    assert_eq!(now.select(Some("other"), &everything).count(), 0);
}

/// The cache keeps its last snapshot, but no object for its sake.
#[test]
fn a_change_lets_go_of_the_last_snapshot() {
    let (mut writer, lister) = cache(Vec::new());
    writer.apply(added("a", "1"));
    let gone = Arc::downgrade(&lister.snapshot()[0]);
    writer.apply(WatchEvent::Modified(Widget::new("a", "2")));
    assert!(gone.upgrade().is_none());
}
