//! Code of others that panics: it costs one call, and nobody else anything.
use std::sync::Arc;

use controller_core::handler::HandlerFuncs;
use k8s_openapi::api::core::v1::ConfigMap;

use super::bed::{Bed, WAYS};
use super::heard::{Heard, name, number};

const FIVE: [(&str, u32); 5] = [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)];

/// Counts in nobody's name: each addition panics.
fn panicking(name: &'static str) -> HandlerFuncs<ConfigMap> {
    HandlerFuncs::new()
        .named(name)
        .on_add(|_: &Arc<ConfigMap>, _| panic!("as the test wants it"))
}

/// SI-21, SI-22, CT-03, BX-16. Mended: each object is told to both, no process ends, nobody
/// pauses, and a panic at an object of the first list keeps no handler from syncing.
#[tokio::test]
async fn handlers_that_always_panic_hear_everything_and_sync() {
    for way in WAYS {
        let bed = Bed::new(way, &FIVE).await;
        let one = bed.informer.add_handler(panicking("one"));
        let other = bed.informer.add_handler(panicking("other"));
        let heard = bed.listen();
        bed.play(async {
            assert!(one.synced().await && other.synced().await, "{way:?}");
            assert_eq!((one.panics(), other.panics()), (5, 5), "{way:?}");
            bed.add("f", 6);
            heard.until("added f 6").await;
            while one.panics() + other.panics() < 12 {
                tokio::task::yield_now().await;
            }
            assert_eq!(heard.texts().len(), 6, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// BX-15: the object that an index function panics on is cached and told like any other; it is
/// missing from that index alone, and counted.
#[tokio::test]
async fn a_panicking_index_function_costs_one_entry() {
    for way in WAYS {
        let by_number = |it: &ConfigMap| {
            assert_ne!(number(it), "3", "as the test wants it");
            vec![number(it).to_owned()]
        };
        let bed = Bed::with(way, &FIVE, |options| options.index("number", by_number)).await;
        let heard = bed.listen();
        bed.play(async {
            heard.until("initial e 5").await;
            let lister = bed.informer.lister();
            let found = |value| lister.by_index("number", value).unwrap();
            assert_eq!(lister.len(), 5);
            assert!(found("3").is_empty());
            assert_eq!(lister.counts().index_failures(), 1);
            // In and out of the state that it panics on.
            bed.change("a", 3);
            bed.change("c", 7);
            heard.until("updated c 3 to 7").await;
            assert!(found("1").is_empty() && found("3").is_empty());
            assert_eq!(
                found("7").iter().map(|it| name(it)).collect::<Vec<_>>(),
                ["c 7"]
            );
            assert_eq!(bed.all(&heard).await.len(), 7, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// BX-16: after a panic in the middle the rest is heard, in order.
#[tokio::test]
async fn a_panic_costs_one_call() {
    for way in WAYS {
        let bed = Bed::new(way, &FIVE).await;
        let heard = Heard::new(bed.informer.lister());
        let notes = heard.clone();
        let handler = HandlerFuncs::new().on_add(move |new: &Arc<ConfigMap>, _| {
            assert_ne!(number(new), "3", "as the test wants it");
            notes.say(name(new));
        });
        let registration = bed.informer.add_handler(handler);
        bed.play(async { assert!(registration.synced().await) })
            .await;
        assert_eq!(heard.texts(), ["a 1", "b 2", "d 4", "e 5"], "{way:?}");
        assert_eq!(registration.panics(), 1);
        bed.close().await;
    }
}
