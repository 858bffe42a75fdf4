use std::time::Duration;

use controller_core::watch::Streaming;
use serde_json::json;
use sim_apiserver::faults::{Action, Place};
use tokio::time::sleep;

use crate::server::{Server, event_of_first_watch};
use crate::time::{in_both_ways, simulated};
use crate::watch_of::Informed;

/// RF-10: an object of another kind is refused, what is deleted goes, what is modified is
/// updated. client-go takes the version of the last event, 32 after 55; here what is older than
/// what was seen is no news, is told, and a list finds out what it means.
#[test]
fn events_are_applied_and_an_older_one_is_refused() {
    simulated(async {
        let server = Server::start().await;
        server.put("bar", "1").await;
        server.put("foo", "1").await;
        let service = json!({"type": "ADDED", "object": {
            "kind": "Service", "apiVersion": "v1",
            "metadata": {"name": "rejected", "namespace": "shop", "uid": "s", "resourceVersion": "50"},
        }});
        let mut baz = server.config_map("baz", "1");
        baz["metadata"]["resourceVersion"] = "32".into();
        baz["metadata"]["uid"] = "baz".into();
        let baz = json!({"type": "ADDED", "object": baz});
        let in_place = |at: Place| Action::malformed(at, service.to_string());
        let rule = event_of_first_watch(Streaming::Never, 2, 0, in_place);
        let rule = rule.then(Action::malformed(3, baz.to_string()));
        server.faults().add(rule);
        server.sim().set_next_revision(40);
        server.put("elsewhere", "1").await;
        server.delete("elsewhere").await;
        let informed = Informed::start(&server, server.options(Streaming::Never));
        informed.watching().await;
        server.put("foo", "2").await; // sent as the Service
        server.delete("foo").await;
        server.sim().set_next_revision(55);
        server.put("bar", "2").await;
        server.put("baz", "1").await; // sent as the one of version 32
        let status = informed.status_until(|now| now.error.is_some()).await;
        assert_eq!(
            status.error.clone().unwrap().to_string(),
            "the server answered with version 32, older than version 55 seen before"
        );
        let bar = ("bar".to_owned(), "2".to_owned());
        assert_eq!(informed.cached(), [bar]);
        assert_eq!(status.resource_version().as_deref(), Some("55"));

        informed.holds(&[("bar", "2"), ("baz", "1")]).await;
        let words = informed.heard.words();
        assert_eq!(words[2..], ["deleted foo", "updated bar", "added baz"]);
        assert_eq!(server.asked()[2], "list rv=55");
        informed.stop().await;
        server.stop().await;
    });
}

/// RF-32: the version follows each event and each bookmark, and the cache tells it, too.
#[test]
fn the_version_follows_events_and_bookmarks() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        let sim = server.sim();
        server.put("a", "1").await;
        sim.set_next_revision(10);
        sim.seed(json!({"apiVersion": "v1", "kind": "Secret",
                        "metadata": {"name": "s", "namespace": server.namespace()}}));
        let informed = Informed::start(&server, server.options(streaming));
        let status = informed.watching().await;
        let lister = informed.informer.lister();
        let seen = || {
            let told = status.resource_version().unwrap().to_string();
            assert_eq!(lister.resource_version().as_ref(), Some(&told));
            told
        };
        assert_eq!(seen(), "10");
        for (version, value) in [("20", "1"), ("30", "2")] {
            sim.set_next_revision(version.parse().unwrap());
            assert_eq!(server.put("b", value).await, version);
            informed.holds(&[("a", "1"), ("b", value)]).await;
            assert_eq!(seen(), version);
        }
        // Something else happens, and a bookmark says so.
        sim.set_next_revision(40);
        sim.mutate("secrets", server.namespace(), "s", |it| {
            it["type"] = json!("other");
        });
        while seen() != "40" {
            assert_eq!(seen(), "30");
            sleep(Duration::from_secs(1)).await;
        }
        sim.set_next_revision(50);
        server.delete("b").await;
        informed.holds(&[("a", "1")]).await;
        assert_eq!(seen(), "50");
        informed.stop().await;
        server.stop().await;
    });
}
