//! Started, stopped, started again, never started: what is left, and what is told.
use std::time::Duration;

use controller_core::client::{ResourceType, Scope, Verb};
use controller_core::informer::{NotSynced, SharedInformerFactory, WhyNotSynced};
use controller_core::watch::{State, Streaming, WatchOptions};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule};
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::bed::{Bed, CONFIG_MAPS, WAYS, client, config_map, soon, watch_options};
use super::heard::Heard;

const SECRETS: ResourceType = ResourceType::namespaced("", "v1", "secrets", "Secret");

fn denied() -> Rule {
    let message = "secrets is forbidden: User \"ana\" cannot list resource \"secrets\"";
    Rule::new(Action::status(403).message(message)).resource("secrets")
}

/// Waits until this runtime has no task but this one.
async fn no_task_is_left() {
    soon(async {
        while Handle::current().metrics().num_alive_tasks() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// SI-20, BX-17: a handler from before the start, one from after it, and an informer that never
/// runs. In the end there is no task, and nobody holds a handler.
#[tokio::test]
async fn nothing_is_left_of_an_informer() {
    for way in WAYS {
        for runs in 0..=2 {
            let bed = Bed::new(way, &[("pod1", 1)]).await;
            let before = bed.listen();
            let mut after = Vec::new();
            for run in 0..runs {
                bed.play(async {
                    bed.listed(run + 1).await;
                    let heard = bed.listen();
                    heard.until("initial pod1 1").await;
                    after.push(heard);
                })
                .await;
            }
            assert_eq!(before.texts().len(), usize::from(runs > 0), "{way:?}");
            let Bed {
                server, informer, ..
            } = bed;
            drop(informer);
            assert!(
                before.is_over() && after.iter().all(Heard::is_over),
                "{way:?}"
            );
            server.shutdown().await;
            drop(server);
            no_task_is_left().await;
        }
    }
}

/// BX-17: a second run asks for nothing older than the first one saw, tells what went meanwhile,
/// and tells nothing twice.
#[tokio::test]
async fn a_second_run_goes_on_where_the_first_one_ended() {
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1), ("pod2", 2)]).await;
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("pod3", 3);
            heard.until("added pod3 3").await;
        })
        .await;
        let (seen, requests) = (bed.server.revision(), bed.server.requests().len());
        assert!(bed.informer.is_stopped());
        bed.remove("pod1");
        bed.change("pod2", 5);
        bed.play(async {
            heard.until("updated pod2 2 to 5").await;
            let all = bed.all(&heard).await;
            assert_eq!(
                all[3..],
                ["vanished pod1 1", "updated pod2 2 to 5"],
                "{way:?}"
            );
        })
        .await;
        let first = &bed.server.requests()[requests];
        let asked = first.info.query("resourceVersion").map(str::to_owned);
        assert_eq!(asked, Some(seen.to_string()), "{way:?}");
        bed.close().await;
    }
}

/// BX-17: an informer that was stopped for good is forgotten: no watch, and the next one of its
/// kind begins with an empty cache.
#[tokio::test]
async fn one_of_several_informers_can_be_removed() {
    let server = SimApiServer::builder().start().await.unwrap();
    server.seed(config_map("pod1", 1));
    let factory = SharedInformerFactory::new(client(&server));
    let options = || watch_options(Streaming::Auto);
    let informer = factory.informer::<ConfigMap>(CONFIG_MAPS, options());
    let other = factory.informer::<Secret>(SECRETS, options());
    let stop = CancellationToken::new();
    tokio::join!(factory.run(stop.clone()), async {
        let synced = factory.synced(Instant::now() + Duration::from_secs(60));
        synced.await.unwrap();
        assert!(soon(factory.stop(&informer)).await);
        assert!(informer.is_stopped() && other.is_running());
        assert_eq!(factory.health().len(), 1);
        let again = factory.informer::<ConfigMap>(CONFIG_MAPS, options());
        assert!(again.lister().is_empty() && !informer.lister().is_empty());
        let synced = factory.synced(Instant::now() + Duration::from_secs(60));
        synced.await.unwrap();
        assert_eq!(again.lister().len(), 1);
        stop.cancel();
    });
    server.shutdown().await;
}

/// SI-15. In client-go "started" stays true, and who has stopped is done for.
#[tokio::test]
async fn an_informer_says_whether_it_runs() {
    let bed = Bed::new(Streaming::Auto, &[]).await;
    let flags = || (bed.informer.is_running(), bed.informer.is_stopped());
    assert_eq!(flags(), (false, false));
    for run in 1..=2 {
        bed.play(async {
            bed.listed(run).await;
            assert_eq!(flags(), (true, false));
        })
        .await;
        assert_eq!(flags(), (false, true));
    }
    bed.close().await;
}

/// SI-25: a removal returns, whether the informer never ran, ran before or runs now.
#[tokio::test]
async fn a_handler_can_be_removed_in_every_state() {
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1)]).await;
        let heard = bed.listen();
        let add = || bed.informer.add_handler(heard.handler());
        soon(add().remove()).await;
        let before = add();
        bed.play(async {
            bed.listed(1).await;
            before.remove().await;
            let after = add();
            assert!(after.synced().await);
            after.remove().await;
        })
        .await;
        soon(add().remove()).await;
        assert_eq!(bed.informer.health().handlers.len(), 1);
        bed.close().await;
    }
}

/// SI-07: a refusal is told within a second, with verb, resource and namespace.
#[tokio::test]
async fn a_refused_list_is_told_at_once() {
    for way in WAYS {
        let server = SimApiServer::builder().start().await.unwrap();
        server.faults().add(denied());
        let factory = SharedInformerFactory::new(client(&server));
        let options = WatchOptions::new(Scope::Namespace("shop".into())).streaming(way);
        let informer = factory.informer::<Secret>(SECRETS, options);
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            let mut status = informer.status();
            let told = status.wait_for(|now| now.denied().is_some());
            let told = tokio::time::timeout(Duration::from_secs(1), told).await;
            let told = told.expect("within a second").unwrap().clone();
            let denied = told.denied().unwrap();
            assert!(denied.message.contains("cannot list"), "{way:?}");
            assert_eq!(denied.target.resource, "secrets");
            assert_eq!(denied.target.namespace.as_deref(), Some("shop"));
            assert_eq!(denied.verb, Verb::List, "{way:?}");
            assert!(!told.synced && matches!(told.state, State::BackingOff { .. }));
            stop.cancel();
        });
        server.shutdown().await;
    }
}

/// SI-29: nobody to wait for, all well, one that is refused, all that are silent, and a stop.
/// The error names who is missing and why.
#[tokio::test]
async fn who_waits_for_caches_is_told_which_are_missing() {
    let server = SimApiServer::builder().start().await.unwrap();
    let options = || watch_options(Streaming::Auto);
    let factory = || {
        let factory = SharedInformerFactory::new(client(&server));
        factory.informer::<ConfigMap>(CONFIG_MAPS, options());
        factory.informer::<Secret>(SECRETS, options());
        factory
    };
    let within = |millis| Instant::now() + Duration::from_millis(millis);
    let words = |error: NotSynced| (error.to_string(), error.why);

    let nobody = SharedInformerFactory::new(client(&server));
    nobody.synced(within(0)).await.unwrap();

    let all = factory();
    let stop = CancellationToken::new();
    tokio::join!(all.run(stop.clone()), async {
        all.synced(within(60_000)).await.unwrap();
        all.synced(within(0)).await.unwrap();
        stop.cancel();
    });

    let (one, stop) = (factory(), CancellationToken::new());
    let rule = server.faults().add(denied());
    tokio::join!(one.run(stop.clone()), async {
        let mut status = one.informer::<Secret>(SECRETS, options()).status();
        let told = status.wait_for(|now| now.denied().is_some());
        soon(told).await.unwrap();
        let (text, why) = words(one.synced(within(100)).await.unwrap_err());
        assert_eq!(why, WhyNotSynced::Deadline);
        insta::assert_snapshot!(text, @r#"secrets (secrets is forbidden: User "ana" cannot list resource "secrets") not synced: the deadline has passed"#);
        stop.cancel();
    });
    server.faults().remove(rule);

    let (silent, stop) = (factory(), CancellationToken::new());
    let rule = server.faults().add(Rule::new(Action::Hang));
    tokio::join!(silent.run(stop.clone()), async {
        let (text, _) = words(silent.synced(within(50)).await.unwrap_err());
        assert_eq!(
            text,
            "configmaps, secrets not synced: the deadline has passed"
        );
        stop.cancel();
        let (text, why) = words(soon(silent.synced(within(60_000))).await.unwrap_err());
        assert_eq!(why, WhyNotSynced::Stopped);
        assert_eq!(
            text,
            "configmaps, secrets not synced: stopped before the first list"
        );
    });
    server.faults().remove(rule);
    server.shutdown().await;
}
