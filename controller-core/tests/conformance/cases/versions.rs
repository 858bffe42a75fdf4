use std::time::Duration;

use controller_core::store::CaughtUp;
use sim_apiserver::faults::{Action, Rule};
use tokio::time::Instant;

use crate::server::{Server, nth_watch};
use crate::time::in_both_ways;
use crate::watch_of::Informed;

/// BX-27: of a server whose versions are no numbers nobody can tell, so nobody waits.
#[test]
fn nobody_waits_for_a_version_that_is_no_number() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.faults().add(Rule::new(Action::OpaqueRevisions));
        server.put("a", "1").await;
        let informed = Informed::start(&server, server.options(streaming));
        informed.holds(&[("a", "1")]).await;
        let lister = informed.informer.lister();
        let known = lister.resource_version().unwrap();
        assert_eq!(
            lister.caught_up(&known),
            CaughtUp::Yes,
            "it is the same one"
        );
        let start = Instant::now();
        let within = Duration::from_secs(60);
        let waited = lister.wait_for_version("another one", within).await;
        assert_eq!(waited, CaughtUp::Unknown);
        assert_eq!(start.elapsed(), Duration::ZERO);
        informed.stop().await;
        server.stop().await;
    });
}

/// BX-27: a write that was lost with a restore from a backup is not waited for.
#[test]
fn nobody_waits_for_a_version_of_a_history_that_is_no_more() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        let backup = server.put("a", "1").await.parse().unwrap();
        for value in ["2", "3", "4"] {
            server.put("a", value).await;
        }
        // The watch that is opened after the restore; as it is it would wait for the version.
        let expired = Rule::new(Action::Expired);
        server.faults().add(nth_watch(streaming, 2, expired));
        let informed = Informed::start(&server, server.options(streaming));
        informed.holds(&[("a", "4")]).await;
        informed.watching().await;
        let lister = informed.informer.lister();
        let waiting = lister.wait_for_version("1000000", Duration::from_secs(30));
        let (waited, ()) = tokio::join!(waiting, async {
            server.sim().restore(backup).unwrap();
            server.put("a", "5").await;
        });
        assert_eq!(waited, CaughtUp::Unknown);
        informed.holds(&[("a", "5")]).await;
        assert_eq!(lister.counts().restored(), 1);
        informed.stop().await;
        server.stop().await;
    });
}
