use std::time::Duration;

use controller_core::client::Verb;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::watch::State;
use sim_apiserver::faults::{Action, Rule};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::heard::Heard;
use crate::server::{CONFIG_MAPS, Server, lists};
use crate::time::anywhere;
use crate::watch_of::Informed;

/// SI-03, FF-26, kube-rs 5: nobody has synced while the list is under way; then each of three
/// handlers hears of everything, and of the deletion too.
#[test]
fn three_handlers_wait_for_a_late_list_and_hear_the_same() {
    anywhere(async |streaming| {
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
    anywhere(async |streaming| {
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
    anywhere(async |streaming| {
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
