//! Handlers that take their time.
use std::sync::{Arc, Once};

use controller_core::handler::HandlerFuncs;
use k8s_openapi::api::core::v1::ConfigMap;

use super::bed::{Bed, WAYS};
use super::heard::{Door, Heard, name, number};

/// A handler that stops at its first call, and notes all.
fn blocking(heard: &Heard) -> (Door, HandlerFuncs<ConfigMap>) {
    let (door, pass) = Door::new();
    let (added, updated) = (heard.clone(), heard.clone());
    let first = Once::new();
    let handler = HandlerFuncs::new()
        .named("slow")
        .on_add(move |new: &Arc<ConfigMap>, _| {
            added.say(name(new));
            first.call_once(&pass);
        })
        .on_update(move |_, new| updated.say(name(new)));
    (door, handler)
}

/// BX-14, SI-36: under a thousand changes of ten objects the one that hangs holds no more than
/// its buffer and an entry an object, and then hears the net changes. The other one hears each,
/// and health tells the two apart by their names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_hangs_costs_a_bounded_buffer_and_nobody_else() {
    const BUFFER: usize = 32;
    let names: Vec<String> = (0..10).map(|number| format!("pod{number}")).collect();
    let known: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 0)).collect();
    for way in WAYS {
        let bed = Bed::with(way, &known, |options| options.buffer(BUFFER)).await;
        let slow = Heard::new(bed.informer.lister());
        let (door, handler) = blocking(&slow);
        let registration = bed.informer.add_handler(handler);
        let quick = Heard::new(bed.informer.lister());
        bed.informer.add_handler(quick.handler().named("quick"));
        bed.play(async {
            bed.listed(1).await;
            door.knocked(1).await;
            for change in 1..=100 {
                for name in &names {
                    bed.change(name, change);
                }
                // The quick one's buffer is no larger.
                quick.until_count(10 + 10 * change as usize).await;
            }
            let health = bed.informer.health();
            let [behind, well] = &health.handlers[..] else {
                panic!("{health:?}")
            };
            assert_eq!((&*behind.name, &*well.name), ("slow", "quick"));
            assert!(!behind.synced && well.synced, "{health}");
            // The call under way and the mark of the first list count too.
            let most = BUFFER + names.len() + 2;
            assert!((names.len()..=most).contains(&behind.pending), "{health}");
            let cached = bed.informer.lister().list();
            assert!(cached.iter().all(|it| number(it) == "100"), "{way:?}");
            drop(door);
            assert!(registration.synced().await);
            for name in &names {
                slow.until(&format!("{name} 100")).await;
            }
            assert!(slow.texts().len() <= most, "{:?}", slow.texts());
        })
        .await;
        bed.close().await;
    }
}
