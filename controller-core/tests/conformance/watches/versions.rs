use std::cmp::Ordering;

use controller_core::watch::{ListError, Streaming, compare_resource_versions};
use http::HeaderValue;
use serde_json::json;
use sim_apiserver::faults::{Action, Place, Rule};

use crate::requests::{assert_waits, first_list, later_list, of_list_and_watch, plain_watch};
use crate::server::{Server, event_of_first_watch, first_watch, lists, nth_watch};
use crate::time::in_both_ways;
use crate::watch_of::Informed;

/// RW-01: "" and `0` are questions and no versions. A list that answers with one of them is an
/// error, and no watch starts from it.
#[test]
fn no_watch_starts_from_a_list_without_a_version() {
    for version in ["", "0"] {
        in_both_ways(async |streaming| {
            let server = Server::start().await;
            let real = server.put("a", "1").await;
            let metadata = json!({"resourceVersion": version,
                                  "annotations": {"k8s.io/initial-events-end": "true"}});
            let without = match streaming {
                Streaming::Auto => {
                    let object = json!({"kind": "ConfigMap", "apiVersion": "v1",
                                        "metadata": metadata});
                    let line = json!({"type": "BOOKMARK", "object": object}).to_string();
                    Action::malformed(Place::bookmarks(0), line)
                }
                Streaming::Never => {
                    let list = json!({"kind": "ConfigMapList", "apiVersion": "v1",
                                      "metadata": {"resourceVersion": version}, "items": []});
                    let json = HeaderValue::from_static("application/json");
                    Action::status(200).body(json, list.to_string()).into()
                }
            };
            let without = lists(streaming, Rule::new(without)).attempts(1);
            server.faults().add(without);
            let informed = Informed::start(&server, server.options(streaming));
            let now = informed.status_until(|now| now.error.is_some()).await;
            let error = now.error.unwrap();
            assert!(matches!(*error, ListError::NoVersion), "{error:?}");
            assert!(!informed.informer.has_synced());
            informed.holds(&[("a", "1")]).await;
            informed.watching().await;
            let asked = server.asked();
            assert_eq!(asked[..2], vec![first_list(streaming); 2]);
            assert_eq!(asked.len(), 1 + of_list_and_watch(streaming));
            if streaming == Streaming::Never {
                assert_eq!(asked[2], plain_watch(&real));
            }
            assert_waits(&server.pauses()[..1], &[0.8]);
            informed.stop().await;
            server.stop().await;
        });
    }
}

/// RW-03: what the list held already and the watch tells again is skipped.
#[test]
fn an_event_that_is_told_twice_is_heard_once() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        let twice = Action::duplicated;
        server
            .faults()
            .add(event_of_first_watch(streaming, 1, 0, twice));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        server.put("a", "2").await;
        server.put("b", "1").await;
        informed.holds(&[("a", "2"), ("b", "1")]).await;
        informed.heard.until(3).await;
        assert_eq!(
            informed.heard.words(),
            ["initial a", "updated a", "added b"]
        );
        assert_eq!(informed.watching().await.lists, 1);
        informed.stop().await;
        server.stop().await;
    });
}

/// RW-03: what is older than the list is not heard at all. It means that this server's history
/// is not the one that was seen, so a list finds out.
#[test]
fn an_event_older_than_the_list_is_not_heard_and_leads_to_a_list() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        let old = server.put("a", "old").await;
        let uid = server.sim().object("configmaps", "shop", "a").unwrap();
        let version = server.put("a", "new").await;
        let mut object = server.config_map("a", "old");
        object["metadata"]["uid"] = uid["metadata"]["uid"].clone();
        object["metadata"]["resourceVersion"] = old.into();
        let old = json!({"type": "MODIFIED", "object": object}).to_string();
        let in_place = |at: Place| Action::malformed(at, old.clone());
        server
            .faults()
            .add(event_of_first_watch(streaming, 1, 0, in_place));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        let seen = version;
        server.put("b", "1").await;
        informed.holds(&[("a", "new"), ("b", "1")]).await;
        informed.heard.until(2).await;
        assert_eq!(informed.heard.words(), ["initial a", "added b"]);
        let at = of_list_and_watch(streaming);
        assert_eq!(server.asked()[at], later_list(streaming, &seen));
        assert_eq!(informed.informer.lister().counts().stale(), 1);
        informed.stop().await;
        server.stop().await;
    });
}

/// RV-01: both are numbers without a leading zero, of any length, or they do not compare.
#[test]
fn versions_compare_as_numbers_of_any_length_or_not_at_all() {
    let long = "9".repeat(40);
    let longer = format!("1{}", "0".repeat(40));
    for (a, b, expected) in [
        ("1", "1", Some(Ordering::Equal)),
        ("2", "10", Some(Ordering::Less)),
        ("100", "99", Some(Ordering::Greater)),
        (
            "18446744073709551615",
            "18446744073709551616",
            Some(Ordering::Less),
        ),
        (&long, &longer, Some(Ordering::Less)),
        (&longer, &long, Some(Ordering::Greater)),
        (&long, &long, Some(Ordering::Equal)),
        ("", "1", None),
        ("1", "", None),
        ("0", "1", None),
        ("1", "0", None),
        ("01", "1", None),
        ("1", "1a", None),
        ("-1", "1", None),
        (" 1", "1", None),
        ("１", "1", None),
        ("a", "a", None),
    ] {
        assert_eq!(compare_resource_versions(a, b), expected, "{a:?} {b:?}");
    }
}

/// RV-01: from one number of digits to the next nothing is taken for old.
#[test]
fn a_version_with_one_more_digit_is_news() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.sim().set_next_revision(98);
        server.put("a", "0").await;
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        for value in ["1", "2", "3"] {
            server.put("a", value).await;
            informed.holds(&[("a", value)]).await;
        }
        let versions = informed.heard.notes();
        let versions: Vec<_> = versions.iter().map(|it| it.version.as_str()).collect();
        assert_eq!(versions, ["98", "99", "100", "101"]);
        assert_eq!(informed.informer.lister().counts().stale(), 0);
        informed.stop().await;
        server.stop().await;
    });
}

/// RV-01: versions that are no numbers compare only as equal or not: everything is news, and
/// nothing gets lost over a cut and an expiry.
#[test]
fn a_server_whose_versions_are_no_numbers_is_followed_all_the_same() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        let faults = server.faults();
        faults.add(Rule::new(Action::OpaqueRevisions));
        server.put("a", "1").await;
        server.put("b", "1").await;
        faults.add(first_watch(streaming, 2, 1, Action::cut_after_events));
        let expired = Rule::new(Action::expired_in_stream(1));
        faults.add(nth_watch(streaming, 2, expired));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        server.put("a", "2").await;
        informed.holds(&[("a", "2"), ("b", "1")]).await;
        server.put("c", "1").await;
        informed.status_until(|now| now.lists == 2).await;
        server.delete("b").await;
        informed.holds(&[("a", "2"), ("c", "1")]).await;
        let mut words = informed.heard.words();
        words[..2].sort();
        let expected = [
            "initial a",
            "initial b",
            "updated a",
            "added c",
            "deleted b",
        ];
        assert_eq!(words, expected);
        assert!(informed.heard.notes()[0].version.parse::<u64>().is_err());
        informed.stop().await;
        server.stop().await;
    });
}
