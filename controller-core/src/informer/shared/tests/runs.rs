//! Never run, run, stopped, run again.
use futures::future::BoxFuture;

use super::super::*;
use super::scene::{Heard, Scene, options, settle, w};
use crate::watch::State;
use crate::watch::testing::Widget;

/// SI-20, third variant: whoever never runs an informer leaves nothing behind, and whoever
/// waits for it is told.
#[tokio::test]
async fn an_informer_that_never_ran_leaves_nothing_behind() {
    let heard = Heard::default();
    let mut scene = Scene::idle(options());
    let registration = scene.informer.add_handler(heard.handler());
    scene.informer.add_handler(heard.handler());
    scene.list("10", [w("a", "1")]);
    settle().await;
    assert!(heard.now().is_empty());
    let inner = Arc::downgrade(&scene.informer.inner);
    drop(scene);
    assert!(inner.upgrade().is_none());
    assert!(!registration.synced().await);
    registration.remove().await;
    assert!(heard.is_over());
}

/// SI-20: a handler before the run, and one after it has begun.
#[tokio::test]
async fn a_stopped_informer_has_no_task_left() {
    let heard = Heard::default();
    let mut scene = Scene::idle(options());
    let before = scene.informer.add_handler(heard.handler());
    scene.start();
    settle().await;
    let after = scene.informer.add_handler(heard.handler());
    settle().await;
    assert_eq!(scene.handlers(), (2, 2));
    scene.stop().await;
    assert_eq!(scene.handlers(), (2, 0));
    assert!(!before.synced().await && !after.synced().await);
    drop((before, after, scene));
    assert!(heard.is_over());
}

/// No runtime is needed to add a handler, only to run.
#[test]
fn a_handler_is_added_without_a_runtime() {
    let informer = std::thread::spawn(|| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let scene = runtime.block_on(async { Scene::idle(options()) });
        scene.informer.clone()
    });
    let informer = informer.join().unwrap();
    let registration = informer.add_handler(Heard::default().handler());
    assert!(!registration.has_synced());
}

/// Whoever drops `run`, in a `select!` for example, leaves no task behind either.
#[tokio::test]
async fn an_informer_whose_run_is_dropped_ends_its_handlers_tasks() {
    let mut scene = Scene::idle(options());
    let heard = Heard::default();
    let registration = scene.informer.add_handler(heard.handler());
    {
        let mut run = std::pin::pin!(scene.informer.run(CancellationToken::new()));
        assert!(futures::poll!(&mut run).is_pending());
        settle().await;
        assert_eq!(scene.handlers(), (1, 1));
    }
    settle().await;
    assert_eq!(scene.handlers(), (1, 0));
    assert!(scene.informer.is_stopped());
    assert!(!registration.synced().await);
    scene.start();
    scene.list("10", [w("a", "1")]);
    assert_eq!(heard.all().await, ["initial a@1"]);
    scene.stop().await;
}

/// What it has not heard by then it hears in the next run: not one more call after the one
/// that is under way. Here that call itself drops the run.
#[tokio::test]
async fn a_handler_hears_nothing_more_of_a_run_that_is_dropped() {
    let scene = Scene::idle(options());
    let run: Arc<parking_lot::Mutex<Option<BoxFuture<'static, ()>>>> = Arc::default();
    let calls = watch::Sender::new(0);
    let (dropped, called) = (Arc::clone(&run), calls.clone());
    scene
        .informer
        .add_handler(
            crate::handler::HandlerFuncs::new().on_add(move |_: &Arc<Widget>, _| {
                called.send_modify(|calls| *calls += 1);
                drop(dropped.lock().take());
            }),
        );
    let informer = scene.informer.clone();
    let mut running: BoxFuture<'static, ()> = Box::pin(async move {
        informer.run(CancellationToken::new()).await;
    });
    assert!(futures::poll!(&mut running).is_pending());
    *run.lock() = Some(running);
    let mut scene = scene;
    scene.list("10", (0..50).map(|n| w(&format!("w{n}"), "1")));
    settle().await;
    assert_eq!(*calls.borrow(), 1);
    assert!(scene.informer.is_stopped());
    scene.start();
    settle().await;
    assert_eq!(*calls.borrow(), 50);
    scene.stop().await;
}

/// SI-15. In client-go "started" stays true and a stopped informer is done for.
#[tokio::test]
async fn an_informer_says_whether_it_runs() {
    let mut scene = Scene::idle(options());
    let flags = |scene: &Scene| (scene.informer.is_running(), scene.informer.is_stopped());
    assert_eq!(flags(&scene), (false, false));
    for _ in 0..2 {
        scene.start();
        settle().await;
        assert_eq!(flags(&scene), (true, false));
        assert!(!matches!(
            scene.informer.status().borrow().state,
            State::Stopped
        ));
        scene.stop().await;
        assert_eq!(flags(&scene), (false, true));
        assert!(matches!(
            scene.informer.status().borrow().state,
            State::Stopped
        ));
    }
}

#[tokio::test]
async fn a_second_run_at_the_same_time_returns_at_once() {
    let mut scene = Scene::new();
    settle().await;
    scene.informer.run(CancellationToken::new()).await;
    assert!(scene.informer.is_running());
    let heard = Heard::default();
    scene.informer.add_handler(heard.handler());
    scene.list("10", [w("a", "1")]);
    assert_eq!(heard.all().await, ["initial a@1"]);
    scene.stop().await;
}

/// BX-17: the second run goes on where the first one ended. What went meanwhile is told, and
/// nothing is told twice.
#[tokio::test]
async fn handlers_readers_and_indexes_survive_a_stop() {
    let mut scene = Scene::new();
    let heard = Heard::default();
    let registration = scene.informer.add_handler(heard.handler());
    let (lister, mut status) = (scene.informer.lister(), scene.informer.status());
    let by_size = |widget: &Widget| vec![widget.size().to_string()];
    scene.informer.add_index("size", by_size).unwrap();
    scene.list("10", [w("a", "1"), w("b", "2"), w("c", "3")]);
    assert!(registration.synced().await);
    assert_eq!(heard.all().await.len(), 3);
    scene.stop().await;
    assert!(registration.has_synced() && registration.synced().await);
    assert_eq!(lister.len(), 3);
    assert!(matches!(status.borrow_and_update().state, State::Stopped));

    scene.start();
    settle().await;
    assert!(status.has_changed().unwrap());
    // `a` went, `b` is as it was, `c` changed, `d` came.
    scene.list("20", [w("b", "2"), w("c", "13"), w("d", "14").with_size(7)]);
    let mut news = heard.all().await.split_off(3);
    news[1..].sort();
    assert_eq!(news, ["vanished a@1", "added d@14", "updated c@13"]);
    assert_eq!(lister.by_index("size", "7").unwrap().len(), 1);
    // An old copy, from a server that lags.
    scene.modify("c", "12");
    assert_eq!(heard.all().await.len(), 6);
    scene.stop().await;
}

/// What a handler had not heard when the informer stopped it hears in the next run.
#[tokio::test]
async fn what_was_unheard_at_a_stop_is_heard_after_it() {
    let mut scene = Scene::idle(options().buffer(2));
    let heard = Heard::default();
    let registration = scene.informer.add_handler(heard.handler());
    let (informer, shutdown) = (scene.informer.clone(), CancellationToken::new());
    let mut run = std::pin::pin!(informer.run(shutdown.clone()));
    assert!(futures::poll!(&mut run).is_pending());
    assert_eq!(scene.handlers(), (1, 1));
    scene.list("10", [w("a", "1"), w("b", "2"), w("c", "3")]);
    scene.modify("c", "11");
    shutdown.cancel();
    run.await;
    assert!(heard.now().is_empty());
    assert!(!registration.synced().await);
    assert_eq!(registration.pending(), 3);

    scene.start();
    settle().await;
    assert!(registration.has_synced());
    // Beyond the buffer the net change: c@3 was never seen.
    let mut all = heard.now();
    all.sort();
    assert_eq!(all, ["added c@11", "initial a@1", "initial b@2"]);
    scene.stop().await;
}

#[tokio::test]
async fn a_handler_that_joins_during_a_pause_hears_of_everything_after_it() {
    let mut scene = Scene::new();
    scene.list("10", [w("a", "1")]);
    scene.stop().await;
    let heard = Heard::default();
    let registration = scene.informer.add_handler(heard.handler());
    assert!(heard.all().await.is_empty());
    scene.start();
    settle().await;
    assert!(registration.has_synced());
    assert_eq!(heard.now(), ["initial a@1"]);
    scene.stop().await;
}

/// SI-25: a removal returns promptly, whether the informer was never started, was started
/// before, or was started after.
#[tokio::test]
async fn a_handler_can_be_removed_in_every_state() {
    let mut scene = Scene::idle(options());
    let heard = Heard::default();
    let handler = || scene.informer.add_handler(heard.handler());
    let never = handler();
    never.remove().await;
    let before = handler();
    let in_the_pause = handler();
    assert_eq!(scene.handlers(), (2, 0));
    scene.start();
    settle().await;
    before.remove().await;
    let after = scene.informer.add_handler(heard.handler());
    settle().await;
    after.remove().await;
    scene.stop().await;
    in_the_pause.remove().await;
    scene.start();
    scene.list("10", [w("a", "1")]);
    settle().await;
    assert_eq!(scene.handlers(), (0, 0));
    assert!(heard.now().is_empty() && heard.is_over());
    scene.stop().await;
}
