//! Objects that cannot be cached, among others that can.
use controller_core::watch::Object;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::bed::{Bed, Gap, WAYS, config_map};
use super::heard::sorted;

/// A ConfigMap whose data no type can be read from.
fn bad(name: &str) -> Value {
    let mut object = config_map(name, 0);
    object["data"] = json!(7);
    object
}

/// FF-29, CT-08, ST-09: whether all are well, none is, or every other: those that are well are
/// cached and told, the others are named and counted, be they listed, told, or listed again.
#[tokio::test]
async fn what_cannot_be_read_costs_only_itself() {
    for way in WAYS {
        for is_bad in [[false; 4], [true; 4], [false, true, false, true]] {
            let bed = Bed::new(way, &[]).await;
            bed.gap(&Gap {
                listed: 2,
                seen: 2,
                missed: 1,
            });
            let put = |name: &str, is_bad: bool| {
                let object = if is_bad {
                    bad(name)
                } else {
                    config_map(name, 1)
                };
                bed.server.seed(object);
            };
            let names = ["a", "b", "c", "d"];
            for (name, is_bad) in names[..2].iter().zip(is_bad) {
                put(name, is_bad);
            }
            let heard = bed.listen();
            bed.play(async {
                bed.listed(1).await;
                for (name, is_bad) in names.iter().zip(is_bad).skip(2) {
                    put(name, is_bad);
                }
                bed.add("e", 1);
                bed.listed(2).await;
                let mut expected = vec!["added e 1".to_owned()];
                for (number, name) in names.iter().enumerate().filter(|(it, _)| !is_bad[*it]) {
                    let word = if number < 2 { "initial" } else { "added" };
                    expected.push(format!("{word} {name} 1"));
                }
                let all = sorted(bed.all(&heard).await);
                assert_eq!(all, sorted(expected), "{way:?} {is_bad:?}");
                let lister = bed.informer.lister();
                let held = lister.quarantine();
                let held: Vec<_> = held.iter().map(|it| it.key.name()).collect();
                let bad = names.iter().zip(is_bad).filter(|(_, is_bad)| *is_bad);
                assert_eq!(held, bad.map(|(name, _)| *name).collect::<Vec<_>>());
            })
            .await;
            bed.close().await;
        }
    }
}

/// CT-15. Mended: no object is without a version here. One that a transform takes it from is
/// kept as it was and marked, and the cache's own version moves on with list and watch.
#[tokio::test]
async fn a_transform_cannot_take_the_version_away() {
    let transform = |mut it: ConfigMap| {
        let is_odd = it.data.as_ref().is_some_and(|data| data["number"] == "3");
        it.metadata.resource_version.take_if(|_| is_odd);
        Ok(it)
    };
    for way in WAYS {
        let bed = Bed::with(way, &[("a", 1)], |options| options.transform(transform)).await;
        bed.gap(&Gap {
            listed: 1,
            seen: 1,
            missed: 1,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            let lister = bed.informer.lister();
            bed.change("a", 3);
            let at = bed.server.revision().to_string();
            bed.add("b", 2);
            bed.listed(2).await;
            assert_eq!(
                bed.all(&heard).await,
                ["initial a 1", "added b 2"],
                "{way:?}"
            );
            let a = lister.list().into_iter().find(|it| it.key().name() == "a");
            let a = a.unwrap();
            assert_ne!(a.resource_version(), at);
            assert!(lister.is_outdated(&a.key()));
            // The line or list that brought it.
            assert!(lister.caught_up(&at).may_go_on(), "{way:?}");
            bed.change("a", 4);
            heard.until("updated a 1 to 4").await;
            assert!(!lister.is_outdated(&a.key()));
        })
        .await;
        bed.close().await;
    }
}
