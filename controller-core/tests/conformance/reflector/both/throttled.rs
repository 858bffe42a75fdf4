use std::time::Duration;

use sim_apiserver::faults::{Action, Rule};

use crate::server::{Server, first_watch, nth_watch, watches};
use crate::time::anywhere;
use crate::watch_of::Informed;

const TOO_MANY: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"try again later","reason":"TooManyRequests","code":429}}"#;

/// RF-18: 429 when the watch is opened, then 429 as an event: each costs a wait and no list. No
/// wait is shorter than what the server asks for.
#[test]
fn a_watch_that_is_throttled_waits_each_time_and_never_lists() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        let faults = server.faults();
        // One event, so that the end of the first watch is no reason to wait.
        faults.add(first_watch(streaming, 0, 1, Action::cut_after_events));
        let refused = Rule::new(Action::status(429).retry_after(3));
        faults.add(nth_watch(streaming, 2, refused));
        let told = Rule::new(Action::malformed(0, TOO_MANY));
        faults.add(nth_watch(streaming, 3, told));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        server.put("a", "1").await;
        informed.holds(&[("a", "1")]).await;
        informed.status_until(|now| now.watches == 2).await;
        server.put("b", "1").await;
        let status = informed.status_until(|now| now.watches == 3).await;
        assert_eq!((status.lists, status.failures), (1, 2));
        informed.holds(&[("a", "1"), ("b", "1")]).await;

        let asked = server.asked();
        let first = asked.len() - 4;
        let pauses = server.pauses().split_off(first);
        assert!((3.0..4.0).contains(&pauses[1]), "{pauses:?}");
        assert!(pauses[2] >= 1.6, "{pauses:?}");
        informed.stop().await;
        server.stop().await;
    });
}

/// RF-19: four watches are refused with 429, the fifth is open: one list in all.
#[test]
fn four_throttled_watches_cost_no_list() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        let faults = server.faults();
        faults.add(first_watch(streaming, 0, 1, Action::cut_after_events));
        let throttled = watches(Rule::new(Action::status(429)));
        let after = u64::from(streaming == controller_core::watch::Streaming::Never);
        faults.add(throttled.attempts(after + 1..=after + 4));
        let quick = Duration::from_millis(50);
        let options = server.options(streaming).backoff(quick, 4 * quick);
        let informed = Informed::start(&server, options);
        informed.watching().await;
        server.put("a", "1").await;
        let status = informed.status_until(|now| now.failures == 4).await;
        let why = status.error.unwrap().to_string();
        assert!(why.contains("429"), "{why}");
        let status = informed.status_until(|now| now.watches == 2).await;
        assert_eq!((status.lists, status.failures), (1, 4));
        server.put("b", "1").await;
        informed.holds(&[("a", "1"), ("b", "1")]).await;
        let asked = server.asked();
        let watches = asked.iter().filter(|it| it.starts_with("watch")).count();
        assert_eq!(watches as u64, after + 5, "{asked:?}");
        informed.stop().await;
        server.stop().await;
    });
}
