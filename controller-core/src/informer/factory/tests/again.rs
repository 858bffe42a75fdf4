//! Run, dropped, stopped, and run again.
use std::sync::mpsc;

use futures::poll;

use super::*;
use crate::informer::TransformError;

/// One widget, at once. Counts the lists.
fn quick_client(lists: &watch::Sender<u32>) -> kube::Client {
    client_without(lists, &[])
}

/// The same, but some lists, counted from 1, never come.
fn client_without(lists: &watch::Sender<u32>, missing: &'static [u32]) -> kube::Client {
    let lists = lists.clone();
    let answer = move |request: Request<Body>| {
        let lists = lists.clone();
        async move {
            if request.uri().to_string().contains("watch=true") {
                std::future::pending::<()>().await;
            }
            lists.send_modify(|lists| *lists += 1);
            if missing.contains(&lists.borrow()) {
                std::future::pending::<()>().await;
            }
            let list = serde_json::json!({
                "metadata": {"resourceVersion": "7"}, "items": [Widget::json("a", "1", 1)],
            });
            Ok::<_, Infallible>(Response::new(Body::from(list.to_string().into_bytes())))
        }
    };
    kube::Client::new(tower::service_fn(answer), "default")
}

/// Waits for this many lists, in real time.
async fn listed(lists: &watch::Sender<u32>, count: u32) {
    let mut lists = lists.subscribe();
    let enough = lists.wait_for(|lists| *lists >= count);
    let within = tokio::time::timeout(Duration::from_secs(20), enough).await;
    within.expect("it runs again").unwrap();
}

/// A task whose future is dropped ends when its turn comes. Here one is in the middle of
/// something when the factory runs again: what it owns is not lost to the second run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_factory_that_was_dropped_runs_all_of_them_again() {
    let lists = watch::Sender::new(0);
    let factory = SharedInformerFactory::new(quick_client(&lists));
    let (tell, told) = mpsc::channel::<()>();
    let told = Mutex::new(Some(told));
    let busy = watch::Sender::new(false);
    let mut is_busy = busy.subscribe();
    let options = InformerOptions::new(everything()).transform(move |widget: Widget| {
        // The first time only: until the test says so.
        if let Some(told) = told.lock().take() {
            busy.send_replace(true);
            told.recv().ok();
        }
        Ok::<_, TransformError>(widget)
    });
    let informer = factory.informer_with::<Widget>(WIDGETS, options);
    {
        let mut run = std::pin::pin!(factory.run(CancellationToken::new()));
        assert!(poll!(&mut run).is_pending());
        is_busy.wait_for(|busy| *busy).await.unwrap();
    }
    assert!(informer.is_running());
    let shutdown = CancellationToken::new();
    tokio::join!(factory.run(shutdown.clone()), async {
        // Long enough for its task to have found the first run under way.
        tokio::time::sleep(Duration::from_millis(50)).await;
        tell.send(()).unwrap();
        listed(&lists, 2).await;
        assert!(informer.is_running());
        shutdown.cancel();
    });
    assert!(informer.is_stopped());
}

/// One that somebody runs by hand is the factory's when that is over.
#[tokio::test]
async fn an_informer_that_runs_by_hand_is_run_when_that_ends() {
    let lists = watch::Sender::new(0);
    let factory = SharedInformerFactory::new(quick_client(&lists));
    let informer = factory.informer::<Widget>(WIDGETS, everything());
    let by_hand = CancellationToken::new();
    let shutdown = CancellationToken::new();
    tokio::join!(
        informer.run(by_hand.clone()),
        factory.run(shutdown.clone()),
        async {
            listed(&lists, 1).await;
            tokio::task::yield_now().await;
            by_hand.cancel();
            listed(&lists, 2).await;
            shutdown.cancel();
        }
    );
    assert_eq!(*lists.borrow(), 2);
    assert!(informer.is_stopped());
}

/// A factory that ends meanwhile waits for nobody.
#[tokio::test]
async fn a_factory_does_not_wait_for_the_end_of_what_runs_by_hand() {
    let lists = watch::Sender::new(0);
    let factory = SharedInformerFactory::new(quick_client(&lists));
    let informer = factory.informer::<Widget>(WIDGETS, everything());
    let by_hand = CancellationToken::new();
    let shutdown = CancellationToken::new();
    tokio::join!(informer.run(by_hand.clone()), async {
        tokio::join!(factory.run(shutdown.clone()), async {
            listed(&lists, 1).await;
            shutdown.cancel();
        });
        assert!(informer.is_running());
        by_hand.cancel();
    });
    assert_eq!(*lists.borrow(), 1);
}

#[tokio::test]
async fn an_informer_that_is_stopped_before_its_turn_sends_nothing() {
    let lists = watch::Sender::new(0);
    let factory = SharedInformerFactory::new(quick_client(&lists));
    let informer = factory.informer::<Widget>(WIDGETS, everything());
    let shutdown = CancellationToken::new();
    let mut run = std::pin::pin!(factory.run(shutdown.clone()));
    assert!(poll!(&mut run).is_pending());
    assert!(factory.stop(&informer).await);
    let again = factory.informer::<Widget>(WIDGETS, everything());
    tokio::join!(run, async {
        listed(&lists, 1).await;
        shutdown.cancel();
    });
    assert!(again.is_stopped());
    assert!(informer.is_stopped());
    assert_eq!(*lists.borrow(), 1);
}

/// Runs until the test says so; what `synced` says meanwhile, asked right before the run or
/// right after its beginning.
async fn synced_in_run(factory: &SharedInformerFactory, asked_first: bool) -> String {
    let shutdown = CancellationToken::new();
    let run = factory.run(shutdown.clone());
    let said = async {
        let said = synced_within(factory, 5).await.0;
        shutdown.cancel();
        said
    };
    if asked_first {
        tokio::join!(said, run).0
    } else {
        tokio::join!(run, said).1
    }
}

/// As of a factory that is made anew in client-go: what an earlier run left in the cache is no
/// answer to who waits for a list.
#[tokio::test(start_paused = true)]
async fn a_second_run_has_not_synced_before_its_own_list() {
    for asked_first in [true, false] {
        let lists = watch::Sender::new(0);
        let factory = SharedInformerFactory::new(client_without(&lists, &[2]));
        let informer = factory.informer::<Widget>(WIDGETS, everything());
        let listed = || informer.status().borrow().listed_this_run;
        assert_eq!(synced_in_run(&factory, asked_first).await, "synced");
        assert!(informer.has_synced() && listed());

        let late = "widgets.example.com not synced: the deadline has passed";
        assert_eq!(synced_in_run(&factory, asked_first).await, late);
        assert!(informer.has_synced() && !listed());
        let health = informer.health().to_string();
        assert!(
            health.contains("1 object of an earlier run at 7"),
            "{health}"
        );

        assert_eq!(synced_in_run(&factory, asked_first).await, "synced");
        assert!(listed());
        assert_eq!(*lists.borrow(), 3);
    }
}

/// That an earlier run ended too early is no news of the next one.
#[tokio::test(start_paused = true)]
async fn a_run_after_one_that_ended_too_early_is_not_told_as_stopped() {
    for asked_first in [true, false] {
        let lists = watch::Sender::new(0);
        let factory = SharedInformerFactory::new(client_without(&lists, &[1]));
        factory.informer::<Widget>(WIDGETS, everything());
        let early = synced_in_run(&factory, asked_first).await;
        assert!(early.ends_with("the deadline has passed"), "{early}");
        assert_eq!(synced_in_run(&factory, asked_first).await, "synced");
    }
}

/// One that is stopped for good is not waited for.
#[tokio::test(start_paused = true)]
async fn whoever_waits_for_one_that_is_stopped_is_told_at_once() {
    for already_runs in [true, false] {
        let lists = watch::Sender::new(0);
        let factory = SharedInformerFactory::new(client_without(&lists, &[1]));
        let informer = factory.informer::<Widget>(WIDGETS, everything());
        let shutdown = CancellationToken::new();
        let (said, (), ()) = tokio::join!(
            synced_within(&factory, 60),
            factory.run(shutdown.clone()),
            async {
                if already_runs {
                    listed(&lists, 1).await;
                }
                assert!(factory.stop(&informer).await);
                shutdown.cancel();
            }
        );
        let stopped = "widgets.example.com not synced: stopped before the first list";
        assert_eq!(said, (stopped.to_owned(), 0), "{already_runs}");
    }
}

/// A run whose future was dropped is over at once, though what it ran still has to go: its list
/// is no answer to who waits for the next one's.
#[tokio::test(start_paused = true)]
async fn the_list_of_a_run_that_was_dropped_is_none_of_the_next_one() {
    for asked_first in [true, false] {
        let lists = watch::Sender::new(0);
        let factory = SharedInformerFactory::new(client_without(&lists, &[2]));
        let informer = factory.informer::<Widget>(WIDGETS, everything());
        let never = CancellationToken::new();
        tokio::select! {
            () = factory.run(never) => panic!("it ended"),
            said = synced_within(&factory, 5) => assert_eq!(said.0, "synced"),
        }
        assert!(informer.is_running());
        let late = "widgets.example.com not synced: the deadline has passed";
        assert_eq!(synced_in_run(&factory, asked_first).await, late);
        assert_eq!(synced_in_run(&factory, asked_first).await, "synced");
        assert_eq!(*lists.borrow(), 3);
    }
}

/// One that somebody runs by hand has the list that it has, whoever asks.
#[tokio::test(start_paused = true)]
async fn the_list_of_a_run_by_hand_counts() {
    for asked_first in [true, false] {
        let lists = watch::Sender::new(0);
        let factory = SharedInformerFactory::new(quick_client(&lists));
        let informer = factory.informer::<Widget>(WIDGETS, everything());
        assert_eq!(synced_in_run(&factory, asked_first).await, "synced");
        let by_hand = CancellationToken::new();
        tokio::join!(informer.run(by_hand.clone()), async {
            listed(&lists, 2).await;
            assert_eq!(synced_in_run(&factory, asked_first).await, "synced");
            by_hand.cancel();
        });
        assert_eq!(*lists.borrow(), 2);
    }
}

/// Nobody need look while it lasts.
#[tokio::test(start_paused = true)]
async fn a_run_that_began_and_ended_unseen_has_been() {
    for is_dropped in [true, false] {
        let lists = watch::Sender::new(0);
        let factory = SharedInformerFactory::new(quick_client(&lists));
        factory.informer::<Widget>(WIDGETS, everything());
        assert_eq!(synced_in_run(&factory, true).await, "synced");
        let mut synced = std::pin::pin!(synced_within(&factory, 60));
        assert!(poll!(&mut synced).is_pending());
        let shutdown = CancellationToken::new();
        if is_dropped {
            let mut run = Box::pin(factory.run(shutdown));
            assert!(poll!(&mut run).is_pending());
        } else {
            shutdown.cancel();
            factory.run(shutdown).await;
        }
        let stopped = "widgets.example.com not synced: stopped before the first list";
        assert_eq!(synced.await, (stopped.to_owned(), 0), "{is_dropped}");
        assert_eq!(*lists.borrow(), 1);
    }
}
