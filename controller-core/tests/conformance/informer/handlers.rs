//! Handlers that come early, late and twice, and what they have heard when they have synced.
use std::sync::Arc;
use std::time::Duration;

use controller_core::handler::HandlerFuncs;
use controller_core::watch::Object;
use k8s_openapi::api::core::v1::ConfigMap;
use sim_apiserver::faults::{Action, Rule};

use super::bed::{Bed, Gap, WAYS, soon};
use super::heard::{Door, number, sorted};

/// A handler that stops at the door at each of its additions.
fn step_by_step() -> (Door, HandlerFuncs<ConfigMap>) {
    let (door, pass) = Door::new();
    let handler = HandlerFuncs::new().on_add(move |_: &Arc<ConfigMap>, _| pass());
    (door, handler)
}

/// FF-26: without an answer nobody has synced, with an empty list everybody has.
#[tokio::test]
async fn an_empty_list_syncs_and_no_answer_does_not() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        let hangs = bed.server.faults().add(Rule::new(Action::Hang));
        let heard = bed.listen();
        let registration = bed.informer.add_handler(heard.handler());
        let mut synced = Box::pin(registration.synced());
        let asked = bed
            .server
            .wait_for_requests(|requests| !requests.is_empty());
        tokio::select! {
            () = bed.play(asked) => {}
            _ = &mut synced => panic!("{way:?}"),
        }
        assert!(!bed.informer.has_synced() && !registration.has_synced());
        bed.server.faults().remove(hangs);
        bed.play(async { assert!(registration.synced().await) })
            .await;
        assert!(heard.texts().is_empty());
        drop(synced);
        bed.close().await;
    }
}

/// SI-33, FF-26: the cache has all hundred, and the handler has synced with the last of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_has_synced_with_the_last_object_of_the_first_list() {
    let names: Vec<String> = (0..100).map(|number| format!("pod{number:02}")).collect();
    let known: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    for way in WAYS {
        let bed = Bed::new(way, &known).await;
        let (door, handler) = step_by_step();
        let registration = bed.informer.add_handler(handler);
        bed.play(async {
            for knocks in 1..100 {
                door.knocked(knocks).await;
                door.open();
            }
            door.knocked(100).await;
            assert!(
                bed.informer.has_synced() && !registration.has_synced(),
                "{way:?}"
            );
            door.open();
            assert!(registration.synced().await, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-23: what vanished before the handler had heard of it does not end the wait early, and
/// was initial all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_that_vanish_unheard_do_not_sync_a_handler() {
    for way in WAYS {
        let bed = Bed::new(way, &[("a", 1), ("b", 2), ("c", 3)]).await;
        bed.gap(&Gap {
            listed: 3,
            seen: 0,
            missed: 2,
        });
        let heard = bed.listen();
        let (door, handler) = step_by_step();
        let registration = bed.informer.add_handler(handler);
        bed.play(async {
            bed.listed(1).await;
            door.knocked(1).await;
            bed.remove("b");
            bed.remove("c");
            bed.listed(2).await;
            for knocks in 1..=3 {
                door.knocked(knocks).await;
                assert!(!registration.has_synced(), "{way:?}");
                door.open();
            }
            assert!(registration.synced().await, "{way:?}");
            drop(door);
            let all = bed.all(&heard).await;
            assert_eq!(
                all[..3],
                ["initial a 1", "initial b 2", "initial c 3"],
                "{way:?}"
            );
            let vanished = sorted(all[3..].to_vec());
            assert_eq!(vanished, ["vanished b 2", "vanished c 3"], "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// SI-03: handlers wait for a server that takes its time, one of them with an interval that is
/// over before.
#[tokio::test]
async fn a_list_that_comes_late_brings_everything_to_everybody() {
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1), ("pod2", 2)]).await;
        let late = Action::Delay(Duration::from_millis(200));
        bed.server.faults().add(Rule::new(late).attempts(1));
        let (one, other) = (bed.listen(), bed.listen());
        let impatient = bed.listen();
        let interval = Duration::from_millis(50);
        bed.informer
            .add_handler_with_resync(impatient.handler(), interval);
        bed.play(async {
            impatient.until("resynced pod2 2").await;
            for heard in [&one, &other] {
                heard.until("initial pod2 2").await;
                assert_eq!(
                    heard.texts(),
                    ["initial pod1 1", "initial pod2 2"],
                    "{way:?}"
                );
            }
        })
        .await;
        bed.close().await;
    }
}

/// SI-12: one handler twice is two registrations, and one outlives the other.
#[tokio::test]
async fn a_handler_may_be_added_twice() {
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1)]).await;
        let heard = bed.listen();
        let handler = Arc::new(heard.handler());
        let first = bed.informer.add_handler(Arc::clone(&handler));
        let second = bed.informer.add_handler(handler);
        bed.play(async {
            assert!(first.synced().await && second.synced().await);
            heard.until_count(3).await;
            first.remove().await;
            let all = bed.all(&heard).await;
            assert_eq!(all, ["initial pod1 1"; 3], "{way:?}");
            // Two of three are left, and the last one goes.
            heard.until_count(7).await;
            assert_eq!(heard.texts()[5..], ["deleted the-last 0"; 2], "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// SI-10, SI-18: a handler that was removed has heard the first half; none is left in the end.
#[tokio::test]
async fn a_removed_handler_has_heard_what_came_before() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        let (gone, stays) = (bed.listen(), bed.listen());
        let other = bed.informer.add_handler(gone.handler());
        bed.play(async {
            bed.listed(1).await;
            bed.add("pod1", 1);
            gone.until_count(2).await;
            assert_eq!(bed.informer.health().handlers.len(), 3);
            other.remove().await;
            assert_eq!(bed.informer.health().handlers.len(), 2);
            bed.add("pod2", 2);
            stays.until("added pod2 2").await;
            assert_eq!(bed.all(&gone).await.len(), 3, "{way:?}");
            assert_eq!(
                bed.all(&stays).await,
                ["added pod1 1", "added pod2 2"],
                "{way:?}"
            );
        })
        .await;
        bed.close().await;
    }
}

/// SI-01, SI-28: an index from the start, and one that is added while the watch goes on: both
/// are complete at once, and follow each line.
#[tokio::test]
async fn an_index_is_complete_whenever_it_is_added() {
    let by_number = |it: &ConfigMap| vec![number(it).to_owned()];
    for way in WAYS {
        let known = [("pod1", 1), ("pod2", 2)];
        let bed = Bed::with(way, &known, |options| options.index("number", by_number)).await;
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            let lister = bed.informer.lister();
            let found = |index, value: &str| {
                let objects = lister.by_index(index, value).unwrap();
                sorted(
                    objects
                        .iter()
                        .map(|it| it.key().name().to_owned())
                        .collect(),
                )
            };
            assert_eq!(found("number", "1"), ["pod1"]);
            bed.add("pod3", 1);
            heard.until("added pod3 1").await;
            assert_eq!(found("number", "1"), ["pod1", "pod3"]);
            bed.informer.add_index("again", by_number).unwrap();
            assert_eq!(found("again", "1"), ["pod1", "pod3"]);
            assert_eq!(sorted(lister.index_values("again").unwrap()), ["1", "2"]);
            assert!(bed.informer.add_index("again", by_number).is_err());
            bed.change("pod1", 2);
            heard.until("updated pod1 1 to 2").await;
            for index in ["number", "again"] {
                assert_eq!(found(index, "1"), ["pod3"]);
                assert_eq!(found(index, "2"), ["pod1", "pod2"]);
            }
            assert!(lister.by_index("nobody", "1").is_err());
        })
        .await;
        bed.close().await;
    }
}

/// kube-rs 5: a deletion is heard by all of three handlers that share one watch.
#[tokio::test]
async fn every_handler_hears_of_a_deletion() {
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1)]).await;
        let all = [bed.listen(), bed.listen(), bed.listen()];
        bed.play(async {
            bed.listed(1).await;
            bed.remove("pod1");
            for heard in &all {
                let texts = soon(heard.until_count(2)).await;
                assert_eq!(texts, ["initial pod1 1", "deleted pod1 1"], "{way:?}");
            }
        })
        .await;
        let requests = bed.server.requests();
        let watches = requests
            .iter()
            .filter(|it| it.info.query("watch").is_some());
        assert_eq!(watches.count(), 1, "{way:?}");
        bed.close().await;
    }
}
