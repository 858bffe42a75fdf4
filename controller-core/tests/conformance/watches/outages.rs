use std::time::Duration;

use controller_core::client::Scope;
use controller_core::watch::{Streaming, WatchOptions};
use sim_apiserver::faults::{Action, Rule};
use tokio::time::{Instant, sleep};

use crate::forwarder::Forwarder;
use crate::requests::assert_waits;
use crate::server::Server;
use crate::time::{in_both_ways, simulated};
use crate::watch_of::{Informed, Reflected};

/// BX-13: a server that is away for ten minutes is asked ever less often, up to the longest
/// wait, and from there on as seldom: no ramp starts over. Six clients do not come in step.
#[test]
fn ten_minutes_without_a_server_are_one_ramp_and_six_clients_are_not_in_step() {
    simulated(async {
        let server = Server::start().await;
        let away = server.faults().add(Rule::new(Action::Reset));
        let reflectors: Vec<_> = (0..6)
            .map(|n| {
                let scope = Scope::Namespace(format!("n{n}"));
                let options = WatchOptions::new(scope).streaming(Streaming::Never);
                Reflected::start(&server, options)
            })
            .collect();
        sleep(Duration::from_secs(600)).await;
        let requests = server.faults().requests();
        let mut tenths = Vec::new();
        for n in 0..6 {
            let namespace = format!("n{n}");
            let own = requests
                .iter()
                .filter(|it| it.info.namespace.as_ref() == Some(&namespace));
            let at: Vec<_> = own.map(|it| it.at).collect();
            let pauses = at.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
            let pauses: Vec<_> = pauses.collect();
            assert!((22..45).contains(&pauses.len()), "{}", pauses.len());
            let mut floors = vec![0.8, 1.6, 3.2, 6.4, 12.8];
            floors.resize(pauses.len(), 15.0);
            assert_waits(&pauses, &floors);
            tenths.push(at[9] - at[0]);
        }
        tenths.sort_unstable();
        // Each is the sum of nine pauses that differ by chance, by some ten seconds in all: that all
        // six come within one happens once in three million runs.
        let apart = tenths[5] - tenths[0];
        assert!(apart > Duration::from_secs(1), "in step: {tenths:?}");
        tenths.dedup();
        assert!(tenths.len() > 3, "in step: {tenths:?}");

        server.faults().remove(away);
        for reflected in reflectors {
            let now = reflected.status_until(|now| now.synced).await;
            assert!(now.error.is_none());
            reflected.stop().await;
        }
        server.stop().await;
    });
}

/// kube-rs 17: a minute of refused connections is a handful of attempts, below HTTP too, and
/// not a second longer than the last wait is the client away.
#[test]
fn a_minute_of_refused_connections_is_a_handful_of_attempts() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        let forwarder = Forwarder::start(server.sim().address()).await;
        let server = server.reached_by(forwarder.address());
        server.put("a", "1").await;
        forwarder.refuse(true);
        let informed = Informed::start(&server, server.options(streaming));
        sleep(Duration::from_secs(60)).await;
        let attempts = forwarder.accepted();
        // A stream that breaks for the second time is followed by a list at once.
        let most = match streaming {
            Streaming::Auto => 16,
            Streaming::Never => 8,
        };
        assert!((4..=most).contains(&attempts), "{attempts}");
        forwarder.refuse(false);
        let back = Instant::now();
        informed.holds(&[("a", "1")]).await;
        assert!(back.elapsed() < Duration::from_secs(31));
        informed.stop().await;
        server.stop().await;
    });
}
