use controller_core::watch::Streaming;
use http::HeaderValue;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::server::{Server, first_watch};
use crate::time::simulated;
use crate::watch_of::Informed;

/// RF-26: a server that answers even the first list in pages has no watch cache: a list in one
/// piece would be dear for it, so that later ones are read in pages, too.
#[test]
fn a_server_without_a_watch_cache_is_asked_for_pages_for_ever() {
    simulated(async {
        let server = Server::start().await;
        let faults = server.faults();
        let mut version = String::new();
        for name in ["a", "b", "c"] {
            version = server.put(name, "1").await;
        }
        for (nth, name, next) in [(1, "a", "C1"), (2, "b", "C2"), (3, "c", "")] {
            let item = server.sim().object("configmaps", "shop", name);
            let page = json!({
                "kind": "ConfigMapList", "apiVersion": "v1",
                "metadata": {"resourceVersion": version, "continue": next},
                "items": [item],
            });
            let json = HeaderValue::from_static("application/json");
            let page = Action::status(200).body(json, page.to_string());
            faults.add(Rule::new(page).verb(Verb::List).attempts(nth));
        }
        let expired = Action::expired_in_stream;
        faults.add(first_watch(Streaming::Never, 3, 0, expired));
        let informed = Informed::start(&server, server.options(Streaming::Never));
        informed.status_until(|now| now.lists == 2).await;
        assert_eq!(
            server.asked()[..5],
            [
                "list rv=0 limit=500",
                "list next limit=500",
                "list next limit=500",
                &format!("watch rv={version}"),
                &format!("list rv={version} limit=500"),
            ]
        );
        assert_eq!(informed.cached().len(), 3);
        informed.stop().await;
        server.stop().await;
    });
}
