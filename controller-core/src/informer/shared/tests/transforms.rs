//! What is done to objects before they are cached.
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::*;
use super::scene::{Heard, Scene, options, settle, w};
use crate::handler::HandlerFuncs;
use crate::informer::TransformError;
use crate::store::Deleted;
use crate::watch::WatchEvent;
use crate::watch::testing::Widget;

/// Makes each widget greater by one, and counts how often.
fn counting(calls: &Arc<AtomicUsize>) -> impl Fn(Widget) -> Result<Widget, TransformError> + use<> {
    let calls = Arc::clone(calls);
    move |widget: Widget| {
        calls.fetch_add(1, Ordering::Relaxed);
        let size = widget.size();
        Ok(widget.with_size(size + 1))
    }
}

/// SI-09. Names cannot be changed here: an object is filed under its name.
#[tokio::test]
async fn cache_and_handlers_see_what_the_transform_made() {
    let calls = Arc::default();
    let mut scene = Scene::with(options().transform(counting(&calls)));
    let sizes = Heard::default();
    let seen = sizes.clone();
    let handler = HandlerFuncs::new().on_add(move |new: &Arc<Widget>, _| {
        seen.say(format!("{} {}", new.key().name(), new.size()));
    });
    scene.informer.add_handler(handler);
    scene.list("10", [w("a", "1").with_size(7), w("b", "2").with_size(8)]);
    assert_eq!(sizes.all().await, ["a 8", "b 9"]);
    let cached: i64 = scene
        .informer
        .lister()
        .list()
        .iter()
        .map(|it| it.size())
        .sum();
    assert_eq!(cached, 17);
    scene.stop().await;
}

/// RF-34, FF-10, CT-05: once for each object that was decoded, never for one that is
/// delivered again.
#[tokio::test(start_paused = true)]
async fn a_transform_is_called_once_for_each_object_that_arrived() {
    let calls = Arc::<AtomicUsize>::default();
    let mut scene = Scene::with(options().transform(counting(&calls)));
    let sizes = Heard::default();
    let gone = sizes.clone();
    let handler = HandlerFuncs::new().on_delete(move |deleted: &Deleted<Widget>| {
        let last = deleted.last_known();
        gone.say(format!("{} {}", last.key().name(), last.size()));
    });
    let second = Duration::from_secs(1);
    scene.informer.add_handler_with_resync(handler, second);
    scene.list("10", [w("a", "1"), w("b", "2")]);
    scene.add("c", "11");
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    for _ in 0..5 {
        tokio::time::advance(second).await;
        settle().await;
    }
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    // The tombstone of `a` is the copy that was transformed when it came.
    scene.list("20", [w("b", "2")]);
    assert_eq!(sizes.all().await.len(), 2);
    assert!(sizes.now().contains(&"a 1".to_owned()), "{:?}", sizes.now());
    assert_eq!(calls.load(Ordering::Relaxed), 4);
    scene.stop().await;
}

/// Neither lost in silence, as in client-go, nor taken for deleted.
#[tokio::test]
async fn what_cannot_be_transformed_is_quarantined() {
    let no_thirteen = |widget: Widget| {
        if widget.size() == 13 {
            return Err(TransformError::new("thirteen"));
        }
        Ok(widget)
    };
    let mut scene = Scene::with(options().transform(no_thirteen));
    let heard = Heard::default();
    scene.informer.add_handler(heard.handler());
    scene.list("10", [w("a", "1"), w("b", "2")]);
    scene.tell(WatchEvent::Modified(w("a", "11").with_size(13)));
    let lister = scene.informer.lister();
    let copy = lister.get(&w("a", "0").key()).unwrap();
    assert_eq!(copy.resource_version(), "1");
    assert_eq!(lister.quarantined(), 1);
    scene.modify("a", "12");
    assert_eq!(lister.quarantined(), 0);
    // The end of an object is news enough without its last state.
    scene.tell(WatchEvent::Deleted(w("b", "13").with_size(13)));
    assert_eq!(
        heard.all().await,
        ["initial a@1", "initial b@2", "updated a@12", "vanished b@2"]
    );
    scene.stop().await;
}
