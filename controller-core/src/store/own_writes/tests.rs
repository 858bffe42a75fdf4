use super::*;
use crate::store::{CacheWriter, cache};
use crate::watch::testing::Widget;
use crate::watch::{News, Unreadable, WatchEvent};

const PATIENCE: Duration = Duration::from_secs(30);

struct Scene {
    writer: CacheWriter<Widget>,
    lister: Lister<Widget>,
    writes: OwnWrites<Widget>,
}

impl Scene {
    /// A cache that listed `a` at version 1, the whole at this one.
    fn listed(version: &str) -> Self {
        let (writer, lister) = cache(Vec::new());
        let writes = OwnWrites::new(lister.clone(), PATIENCE);
        let mut scene = Self {
            writer,
            lister,
            writes,
        };
        scene.list(version, false);
        scene
    }

    fn list(&mut self, version: &str, restored: bool) {
        let fresh = restored;
        self.writer.apply(WatchEvent::ListStarted { fresh });
        self.writer.apply(WatchEvent::Listed(Widget::new("a", "1")));
        self.writer.apply(WatchEvent::ListDone {
            resource_version: version.to_owned(),
            restored,
        });
    }

    fn bookmark(&mut self, version: &str) {
        self.writer.apply(WatchEvent::Bookmark {
            resource_version: version.to_owned(),
        });
    }
}

fn a() -> ObjectKey {
    Widget::new("a", "1").key()
}

/// SI-38, BX-27: a write at 12 against a cache at 11, 12 and 13.
#[tokio::test]
async fn a_cache_is_behind_until_it_shows_the_write() {
    for (version, state) in [
        ("11", CaughtUp::Behind),
        ("12", CaughtUp::Yes),
        ("13", CaughtUp::Yes),
    ] {
        let mut scene = Scene::listed("10");
        scene.writes.record(&a(), "12");
        assert_eq!(scene.writes.check(&a()), CaughtUp::Behind);
        scene
            .writer
            .apply(WatchEvent::Modified(Widget::new("a", version)));
        assert_eq!(scene.writes.check(&a()), state, "{version}");
        assert_eq!(scene.writes.is_empty(), state == CaughtUp::Yes);
        assert_eq!(scene.lister.caught_up("12"), state, "{version}");
    }
}

/// SI-40: the answer to a write that comes after the watch told of its end, or of another
/// object under its name, is old.
#[tokio::test]
async fn a_write_that_is_told_of_late_is_not_waited_for() {
    let mut scene = Scene::listed("10");
    scene
        .writer
        .apply(WatchEvent::Deleted(Widget::new("a", "13")));
    scene.writes.record(&a(), "12");
    assert!(scene.writes.is_empty());

    let recreated = Widget::new("a", "15").with_uid("other");
    scene.writer.apply(WatchEvent::Added(recreated));
    scene.writes.record(&a(), "14");
    assert_eq!(scene.writes.check(&a()), CaughtUp::Yes);
    assert!(scene.lister.get(&a()).is_some());
}

/// An object that goes takes the wait for it along.
#[tokio::test]
async fn a_deletion_after_the_write_ends_the_wait() {
    let mut scene = Scene::listed("10");
    scene.writes.record(&a(), "12");
    scene
        .writer
        .apply(WatchEvent::Deleted(Widget::new("a", "14")));
    assert_eq!(scene.writes.check(&a()), CaughtUp::Yes);
}

/// BX-27: what cannot be compared, and what takes too long, stops nobody.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_told_fails_open() {
    let scene = Scene::listed("10");
    scene.writes.record(&a(), "opaque");
    assert!(scene.writes.is_empty());
    assert_eq!(scene.lister.caught_up("opaque"), CaughtUp::Unknown);

    let mut opaque = Scene::listed("x10");
    assert_eq!(opaque.lister.caught_up("x10"), CaughtUp::Yes);
    assert_eq!(opaque.lister.caught_up("12"), CaughtUp::Unknown);
    opaque.bookmark("x11");
    assert_eq!(opaque.lister.caught_up("x10"), CaughtUp::Unknown);

    scene.writes.record(&a(), "12");
    tokio::time::advance(PATIENCE - Duration::from_millis(1)).await;
    assert_eq!(scene.writes.check(&a()), CaughtUp::Behind);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(scene.writes.check(&a()), CaughtUp::Unknown);
    assert_eq!(scene.writes.check(&a()), CaughtUp::Yes, "it is forgotten");
}

/// The number that was waited for may never come in the new history.
#[tokio::test]
async fn a_restored_server_ends_every_wait() {
    let mut scene = Scene::listed("100");
    scene.writes.record(&a(), "101");
    let (lister, writes) = (scene.lister.clone(), &scene.writes);
    let key = a();
    let restored = async {
        assert_eq!(writes.check(&key), CaughtUp::Behind);
        scene.writer.apply(WatchEvent::ListStarted { fresh: true });
        scene.writer.apply(WatchEvent::ListDone {
            resource_version: "5".to_owned(),
            restored: true,
        });
    };
    let (version, write, ()) = tokio::join!(
        lister.wait_for_version("101", PATIENCE),
        writes.caught_up(&key, PATIENCE),
        restored,
    );
    assert_eq!((version, write), (CaughtUp::Unknown, CaughtUp::Unknown));
    assert_eq!(lister.caught_up("6"), CaughtUp::Behind);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_version_or_with_its_time() {
    let mut scene = Scene::listed("10");
    let lister = scene.lister.clone();
    let started = Instant::now();
    let (waited, ()) = tokio::join!(lister.wait_for_version("12", PATIENCE), async {
        scene.bookmark("11");
        tokio::time::sleep(Duration::from_secs(1)).await;
        scene.bookmark("12");
    });
    assert_eq!(waited, CaughtUp::Yes);
    assert_eq!(started.elapsed(), Duration::from_secs(1));

    let within = Duration::from_secs(5);
    let waited = lister.wait_for_version("13", within).await;
    assert_eq!(waited, CaughtUp::Behind);
    assert_eq!(started.elapsed(), Duration::from_secs(6));
}

#[test]
fn before_the_first_list_a_cache_is_behind_every_version() {
    let (_writer, lister) = cache::<Widget>(Vec::new());
    assert_eq!(lister.resource_version(), None);
    assert_eq!(lister.caught_up("1"), CaughtUp::Behind);
    assert_eq!(lister.caught_up("x1"), CaughtUp::Unknown);
}

/// Two writers of one key may tell of their writes in the wrong order.
#[tokio::test]
async fn the_later_of_two_writes_is_waited_for() {
    let mut scene = Scene::listed("10");
    scene.writes.record(&a(), "13");
    scene.writes.record(&a(), "12");
    scene.bookmark("12");
    assert_eq!(scene.writes.check(&a()), CaughtUp::Behind);
    scene.bookmark("13");
    assert_eq!(scene.writes.check(&a()), CaughtUp::Yes);
}

/// A controller that never looks again must not pay for it.
#[tokio::test(start_paused = true)]
async fn what_nobody_checks_is_forgotten() {
    let scene = Scene::listed("10");
    let mut most = 0;
    for index in 0..10_000 {
        let key = ObjectKey::namespaced("shop", format!("w{index}"));
        scene.writes.record(&key, "99");
        tokio::time::advance(PATIENCE / 100).await;
        most = most.max(scene.writes.len());
    }
    assert!(most <= 2 * 100 + Records::FEW, "{most}");
}

/// The cache has come to the version of the write, but the copy in it is the one before: to go
/// on as if it showed the write would be to decide from the old state.
#[tokio::test]
async fn a_write_that_came_back_unreadable_is_not_taken_for_seen() {
    let unreadable = |key: Option<ObjectKey>, version: &str| {
        WatchEvent::Unreadable(Unreadable {
            key,
            resource_version: Some(version.to_owned()),
            during: News::Changed,
            error: "data error".to_owned(),
        })
    };
    let other = || Widget::new("b", "1").key();
    // `b` was never readable; the answer to a write may be told before and after the watch.
    for key in [a(), other()] {
        for told_first in [true, false] {
            let mut scene = Scene::listed("10");
            if told_first {
                scene.writes.record(&key, "12");
                assert_eq!(scene.writes.check(&key), CaughtUp::Behind);
            }
            scene.writer.apply(unreadable(Some(key.clone()), "12"));
            scene.writes.record(&key, "12");
            for _ in 0..2 {
                assert_eq!(scene.writes.check(&key), CaughtUp::Unknown, "{key}");
            }
            let waited = scene.writes.caught_up(&key, PATIENCE).await;
            assert_eq!(waited, CaughtUp::Unknown);
            let readable = Widget::new(key.name(), "13");
            scene.writer.apply(WatchEvent::Modified(readable));
            assert_eq!(scene.writes.check(&key), CaughtUp::Yes);
        }
    }
    // A list that hid one of its objects did not bring `a`.
    let mut scene = Scene::listed("10");
    scene.writes.record(&a(), "12");
    scene.writer.apply(WatchEvent::ListStarted { fresh: false });
    scene.writer.apply(unreadable(None, "12"));
    scene.writer.apply(WatchEvent::ListDone {
        resource_version: "15".to_owned(),
        restored: false,
    });
    assert_eq!(scene.writes.check(&a()), CaughtUp::Unknown);
    // Another object is none of this one's business, and its end ends the doubt.
    assert_eq!(scene.writes.check(&other()), CaughtUp::Yes);
    scene
        .writer
        .apply(WatchEvent::Deleted(Widget::new("a", "16")));
    assert_eq!(scene.writes.check(&a()), CaughtUp::Yes);
}

/// As long as it takes.
#[tokio::test(start_paused = true)]
async fn a_patience_without_end_is_one() {
    let scene = Scene::listed("10");
    let writes = OwnWrites::new(scene.lister.clone(), Duration::MAX);
    writes.record(&a(), "12");
    tokio::time::advance(Duration::from_secs(1_000_000)).await;
    assert_eq!(writes.check(&a()), CaughtUp::Behind);
}
