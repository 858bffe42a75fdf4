//! Many changes, many handlers, several threads, and watches that break.
use std::sync::Arc;
use std::time::Duration;

use controller_core::client::Scope;
use controller_core::handler::HandlerFuncs;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::store::Deleted;
use controller_core::watch::{Object, Streaming};
use hashbrown::HashMap;
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use serde_json::json;
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Place, Rule, StreamFault};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::bed::{Bed, CONFIG_MAPS, WAYS, client, config_map, soon, watch_options};

/// What one handler believes to exist, and what it heard that cannot be.
#[derive(Clone, Default)]
struct Believes(Arc<watch::Sender<Belief>>);

#[derive(Clone, Debug, Default)]
struct Belief {
    /// Name → (uid, version).
    objects: HashMap<String, (String, u64)>,
    impossible: Vec<String>,
    deletions: usize,
}

fn identity(object: &ConfigMap) -> (String, u64) {
    let version = object.resource_version().parse().unwrap();
    (object.uid().to_owned(), version)
}

impl Believes {
    fn handler(&self) -> HandlerFuncs<ConfigMap> {
        let (add, update, delete) = (self.clone(), self.clone(), self.clone());
        HandlerFuncs::new()
            .on_add(move |new: &Arc<ConfigMap>, _| {
                add.hear("added", new, Option::is_none);
            })
            .on_update(move |old, new| {
                let (uid, version) = identity(new);
                // The very state that it saw last, of the same object, and older.
                update.hear("updated", new, |known| {
                    *known == Some(identity(old)) && old.uid() == uid && identity(old).1 < version
                });
            })
            .on_delete(move |deleted: &Deleted<ConfigMap>| {
                let last = deleted.last_known();
                delete.0.send_modify(|belief| {
                    let known = belief.objects.remove(last.key().name());
                    if known.is_none_or(|(uid, _)| uid != last.uid()) {
                        belief.impossible.push(format!("deleted {last:?}"));
                    }
                    belief.deletions += 1;
                });
            })
    }

    fn hear(
        &self,
        word: &str,
        new: &ConfigMap,
        may_be: impl FnOnce(&Option<(String, u64)>) -> bool,
    ) {
        self.0.send_modify(|belief| {
            let key = new.key().name().to_owned();
            let known = belief.objects.insert(key, identity(new));
            if !may_be(&known) {
                belief
                    .impossible
                    .push(format!("{word} {new:?} after {known:?}"));
            }
        });
    }

    /// Waits until it believes what is true, or has heard what cannot be, and returns all that
    /// it believes.
    async fn is_right(&self, server: &SimApiServer) -> Belief {
        let truth: HashMap<_, _> = server
            .objects("configmaps")
            .iter()
            .map(|it| {
                let text = |field: &str| it["metadata"][field].as_str().unwrap().to_owned();
                let version = text("resourceVersion").parse().unwrap();
                (text("name"), (text("uid"), version))
            })
            .collect();
        let mut belief = self.0.subscribe();
        let right =
            belief.wait_for(|belief| belief.objects == truth || !belief.impossible.is_empty());
        soon(right).await.unwrap().clone()
    }
}

/// Adds, changes or removes one of ten objects.
fn change_something(server: &SimApiServer, rng: &mut StdRng) {
    let name = format!("pod{}", rng.random_range(0..10));
    if server.object("configmaps", "shop", &name).is_none() {
        server.seed(config_map(&name, rng.random_range(0..1000)));
    } else if rng.random_bool(0.4) {
        server.remove("configmaps", "shop", &name);
    } else {
        server.mutate("configmaps", "shop", &name, |it| {
            it["data"]["number"] = rng.random_range(0..1000).to_string().into();
        });
    }
}

/// Three threads that make a hundred changes each.
async fn hammer(server: &Arc<SimApiServer>) {
    let mut tasks = JoinSet::new();
    for seed in 0..3 {
        let server = Arc::clone(server);
        tasks.spawn(async move {
            let mut rng = StdRng::seed_from_u64(seed);
            for _ in 0..100 {
                change_something(&server, &mut rng);
                tokio::task::yield_now().await;
                if rng.random_bool(0.1) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        });
    }
    tasks.join_all().await;
}

/// CT-01, CT-02: whatever happens to twelve watches in a row, each handler hears a story that
/// is possible, object by object, and believes in the end what is true. What is gone was told
/// to be gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stories_are_possible_and_true_in_the_end() {
    const SCRIPTED: u64 = 12;
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1), ("pod2", 2)]).await;
        for watch in 0..SCRIPTED {
            let at = 12 + watch;
            bed.script(match watch % 4 {
                0 => Rule::new(Action::cut_after_events(at)),
                1 => Rule::new(Action::duplicated(Place::events(at - 2)))
                    .then(Action::cut_after_events(at).with_reset()),
                2 => Rule::new(StreamFault::Dropped {
                    at: at.into(),
                    lines: 5,
                })
                .then(Action::expired_in_stream(at + 5)),
                _ => Rule::new(StreamFault::Reordered {
                    at: at.into(),
                    within: Duration::from_millis(20),
                }),
            });
        }
        let (early, late) = (Believes::default(), Believes::default());
        let often = Duration::from_millis(5);
        bed.informer.add_handler_with_resync(early.handler(), often);
        let Bed {
            server, informer, ..
        } = bed;
        let (server, stop) = (Arc::new(server), CancellationToken::new());
        soon(async {
            tokio::join!(informer.run(stop.clone()), async {
                let watches = || informer.status().borrow().watches;
                while watches() < SCRIPTED / 2 {
                    hammer(&server).await;
                }
                informer.add_handler(late.handler());
                while watches() <= SCRIPTED {
                    hammer(&server).await;
                }
                for believes in [&early, &late] {
                    let belief = believes.is_right(&server).await;
                    assert!(belief.impossible.is_empty(), "{way:?}: {belief:#?}");
                    assert!(belief.deletions > 0, "{way:?}");
                }
                stop.cancel();
            })
        })
        .await;
        server.shutdown().await;
    }
}

/// SI-05: whether a handler comes before, during or after the start and the first list, it
/// hears of each object once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn handlers_added_beside_the_start_hear_of_each_object_once() {
    let server = SimApiServer::builder().start().await.unwrap();
    server.seed_all([config_map("a", 1), config_map("b", 2)]);
    let client = client(&server);
    for round in 0..40 {
        let options = InformerOptions::new(watch_options(WAYS[round % 2]));
        let informer = SharedInformer::new(client.clone(), CONFIG_MAPS, options);
        let believes = Believes::default();
        let (its, there) = (informer.clone(), believes.clone());
        let mut adding = JoinSet::new();
        adding.spawn(async move { its.add_handler(there.handler()) });
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            let registration = adding.join_next().await.unwrap().unwrap();
            assert!(soon(registration.synced()).await);
            let belief = believes.is_right(&server).await;
            assert!(belief.impossible.is_empty(), "{belief:#?}");
            stop.cancel();
        });
    }
    server.shutdown().await;
}

/// kube-rs 6, SI-14: handlers come and go under a storm of changes, and over a stop in the middle
/// of it. Each hears of everything there is, then of every change, without a gap and without a
/// repetition; those that stay believe in the end what is true, and of the others nothing is
/// left. In client-go nobody can join an informer that has stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn handlers_may_come_and_go_in_a_storm() {
    for way in WAYS {
        let bed = Bed::with(way, &[("pod1", 1)], |options| options.buffer(8)).await;
        let Bed {
            server, informer, ..
        } = bed;
        let server = Arc::new(server);
        let mut guests = JoinSet::new();
        for guest in 0..20 {
            let informer = informer.clone();
            guests.spawn(async move {
                let mut rng = StdRng::seed_from_u64(guest);
                let mut impossible = Vec::new();
                for _ in 0..5 {
                    let believes = Believes::default();
                    let registration = informer.add_handler(believes.handler());
                    for _ in 0..rng.next_u32() % 200 {
                        tokio::task::yield_now().await;
                    }
                    registration.remove().await;
                    impossible.append(&mut believes.0.borrow().impossible.clone());
                }
                impossible
            });
        }
        let mut stay = Vec::new();
        for _ in 0..2 {
            let stop = CancellationToken::new();
            soon(async {
                tokio::join!(informer.run(stop.clone()), async {
                    for _ in 0..3 {
                        hammer(&server).await;
                        let believes = Believes::default();
                        informer.add_handler(believes.handler());
                        stay.push(believes);
                    }
                    stop.cancel();
                })
            })
            .await;
            // Nobody follows this.
            hammer(&server).await;
        }
        let impossible: Vec<_> = soon(guests.join_all()).await.concat();
        assert!(impossible.is_empty(), "{way:?}: {impossible:#?}");
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            for believes in &stay {
                let belief = believes.is_right(&server).await;
                assert!(belief.impossible.is_empty(), "{way:?}: {belief:#?}");
            }
            assert_eq!(informer.health().handlers.len(), stay.len());
            stop.cancel();
        });
        server.shutdown().await;
    }
}

/// FF-01: two watches feed one handler; each comes in its own order, and nothing is missing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_two_watches_is_heard_in_its_own_order() {
    let server = SimApiServer::builder().start().await.unwrap();
    let client = client(&server);
    let heard: Arc<Mutex<HashMap<String, Vec<u32>>>> = Arc::default();
    let notes = Arc::clone(&heard);
    let handler = HandlerFuncs::new().on_add(move |new: &Arc<ConfigMap>, _| {
        let key = new.key();
        let number = key.name().strip_prefix("pod").unwrap().parse().unwrap();
        let namespace = key.namespace().unwrap_or_default().to_owned();
        notes.lock().entry(namespace).or_default().push(number);
    });
    let handler = Arc::new(handler);
    let informers = ["shop", "yard"].map(|namespace| {
        let mut options = watch_options(Streaming::Auto);
        options.scope = Scope::Namespace(namespace.into());
        let options = InformerOptions::new(options);
        let informer = SharedInformer::new(client.clone(), CONFIG_MAPS, options);
        informer.add_handler(Arc::clone(&handler));
        informer
    });
    let stop = CancellationToken::new();
    let [shop, yard] = &informers;
    tokio::join!(shop.run(stop.clone()), yard.run(stop.clone()), async {
        for number in 0..500 {
            for namespace in ["shop", "yard"] {
                server.seed(json!({"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": format!("pod{number:03}"), "namespace": namespace}}));
            }
            tokio::task::yield_now().await;
        }
        soon(async {
            while heard.lock().values().map(Vec::len).sum::<usize>() < 1000 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        stop.cancel();
    });
    for namespace in ["shop", "yard"] {
        let numbers = heard.lock()[namespace].clone();
        // What the first list brought comes in the order of its names.
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..500).collect::<Vec<_>>(), "{namespace}");
        assert!(numbers.is_sorted(), "{namespace}: {numbers:?}");
    }
    server.shutdown().await;
}
