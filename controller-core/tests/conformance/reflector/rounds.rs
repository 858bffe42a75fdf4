use std::time::Duration;

use controller_core::watch::{State, Streaming};
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::sleep;

use crate::server::{Server, watches};
use crate::time::simulated;
use crate::watch_of::Informed;

/// RF-14: six rounds of a failed list, a failed watch, and neither, in turn. Each failure is told
/// as what it is, and after each list the cache is what the server holds.
#[test]
fn each_failure_is_told_and_each_list_makes_the_cache_right() {
    simulated(async {
        let server = Server::start().await;
        let faults = server.faults();
        server.put("a", "0").await;
        // Each watch brings one event and then needs a list.
        faults.add(watches(Rule::new(Action::expired_in_stream(1))));
        let informed = Informed::start(&server, server.options(Streaming::Never));
        for round in 1..=6 {
            // Lists that are needed again within a minute are a failure of their own.
            sleep(Duration::from_secs(61)).await;
            let status = informed.watching().await;
            assert_eq!(status.error.as_ref().map(ToString::to_string), None);
            let lists = status.lists;
            faults.clear();
            faults.add(watches(Rule::new(Action::expired_in_stream(1))));
            let failure = match round % 3 {
                1 => Some(Rule::new(Action::status(500).message("no list")).verb(Verb::List)),
                2 => Some(watches(Rule::new(Action::status(404).message("no watch")))),
                _ => None,
            };
            if let Some(failure) = failure.clone() {
                faults.clear();
                faults.add(failure.attempts(1));
                faults.add(watches(Rule::new(Action::expired_in_stream(1))));
            }
            // The watch that is open was judged before.
            let value = round.to_string();
            server.put("a", &value).await;
            if failure.is_some() {
                let failed = |state: &State| matches!(state, State::BackingOff { .. });
                let status = informed
                    .status_until(|now| failed(&now.state) && now.error.is_some())
                    .await;
                let why = status.error.unwrap().to_string();
                let expected = ["", "no list", "no watch"][round % 3];
                assert!(why.contains(expected), "round {round}: {why}");
            }
            let extra = u64::from(round % 3 == 2);
            informed.status_until(|now| now.lists > lists + extra).await;
            informed.holds(&[("a", &value)]).await;
        }
        informed.stop().await;
        server.stop().await;
    });
}
