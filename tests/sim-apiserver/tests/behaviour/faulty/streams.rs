//! Bodies that are cut, broken or rearranged.

use std::time::Duration;

use faults::{Action, Place, Rule, Verb};
use http::StatusCode;
use sim_apiserver::{SimApiServer, faults};
use tokio::time::{Instant, timeout};

use super::with;
use crate::client::{Client, DEPLOYMENTS, deployment};

/// C-05
#[tokio::test]
async fn a_watch_is_cut_after_its_events_cleanly_or_with_a_reset() {
    for (cut, clean) in [
        (Action::cut_after_events(2), true),
        (Action::cut_after_events(2).with_reset(), false),
    ] {
        let server = with(Rule::new(cut).verb(Verb::Watch)).await;
        for name in ["a", "b", "c"] {
            server.seed(deployment(name, 1));
        }
        for client in Client::both(&server) {
            let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
            assert!(watch.told().await.starts_with("ADDED a"));
            assert!(watch.told().await.starts_with("ADDED b"));
            assert_eq!(watch.told().await, "end");
            assert_eq!(watch.error.is_none(), clean, "{:?}", watch.error);
        }
        server.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watch_is_cut_after_its_time() {
    let server =
        with(Rule::new(Action::cut_after(Duration::from_secs(50))).verb(Verb::Watch)).await;
    for client in Client::both(&server) {
        let started = Instant::now();
        let path = format!(
            "{DEPLOYMENTS}?watch=1&resourceVersion={}",
            server.revision()
        );
        let mut watch = client.watch(&path).await;
        assert_eq!(watch.told().await, "end");
        assert_eq!(started.elapsed().as_secs(), 50);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_line_is_truncated_in_its_middle() {
    let server = with(Rule::new(Action::truncate_after_events(1)).verb(Verb::Watch)).await;
    server.seed(deployment("x", 1));
    for client in Client::both(&server) {
        let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
        assert!(watch.told().await.starts_with("ADDED web"));
        assert_eq!(watch.line().await, None);
        assert_eq!(watch.error, None, "the stream itself ends well");
        let rest = watch.rest();
        assert!(
            rest.starts_with(r#"{"type":"ADDED""#) && !rest.ends_with('}'),
            "{rest}"
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_list_is_truncated_too() {
    let server = with(Rule::new(Action::truncate_after_events(0)).verb(Verb::List)).await;
    for client in Client::both(&server) {
        let list = client.get(DEPLOYMENTS).await;
        assert_eq!(list.status, StatusCode::OK);
        assert!(list.text.starts_with(r#"{"kind":"DeploymentList""#));
        assert!(serde_json::from_str::<serde_json::Value>(&list.text).is_err());
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_half_open_watch_says_nothing_more() {
    let server = with(Rule::new(Action::half_open_after_events(1)).verb(Verb::Watch)).await;
    for client in Client::both(&server) {
        let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
        assert!(watch.told().await.starts_with("ADDED web"));
        server.mutate("deployments", "shop", "web", |web| {
            web["spec"]["replicas"] = 2.into();
        });
        assert!(
            timeout(Duration::from_secs(3600), watch.told())
                .await
                .is_err()
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_malformed_line_stands_between_good_ones() {
    let server = with(Rule::new(Action::malformed(1, "{\"type\":")).verb(Verb::Watch)).await;
    server.seed(deployment("x", 1));
    server.seed(deployment("y", 1));
    for client in Client::both(&server) {
        let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
        assert!(watch.told().await.starts_with("ADDED web"));
        assert_eq!(watch.line().await.unwrap(), "{\"type\":");
        assert!(watch.told().await.starts_with("ADDED y"), "x was replaced");
    }
    server.shutdown().await;
}

/// A server on whose watches of Deployments something goes wrong, with the Deployments a, b and c.
async fn abc(action: Action) -> SimApiServer {
    let rule = Rule::new(action).verb(Verb::Watch).resource("deployments");
    let server = SimApiServer::builder().faults(rule).start().await.unwrap();
    crate::client::add_shop(&server);
    for name in ["a", "b", "c"] {
        server.seed(deployment(name, 1));
    }
    server
}

/// C-05: what a client is told is not what happened, and nothing in the stream says so.
#[tokio::test]
async fn events_are_dropped_repeated_and_out_of_order() {
    for (action, expected) in [
        (Action::dropped(1), ["a", "c", "end"]),
        (Action::duplicated(0), ["a", "a", "b"]),
        (Action::reordered(0), ["b", "a", "c"]),
    ] {
        let rule = action.clone();
        let server = abc(rule).await;
        for client in Client::both(&server) {
            let mut watch = client
                .watch(&format!("{DEPLOYMENTS}?watch=1&timeoutSeconds=1"))
                .await;
            let mut names = Vec::new();
            while names.len() < expected.len() {
                let told = watch.told().await;
                let name = told.split(' ').nth(1).unwrap_or(&told);
                names.push(name.to_owned());
            }
            assert_eq!(names, expected, "{action:?}");
        }
        server.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_event_does_not_hit_a_bookmark() {
    let server = abc(Action::dropped(Place::events(0))).await;
    for client in Client::both(&server) {
        let from = server.revision();
        let path = format!("{DEPLOYMENTS}?watch=1&allowWatchBookmarks=1&resourceVersion={from}");
        let mut watch = client.watch(&path).await;
        assert!(watch.told().await.starts_with("BOOKMARK"));
        for replicas in [2, 3] {
            server.mutate("deployments", "shop", "a", |a| {
                a["spec"]["replicas"] = replicas.into();
            });
        }
        let newest = server.revision();
        let told = watch.told().await;
        assert_eq!(told, format!("MODIFIED a {newest}"));
        server.mutate("deployments", "shop", "a", |a| {
            a["spec"]["replicas"] = 1.into();
        });
    }
    server.shutdown().await;
}

#[tokio::test]
async fn an_oversized_line_says_the_same() {
    const LONG: usize = 20 * 1024 * 1024;
    let server = abc(Action::oversized(1, LONG)).await;
    for client in Client::both(&server) {
        let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
        assert!(watch.told().await.starts_with("ADDED a"));
        let line = watch.line().await.unwrap();
        assert_eq!(line.len(), LONG);
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(event["object"]["metadata"]["name"], "b");
        assert!(watch.told().await.starts_with("ADDED c"));
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_watch_takes_its_time() {
    let server = abc(Action::slow(100, Duration::from_secs(1))).await;
    for client in Client::both(&server) {
        let started = Instant::now();
        let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
        let mut bytes = 0;
        for _ in 0..3 {
            bytes += watch.line().await.unwrap().len() + 1;
        }
        let seconds = bytes.div_ceil(100) - 1;
        assert_eq!(started.elapsed(), Duration::from_secs(seconds as u64));
    }
    server.shutdown().await;
}
