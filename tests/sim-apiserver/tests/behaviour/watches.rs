//! Watches: what is told, when they end, how they start. Times are tokio's, and the clock is paused.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use tokio::time::Instant;

use crate::client::{Client, DEPLOYMENTS, add_shop, deployment, shop};

fn labelled(name: &str, labels: Value) -> Value {
    let mut object = deployment(name, 1);
    object["metadata"]["labels"] = labels;
    object
}

#[tokio::test]
async fn every_change_is_told_once_and_in_order() {
    let server = shop().await;
    for client in Client::both(&server) {
        let from = server.revision();
        let mut watch = client
            .watch(&format!("{DEPLOYMENTS}?watch=true&resourceVersion={from}"))
            .await;
        server.seed(deployment("web", 1));
        server.seed(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"}}));
        server.mutate("deployments", "shop", "web", |web| {
            web["spec"]["replicas"] = 2.into();
        });
        server.remove("deployments", "shop", "web");
        assert_eq!(watch.told().await, format!("ADDED web {}", from + 1));
        let modified = watch.event().await.unwrap();
        assert_eq!(
            (&modified["type"], &modified["object"]["spec"]["replicas"]),
            (&json!("MODIFIED"), &json!(2))
        );
        assert_eq!(modified["object"]["kind"], "Deployment");
        let deleted = watch.event().await.unwrap();
        assert_eq!(deleted["type"], "DELETED");
        assert_eq!(deleted["object"]["spec"]["replicas"], 2, "the last state");
        assert_eq!(
            deleted["object"]["metadata"]["resourceVersion"],
            (from + 4).to_string()
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_that_leaves_a_selector_is_deleted_with_its_previous_state() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = format!(
        "{DEPLOYMENTS}?watch=1&labelSelector=demo/min-replicas&resourceVersion={}",
        server.revision()
    );
    let mut watch = client.watch(&path).await;
    server.seed(labelled("other", json!({})));
    server.seed(labelled("web", json!({"demo/min-replicas": "true"})));
    server.mutate("deployments", "shop", "web", |web| {
        web["metadata"]["labels"] = json!({});
        web["spec"]["replicas"] = 5.into();
    });
    let left = server.revision();
    server.mutate("deployments", "shop", "web", |web| {
        web["spec"]["replicas"] = 6.into();
    });
    server.mutate("deployments", "shop", "web", |web| {
        web["metadata"]["labels"] = json!({"demo/min-replicas": "false"});
    });

    assert_eq!(watch.told().await, format!("ADDED web {}", left - 1));
    let deleted = watch.event().await.unwrap();
    assert_eq!(deleted["type"], "DELETED");
    assert_eq!(
        deleted["object"]["metadata"]["labels"],
        json!({"demo/min-replicas": "true"})
    );
    assert_eq!(deleted["object"]["spec"]["replicas"], 1);
    assert_eq!(
        deleted["object"]["metadata"]["resourceVersion"],
        left.to_string()
    );
    assert_eq!(
        watch.told().await,
        format!("ADDED web {}", left + 2),
        "it enters again"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_from_nowhere_begins_with_what_there_is() {
    let server = shop().await;
    server.seed(deployment("b", 1));
    server.seed(deployment("a", 1));
    let now = server.revision();
    for client in Client::both(&server) {
        for version in ["", "&resourceVersion=0"] {
            let mut watch = client
                .watch(&format!("{DEPLOYMENTS}?watch=1{version}"))
                .await;
            assert_eq!(watch.told().await, format!("ADDED a {now}"));
            assert_eq!(watch.told().await, format!("ADDED b {}", now - 1));
        }
    }
    server.shutdown().await;
}

#[tokio::test]
async fn expired_history_is_an_error_event_in_a_stream_of_200() {
    let server = shop().await;
    let then = server.revision();
    server.seed(deployment("web", 1));
    server.expire_history();
    for client in Client::both(&server) {
        let mut watch = client
            .watch(&format!("{DEPLOYMENTS}?watch=1&resourceVersion={then}"))
            .await;
        assert_eq!(watch.status, StatusCode::OK);
        let line = watch
            .line()
            .await
            .unwrap()
            .replace(&format!("{then} ({})", then + 1), "THEN (NOW)");
        insta::allow_duplicates! {
            insta::assert_snapshot!(line, @r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: THEN (NOW)","reason":"Expired","code":410}}"#);
        }
        assert_eq!(watch.told().await, "end");
        let mut fresh = client
            .watch(&format!(
                "{DEPLOYMENTS}?watch=1&resourceVersion={}",
                then + 1
            ))
            .await;
        server.mutate("deployments", "shop", "web", |_| {});
        assert_eq!(fresh.told().await, format!("MODIFIED web {}", then + 2));
    }
    server.shutdown().await;
}

#[tokio::test]
async fn expiry_does_not_disturb_a_watch_that_has_read_everything() {
    let server = shop().await;
    let client = Client::memory(&server);
    let mut watch = client
        .watch(&format!(
            "{DEPLOYMENTS}?watch=1&resourceVersion={}",
            server.revision()
        ))
        .await;
    server.seed(deployment("a", 1));
    assert_eq!(watch.told().await, format!("ADDED a {}", server.revision()));
    server.expire_history();
    server.seed(deployment("b", 1));
    assert_eq!(watch.told().await, format!("ADDED b {}", server.revision()));
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_cleanly_after_its_timeout() {
    let server = shop().await;
    for client in Client::both(&server) {
        let started = Instant::now();
        let path = format!(
            "{DEPLOYMENTS}?watch=1&timeoutSeconds=7&resourceVersion={}",
            server.revision()
        );
        let mut watch = client.watch(&path).await;
        assert_eq!(watch.told().await, "end");
        assert_eq!(watch.error, None);
        let lived = started.elapsed();
        assert!(
            lived >= Duration::from_secs(7) && lived < Duration::from_millis(7_100),
            "{lived:?}"
        );
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_at_their_interval_and_just_before_the_end() {
    let server = SimApiServer::builder()
        .bookmark_interval(Duration::from_secs(10))
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    let started = Instant::now();
    let from = server.revision();
    let path = format!(
        "{DEPLOYMENTS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=25&resourceVersion={from}"
    );
    let mut watch = client.watch(&path).await;
    let mut seen = Vec::new();
    // Something of another kind moves the version on: a bookmark tells so.
    server.seed(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"}}),
    );
    while let Some(event) = watch.event().await {
        assert_eq!(event["type"], "BOOKMARK");
        assert_eq!(
            event["object"]["metadata"]["resourceVersion"],
            (from + 1).to_string()
        );
        seen.push(started.elapsed().as_secs());
    }
    assert_eq!(seen, [10, 20, 23]);
    assert_eq!(started.elapsed().as_secs(), 25);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_is_an_empty_object_of_the_kind() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = format!(
        "{DEPLOYMENTS}?watch=1&allowWatchBookmarks=1&resourceVersion={}",
        server.revision()
    );
    let line = client.watch(&path).await.line().await.unwrap();
    let line = line.replace(&server.revision().to_string(), "NOW");
    insta::assert_snapshot!(line, @r#"{"type":"BOOKMARK","object":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"resourceVersion":"NOW"},"spec":{"replicas":0,"selector":null,"strategy":{},"template":{"metadata":{},"spec":{"containers":null}}},"status":{}}}"#);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_bookmarks_gets_none() {
    let server = shop().await;
    let path = format!(
        "{DEPLOYMENTS}?watch=1&timeoutSeconds=600&resourceVersion={}",
        server.revision()
    );
    assert_eq!(
        Client::memory(&server).watch(&path).await.told().await,
        "end"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_streaming_list_marks_the_end_of_the_initial_events() {
    let server = shop().await;
    server.seed(deployment("web", 1));
    let now = server.revision();
    let path = format!(
        "{DEPLOYMENTS}?watch=1&allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    );
    for client in Client::both(&server) {
        let mut watch = client.watch(&path).await;
        assert_eq!(watch.told().await, format!("ADDED web {now}"));
        let end = watch.event().await.unwrap();
        assert_eq!(end["type"], "BOOKMARK");
        assert_eq!(
            end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
            "true"
        );
        assert_eq!(
            end["object"]["metadata"]["resourceVersion"],
            now.to_string()
        );
    }
    let client = Client::memory(&server);
    let unmatched = client
        .get(&format!("{DEPLOYMENTS}?watch=1&sendInitialEvents=true"))
        .await;
    insta::assert_snapshot!(unmatched.refusal(), @r#"422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"#);
    let mut future = client.watch(&format!("{path}&resourceVersion=99999")).await;
    assert_eq!(future.status, StatusCode::OK);
    let refusal = future.event().await.unwrap();
    assert_eq!(refusal["type"], "ERROR");
    insta::assert_snapshot!(refusal["object"]["message"].as_str().unwrap(), @"Timeout: Too large resource version: 99999, current: 8");
    assert_eq!(future.told().await, "end");
    server.shutdown().await;
}

/// C-34
/// It sends what there is, as any watch from nowhere, and never says that this was all.
#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_streaming_lists_never_ends_one() {
    let server = SimApiServer::builder()
        .streaming_lists_ignored()
        .start()
        .await
        .unwrap();
    add_shop(&server);
    server.seed(deployment("web", 1));
    let path = format!(
        "{DEPLOYMENTS}?watch=1&allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    );
    let mut stream = Client::memory(&server).watch(&path).await;
    assert_eq!(stream.event().await.unwrap()["type"], "ADDED");
    let start = Instant::now();
    let bookmark = stream.event().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert!(bookmark["object"]["metadata"]["annotations"].is_null());
    assert!(
        start.elapsed() >= Duration::from_secs(30),
        "an ordinary one"
    );

    // With a version it is a watch from there.
    let now = server.revision();
    server.seed(deployment("late", 1));
    let mut stream = Client::memory(&server)
        .watch(&format!("{path}&resourceVersion={now}"))
        .await;
    assert_eq!(
        stream.event().await.unwrap()["object"]["metadata"]["name"],
        "late"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_without_streaming_lists_refuses_them_with_422() {
    let server = SimApiServer::builder()
        .streaming_lists(false)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let path =
        format!("{DEPLOYMENTS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    insta::assert_snapshot!(Client::socket(&server).get(&path).await.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled","reason":"Invalid","details":{"causes":[{"field":"sendInitialEvents","message":"Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled","reason":"FieldValueForbidden"}],"group":"meta.k8s.io","kind":"ListOptions"},"code":422}"#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_that_falls_too_far_behind_is_closed() {
    let server = SimApiServer::builder()
        .watch_buffer(3)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    let path = format!(
        "{DEPLOYMENTS}?watch=1&resourceVersion={}",
        server.revision()
    );
    let (mut slow, mut quick) = (client.watch(&path).await, client.watch(&path).await);
    for name in ["a", "b", "c"] {
        server.seed(deployment(name, 1));
    }
    assert!(quick.told().await.starts_with("ADDED a"));
    server.seed(deployment("d", 1));
    for name in ["b", "c", "d"] {
        assert!(quick.told().await.starts_with(&format!("ADDED {name}")));
    }
    assert_eq!(slow.told().await, "end");
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_may_start_at_a_version_that_is_still_to_come() {
    let server = shop().await;
    let client = Client::memory(&server);
    let future = server.revision() + 1;
    let mut watch = client
        .watch(&format!("{DEPLOYMENTS}?watch=1&resourceVersion={future}"))
        .await;
    server.seed(deployment("a", 1));
    server.seed(deployment("b", 1));
    assert_eq!(watch.told().await, format!("ADDED b {}", future + 1));
    insta::assert_snapshot!(client.get(&format!("{DEPLOYMENTS}?watch=1&resourceVersion=x")).await.refusal(), @r#"500 : resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax"#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_table_watch_names_its_columns_once() {
    let server = shop().await;
    server.seed(deployment("web", 1));
    let service = Client::memory(&server);
    let headers = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let response = service
        .send("GET", &format!("{DEPLOYMENTS}?watch=1"), &headers, "")
        .await
        .unwrap();
    let mut watch = crate::client::Watch::new(response);
    let first = watch.event().await.unwrap();
    server.mutate("deployments", "shop", "web", |web| {
        web["spec"]["replicas"] = 2.into();
    });
    let second = watch.event().await.unwrap();
    assert_eq!(first["object"]["kind"], "Table");
    assert!(first["object"]["columnDefinitions"].is_array());
    assert_eq!(second["object"]["columnDefinitions"], Value::Null);
    assert_eq!(second["object"]["rows"][0]["cells"][1], "0/2");
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_that_is_removed_silently_is_no_event() {
    let server = shop().await;
    server.seed(deployment("a", 1));
    let client = Client::memory(&server);
    let mut watch = client
        .watch(&format!(
            "{DEPLOYMENTS}?watch=1&resourceVersion={}",
            server.revision()
        ))
        .await;
    assert!(server.remove_silently("deployments", "shop", "a"));
    server.set_next_revision(5_000);
    server.seed(deployment("b", 1));
    assert_eq!(watch.told().await, "ADDED b 5000");
    assert_eq!(
        client.get(&format!("{DEPLOYMENTS}/a")).await.status,
        StatusCode::NOT_FOUND
    );
    server.shutdown().await;
}
