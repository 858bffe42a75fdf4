use controller_core::watch::Streaming;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Place, Rule};

use crate::requests::first_list;
use crate::server::{Server, lists};
use crate::time::simulated;
use crate::watch_of::Informed;

fn line(kind: &str, object: &Value) -> String {
    json!({"type": kind, "object": object}).to_string()
}

/// What a server sends when the list is complete, if `ends` is "true".
fn end_of_list(version: u64, ends: &str) -> String {
    let annotations = json!({"k8s.io/initial-events-end": ends});
    let metadata = json!({"resourceVersion": version.to_string(), "annotations": annotations});
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata});
    line("BOOKMARK", &object)
}

/// WL-01: a list is streamed where the server offers it and nobody forbids it, and otherwise
/// it is not.
#[test]
fn a_list_is_streamed_if_both_sides_want_it() {
    for (offered, wanted, first) in [
        (true, Streaming::Auto, vec!["stream rv="]),
        (true, Streaming::Never, vec!["list rv=0 limit=500"]),
        (
            false,
            Streaming::Auto,
            vec!["stream rv=", "list rv=0 limit=500"],
        ),
        (false, Streaming::Never, vec!["list rv=0 limit=500"]),
    ] {
        simulated(async {
            let builder = SimApiServer::builder().streaming_lists(offered);
            let server = Server::of(builder).await;
            server.put("p1", "1").await;
            let informed = Informed::start(&server, server.options(wanted));
            informed.holds(&[("p1", "1")]).await;
            informed.watching().await;
            let asked = server.asked();
            assert_eq!(asked[..first.len()], first, "{offered} {wanted:?}");
            informed.stop().await;
            server.stop().await;
        });
    }
}

/// WL-10: what comes, changes and goes while a list is being streamed is a part of the list.
#[test]
fn changes_within_a_streamed_list_are_a_part_of_it() {
    simulated(async {
        let server = Server::start().await;
        server.put("p1", "1").await;
        let last = server.put("p2", "1").await.parse::<u64>().unwrap();
        let object = |name: &str, value: &str, version: u64| {
            let mut object = server.config_map(name, value);
            object["metadata"]["resourceVersion"] = version.to_string().into();
            object["metadata"]["uid"] = name.into();
            object
        };
        let p1 = server.sim().object("configmaps", "shop", "p1").unwrap();
        let mut changed = object("p1", "2", last + 1);
        changed["metadata"]["uid"] = p1["metadata"]["uid"].clone();
        let lines = [
            line("MODIFIED", &changed),
            line("ADDED", &object("p3", "1", last + 2)),
            line("DELETED", &object("p3", "1", last + 3)),
            end_of_list(last + 3, "true"),
        ];
        let lines = Action::malformed(Place::bookmarks(0), lines.join("\n"));
        server
            .faults()
            .add(lists(Streaming::Auto, Rule::new(lines)));
        let informed = Informed::start(&server, server.options(Streaming::Auto));
        assert!(informed.registration.synced().await);
        informed.holds(&[("p1", "2"), ("p2", "1")]).await;
        let lister = informed.informer.lister();
        let version = (last + 3).to_string();
        assert_eq!(lister.resource_version(), Some(version));
        let mut words = informed.heard.words();
        words.sort();
        assert_eq!(words, ["initial p1", "initial p2"]);
        informed.stop().await;
        server.stop().await;
    });
}

/// WL-15: a bookmark that says "false" ends nothing, and moves no version on.
#[test]
fn a_bookmark_that_says_false_does_not_end_the_list() {
    simulated(async {
        let server = Server::start().await;
        let version = server.put("p1", "1").await;
        let not_yet = end_of_list(version.parse().unwrap(), "false");
        let not_yet = Action::malformed(Place::bookmarks(0), not_yet);
        server
            .faults()
            .add(lists(Streaming::Auto, Rule::new(not_yet)));
        let informed = Informed::start(&server, server.options(Streaming::Auto));
        let asked = server.asked_until(2).await;
        assert!(!informed.informer.has_synced());
        assert_eq!(informed.informer.lister().resource_version(), None);
        assert_eq!(asked[1], first_list(Streaming::Never));
        informed.holds(&[("p1", "1")]).await;
        informed.stop().await;
        server.stop().await;
    });
}
