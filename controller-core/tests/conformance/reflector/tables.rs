use controller_core::watch::Streaming;
use http::HeaderValue;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule};

use crate::server::{Server, first_watch, lists};
use crate::time::in_both_ways;
use crate::watch_of::Informed;

/// RF-35: a 200 that holds no list of the kind is refused, whatever it is, and changes nothing:
/// a Table in any of its versions, one object, a list of something else.
#[test]
fn what_is_no_list_of_the_kind_changes_nothing() {
    in_both_ways(async |streaming| {
        for (api_version, kind) in [
            ("meta.k8s.io/v1", "Table"),
            ("meta.k8s.io/v1beta1", "Table"),
            ("custom.group/v1", "Table"),
            ("v1", "Pod"),
            ("v1", "SecretList"),
        ] {
            let server = Server::start().await;
            server.put("a", "1").await;
            let other = json!({"kind": kind, "apiVersion": api_version,
                               "metadata": {"resourceVersion": "9999"}, "rows": [], "items": []});
            let json = HeaderValue::from_static("application/json");
            let other = Action::status(200).body(json, other.to_string());
            let faults = server.faults();
            let expired = Action::expired_in_stream;
            faults.add(first_watch(streaming, 1, 0, expired));
            faults.add(lists(streaming, Rule::new(other)).attempts(2));
            let informed = Informed::start(&server, server.options(streaming));
            let status = informed.status_until(|now| now.error.is_some()).await;
            let why = status.error.unwrap().to_string();
            let expected = match streaming {
                Streaming::Never => kind,
                // A stream of it is one that ends before it is complete.
                Streaming::Auto => "cut short",
            };
            let expired = "too old resource version";
            assert!(why.contains(expected) || why.contains(expired), "{why}");
            let told = informed
                .status_until(|now| {
                    let why = now.error.as_ref().map(ToString::to_string);
                    why.is_some_and(|why| why.contains(expected))
                })
                .await;
            assert_eq!(told.lists, 1);
            informed.status_until(|now| now.lists == 2).await;
            server.put("b", "1").await;
            informed.holds(&[("a", "1"), ("b", "1")]).await;
            assert_eq!(informed.heard.words(), ["initial a", "added b"]);
            informed.stop().await;
            server.stop().await;
        }
    });
}
