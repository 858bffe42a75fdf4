use captured_log::CapturedLog;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};
use tracing::Level;

use crate::server::Server;
use crate::time::in_both_ways;
use crate::watch_of::Informed;

/// kube-rs 4: one object of 500 holds what its type does not allow. It is told once and counted,
/// and the other 499 are there. Once it can be read it comes.
#[test]
fn one_object_of_500_that_cannot_be_read_hides_no_other() {
    in_both_ways(async |streaming| {
        let (log, _guard) = CapturedLog::start(Level::INFO);
        let server = Server::start().await;
        let good = (1..500).map(|n| server.config_map(&format!("a{n}"), "1"));
        server.sim().seed_all(good);
        let mut bad = server.config_map("bad", "1");
        bad["data"]["value"] = json!(["neither", "a", "text"]);
        server.sim().seed(bad);
        // Three lists, each of which meets it.
        let expired = Rule::new(Action::expired_in_stream(0)).verb(Verb::Watch);
        server
            .faults()
            .add(expired.without("sendInitialEvents").attempts(1..=2));
        let cut = Rule::new(Action::cut_after_events(501)).query("sendInitialEvents", "true");
        server.faults().add(cut);
        let informed = Informed::start(&server, server.options(streaming));
        assert!(informed.registration.synced().await);
        informed.status_until(|now| now.lists == 3).await;
        let lister = informed.informer.lister();
        assert_eq!((lister.len(), lister.quarantined()), (499, 1));
        assert_eq!(lister.quarantine()[0].key.name(), "bad");
        let notes = informed.heard.until_notes(|notes| notes.len() >= 499).await;
        assert!(
            notes.iter().all(|it| it.word == "initial"),
            "told once each"
        );
        let text = log.text();
        let told = text.lines().filter(|line| line.contains("shop/bad"));
        assert_eq!(told.count(), 1, "{text}");
        server.put("bad", "2").await;
        let notes = informed.heard.until_notes(|notes| notes.len() == 500).await;
        assert_eq!(notes[499].words(), "added bad");
        assert_eq!(lister.quarantined(), 0);
        informed.stop().await;
        server.stop().await;
    });
}
