//! A list over a cache that is not empty: one step, and in which order it is told.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use sim_apiserver::faults::{Action, Rule, Verb};

use super::bed::{Bed, Gap, WAYS};
use super::heard::{name, number};

const PODS: [(&str, u32); 3] = [("pod1", 1), ("pod2", 2), ("pod3", 3)];

/// CT-10, BX-29: deletions first, and during every call, the first one too, the cache shows the
/// new world and its version.
#[tokio::test]
async fn deletions_come_first_and_every_call_sees_the_new_world() {
    for way in WAYS {
        let bed = Bed::new(way, &PODS).await;
        bed.gap(&Gap {
            listed: 3,
            seen: 0,
            missed: 4,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.change("pod1", 4);
            bed.change("pod2", 5);
            bed.remove("pod3");
            bed.add("pod4", 6);
            let version = bed.server.revision().to_string();
            heard.until("added pod4 6").await;
            let news = heard.calls().split_off(3);
            let texts: Vec<_> = news.iter().map(|call| call.text.as_str()).collect();
            let expected = [
                "vanished pod3 3",
                "updated pod1 1 to 4",
                "updated pod2 2 to 5",
                "added pod4 6",
            ];
            assert_eq!(texts, expected, "{way:?}");
            for call in news {
                assert_eq!(call.cached, ["pod1 4", "pod2 5", "pod4 6"], "{way:?}");
                assert_eq!(call.version, version, "{way:?}");
            }
        })
        .await;
        bed.close().await;
    }
}

/// CT-10, BX-29: an object that took over a name while nobody looked ends the other one, which
/// is told among the deletions.
#[tokio::test]
async fn an_object_that_took_over_a_name_ends_the_one_before_it() {
    for way in WAYS {
        let bed = Bed::new(way, &PODS).await;
        bed.gap(&Gap {
            listed: 3,
            seen: 0,
            missed: 4,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.change("pod1", 4);
            bed.remove("pod3");
            bed.add("pod3", 7);
            bed.add("pod4", 6);
            heard.until("added pod4 6").await;
            let texts = heard.texts().split_off(3);
            let expected = [
                "vanished pod3 3",
                "updated pod1 1 to 4",
                "added pod3 7",
                "added pod4 6",
            ];
            assert_eq!(texts, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// CT-11: all are gone.
#[tokio::test]
async fn an_empty_list_ends_everything() {
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1), ("pod3", 3)]).await;
        bed.gap(&Gap {
            listed: 2,
            seen: 0,
            missed: 2,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.remove("pod1");
            bed.remove("pod3");
            heard.until_count(4).await;
            let calls = heard.calls().split_off(2);
            let mut texts: Vec<_> = calls.iter().map(|call| call.text.as_str()).collect();
            texts.sort_unstable();
            assert_eq!(texts, ["vanished pod1 1", "vanished pod3 3"], "{way:?}");
            assert!(calls.iter().all(|call| call.cached.is_empty()), "{way:?}");
            assert!(bed.informer.lister().is_empty());
        })
        .await;
        bed.close().await;
    }
}

/// CT-12, CT-13: the first list is initial, and the cache stands at its version. What was
/// missed later is not: it happened, though nobody saw it happen.
#[tokio::test]
async fn only_the_first_list_is_initial() {
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1)]).await;
        bed.gap(&Gap {
            listed: 1,
            seen: 0,
            missed: 2,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            heard.until_count(1).await;
            let version = bed.server.revision().to_string();
            assert_eq!(heard.calls()[0].version, version, "{way:?}");
            bed.change("pod1", 3);
            bed.add("pod2", 4);
            bed.listed(2).await;
            let expected = ["initial pod1 1", "updated pod1 1 to 3", "added pod2 4"];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-30: while a list arrives the cache shows the one before it, and then all of the new one.
/// Whoever looks in between, however often, never sees parts of two.
#[tokio::test]
async fn no_reader_sees_half_of_a_list() {
    let names: Vec<String> = (0..20).map(|number| format!("pod{number}")).collect();
    let known: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    for way in WAYS {
        let bed = Bed::new(way, &known).await;
        bed.gap(&Gap {
            listed: 20,
            seen: 0,
            missed: 1,
        });
        // The second list comes in small pieces, streamed or not.
        let slow = || Rule::new(Action::slow(256, Duration::from_millis(2)));
        bed.script(slow());
        bed.server.faults().add(slow().verb(Verb::List).attempts(2));
        bed.play(async {
            bed.listed(1).await;
            let lister = bed.informer.lister();
            for name in &names {
                bed.change(name, 2);
            }
            let mut before = 0;
            loop {
                let snapshot = lister.snapshot();
                let numbers: Vec<_> = snapshot.iter().map(|it| number(it)).collect();
                assert_eq!(numbers.len(), 20, "{way:?}");
                assert!(numbers.iter().all(|it| *it == numbers[0]), "{numbers:?}");
                if numbers[0] == "2" {
                    break;
                }
                before += 1;
                tokio::task::yield_now().await;
            }
            assert!(before > 20, "the list was there at once: {before}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-10: each object that comes is transformed once, and a tombstone, a list that brings
/// nothing new and the cache's own copies not again.
#[tokio::test]
async fn what_a_list_ends_is_not_transformed_again() {
    for way in WAYS {
        let calls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        let transform = move |mut it: ConfigMap| {
            counted.fetch_add(1, Ordering::Relaxed);
            let number: u32 = number(&it).parse().unwrap();
            it.data = Some([("number".to_owned(), (number + 1000).to_string())].into());
            Ok(it)
        };
        let bed = Bed::with(way, &PODS[..1], |options| options.transform(transform)).await;
        bed.gap(&Gap {
            listed: 1,
            seen: 2,
            missed: 1,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("pod2", 2);
            bed.change("pod2", 5);
            bed.remove("pod1");
            heard.until("vanished pod1 1001").await;
            let expected = [
                "initial pod1 1001",
                "added pod2 1002",
                "updated pod2 1002 to 1005",
                "vanished pod1 1001",
            ];
            assert_eq!(heard.texts(), expected, "{way:?}");
            // Once more for `pod2`: the list brought it again, and it was decoded again.
            assert_eq!(calls.load(Ordering::Relaxed), 4, "{way:?}");
            let cached = bed.informer.lister().list();
            assert_eq!(cached.len(), 1);
            assert_eq!(name(&cached[0]), "pod2 1005", "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-05, FF-06: lists that bring what is known say nothing, one that does not bring it says
/// so once, and so does the next one. In client-go each list is told.
#[tokio::test]
async fn lists_that_bring_nothing_new_are_not_heard() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        // Two lists with `foo`, after a change that is none; then two without it.
        bed.gap(&Gap {
            listed: 0,
            seen: 1,
            missed: 0,
        });
        bed.gap(&Gap {
            listed: 1,
            seen: 0,
            missed: 0,
        });
        bed.gap(&Gap {
            listed: 1,
            seen: 0,
            missed: 1,
        });
        bed.gap(&Gap {
            listed: 0,
            seen: 0,
            missed: 0,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("foo", 5);
            bed.listed(3).await;
            bed.remove("foo");
            bed.listed(5).await;
            let expected = ["added foo 5", "vanished foo 5"];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-13, FF-31: what a line added the list updates, and the cache stands at the list.
#[tokio::test]
async fn a_list_updates_what_a_line_added() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        bed.gap(&Gap {
            listed: 0,
            seen: 1,
            missed: 1,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("foo", 10);
            bed.change("foo", 15);
            bed.listed(2).await;
            heard.until("updated foo 10 to 15").await;
            let version = bed.server.revision().to_string();
            assert_eq!(heard.calls().last().unwrap().version, version);
            let expected = ["added foo 10", "updated foo 10 to 15"];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}
