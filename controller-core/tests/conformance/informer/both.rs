use std::time::Duration;

use controller_core::client::Verb;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::watch::{State, Streaming};
use sim_apiserver::faults::{Action, Rule};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::heard::Heard;
use crate::server::{CONFIG_MAPS, Server, first_watch, lists};
use crate::time::in_both_ways;
use crate::watch_of::Informed;

/// The first watch expires at once, and the list after it waits until `changes` are made.
async fn behind_its_back(
    server: &Server,
    informed: &Informed,
    streaming: Streaming,
    changes: impl AsyncFn(),
) {
    let second_list = match streaming {
        Streaming::Auto => 2,
        Streaming::Never => 3,
    };
    server.asked_until(second_list).await;
    changes().await;
    informed.status_until(|now| now.lists >= 2).await;
}

/// CT-10, CT-13, FF-13: a handler is told what it missed: first what is gone, then what has
/// changed and what has come, none of it as initial.
#[test]
fn what_a_watch_missed_is_told_by_the_list_with_deletions_first() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        for name in ["pod1", "pod2", "pod3"] {
            server.put(name, "1").await;
        }
        let expired = first_watch(streaming, 3, Action::expired_in_stream);
        server.faults().add(expired);
        let late = Rule::new(Action::Delay(Duration::from_secs(3)));
        server.faults().add(lists(streaming, late).attempts(2));
        let informed = Informed::start(&server, server.options(streaming));
        behind_its_back(&server, &informed, streaming, async || {
            server.put("pod1", "4").await;
            server.put("pod2", "5").await;
            server.delete("pod3").await;
            server.put("pod4", "6").await;
        })
        .await;
        let expected = [
            "initial pod1",
            "initial pod2",
            "initial pod3",
            "vanished pod3",
            "updated pod1",
            "updated pod2",
            "added pod4",
        ];
        assert_eq!(informed.heard.until(7).await, expected);
        informed
            .holds(&[("pod1", "4"), ("pod2", "5"), ("pod4", "6")])
            .await;
        informed.stop().await;
        server.stop().await;
    });
}

/// SI-42, CT-11, FF-06: an empty list after an expired watch ends everything, once; the watch
/// that follows goes on from there.
#[test]
fn an_empty_list_after_an_expired_watch_ends_everything_once() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.put("secret1", "1").await;
        let expired = first_watch(streaming, 1, Action::expired_in_stream);
        server.faults().add(expired);
        let late = Rule::new(Action::Delay(Duration::from_secs(3)));
        server.faults().add(lists(streaming, late).attempts(2));
        let informed = Informed::start(&server, server.options(streaming));
        behind_its_back(&server, &informed, streaming, async || {
            server.delete("secret1").await;
        })
        .await;
        server.put("secret2", "2").await;
        let expected = ["initial secret1", "vanished secret1", "added secret2"];
        assert_eq!(informed.heard.until(3).await, expected);
        informed.holds(&[("secret2", "2")]).await;
        informed.stop().await;
        server.stop().await;
    });
}

/// SI-03, FF-26, kube-rs 5: nobody has synced while the list is under way; then each of three
/// handlers hears of everything, and of the deletion too.
#[test]
fn three_handlers_wait_for_a_late_list_and_hear_the_same() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.put("pod1", "1").await;
        server.put("pod2", "2").await;
        let late = Rule::new(Action::Delay(Duration::from_secs(1)));
        server.faults().add(lists(streaming, late).attempts(1));
        let informed = Informed::start(&server, server.options(streaming));
        let others = [Heard::default(), Heard::default()];
        let [second, third] = others.each_ref().map(Heard::handler);
        let second = informed.informer.add_handler(second);
        let third = informed.informer.add_handler(third);
        server.asked_until(1).await;
        assert!(!informed.informer.has_synced() && !second.has_synced());
        for registration in [&informed.registration, &second, &third] {
            assert!(registration.synced().await);
        }
        informed.watching().await;
        server.delete("pod1").await;
        for heard in others.iter().chain([&informed.heard]) {
            let expected = ["initial pod1", "initial pod2", "deleted pod1"];
            assert_eq!(heard.until(3).await, expected);
        }
        informed.stop().await;
        server.stop().await;
    });
}

/// SI-07: a refusal is told within a second, with verb, resource and namespace, and the informer
/// goes on trying.
#[test]
fn a_refused_list_is_told_within_a_second() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        let forbidden = Action::status(403).message("configmaps is forbidden");
        server.faults().add(Rule::new(forbidden));
        let begun = Instant::now();
        let informed = Informed::start(&server, server.options(streaming));
        let told = informed.status_until(|now| now.denied().is_some()).await;
        assert!(begun.elapsed() < Duration::from_secs(1));
        let denied = told.denied().unwrap();
        assert_eq!(
            (denied.verb, &*denied.target.resource),
            (Verb::List, "configmaps")
        );
        assert_eq!(denied.target.namespace.as_deref(), Some(server.namespace()));
        assert_eq!(denied.message, "configmaps is forbidden");
        assert!(!told.synced && matches!(told.state, State::BackingOff { .. }));
        informed.stop().await;
        server.stop().await;
    });
}

/// BX-17, SI-20: a second run goes on where the first one ended, and what went meanwhile is told.
#[test]
fn a_stopped_informer_may_run_again() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.put("pod1", "1").await;
        server.put("pod2", "2").await;
        let options = InformerOptions::new(server.options(streaming));
        let informer = SharedInformer::new(server.client(), CONFIG_MAPS, options);
        let heard = Heard::default();
        let registration = informer.add_handler(heard.handler());
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            assert!(registration.synced().await);
            stop.cancel();
        });
        assert!(informer.is_stopped());
        server.delete("pod1").await;
        server.put("pod2", "5").await;
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            let all = heard.until(4).await;
            let expected = [
                "initial pod1",
                "initial pod2",
                "vanished pod1",
                "updated pod2",
            ];
            assert_eq!(all, expected);
            stop.cancel();
        });
        server.stop().await;
    });
}
