use std::time::Duration;

use sim_apiserver::faults::{Action, Rule, Verb};

use super::waits::short;
use crate::server::Server;
use crate::time::anywhere;
use crate::watch_of::Reflected;

/// kube-rs 49: a watch from no version, or from `0`, is another thing: any state, which a server
/// with streaming lists turns into a list. None is ever sent, whatever goes wrong.
#[test]
fn every_plain_watch_names_a_real_version() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        let faults = server.faults();
        let watch = |action: Action| Rule::new(action).verb(Verb::Watch);
        faults.add(watch(Action::cut_after_events(0).into()).attempts(2));
        faults.add(watch(Action::Expired).attempts(3));
        faults.add(watch(Action::expired_in_stream(0)).attempts(5));
        faults.add(watch(Action::status(500).into()).attempts(7));
        faults.add(watch(Action::status(404).into()).attempts(8));
        faults.add(watch(Action::Reset).attempts(10));
        faults.add(watch(
            Action::cut_after(Duration::from_millis(300))
                .with_reset()
                .into(),
        ));
        let options = short(server.options(streaming));
        let reflected = Reflected::start(&server, options);
        for count in 1..20 {
            server.asked_until(count).await;
            server.put("a", &count.to_string()).await;
        }
        reflected.stop().await;
        let asked = server.asked();
        let watches = asked.iter().filter_map(|it| it.strip_prefix("watch rv="));
        let versions: Vec<&str> = watches.collect();
        assert!(versions.len() > 5, "{asked:?}");
        for version in versions {
            assert!(!matches!(version, "" | "0"), "{asked:?}");
        }
        server.stop().await;
    });
}
