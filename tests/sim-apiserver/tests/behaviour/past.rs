//! Stale endpoints: requests that are answered from an earlier revision. Times are tokio's.

use std::time::Duration;

use faults::{Action, Past, Rule, Verb};
use http::StatusCode;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use tokio::time::Instant;

use crate::client::{Client, DEPLOYMENTS, add_shop, deployment, shop};

/// A server with `web`, which then got two replicas, and `late`, which came after; returns what was in between.
async fn moved_on() -> (SimApiServer, u64) {
    let server = shop().await;
    server.seed(deployment("web", 1));
    let then = server.revision();
    scale(&server, 2);
    server.seed(deployment("late", 1));
    (server, then)
}

fn scale(server: &SimApiServer, replicas: i64) {
    assert!(server.mutate("deployments", "shop", "web", |web| {
        web["spec"]["replicas"] = replicas.into();
    }));
}

fn stale(past: Past) -> Rule {
    Rule::new(Action::AnswerFrom(past)).resource("deployments")
}

fn replicas(list: &Value) -> Vec<(&str, i64)> {
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| {
            let name = item["metadata"]["name"].as_str().unwrap();
            (name, item["spec"]["replicas"].as_i64().unwrap())
        })
        .collect()
}

#[tokio::test]
async fn an_object_is_shown_as_it_was() {
    let (server, then) = moved_on().await;
    server.faults().add(stale(Past::Revision(then)));
    server
        .faults()
        .add(Rule::new(Action::AnswerFrom(Past::Revision(then))).resource("deployments/scale"));
    for client in Client::both(&server) {
        let scale = client.get(&format!("{DEPLOYMENTS}/web/scale")).await.json();
        assert_eq!(scale["spec"]["replicas"], 1);
        let web = client.get(&format!("{DEPLOYMENTS}/web")).await.json();
        assert_eq!(web["spec"]["replicas"], 1);
        assert_eq!(web["metadata"]["resourceVersion"], then.to_string());
        let late = client.get(&format!("{DEPLOYMENTS}/late")).await;
        assert_eq!(late.status, StatusCode::NOT_FOUND);
        let namespace = client.get("/api/v1/namespaces/shop").await;
        assert_eq!(namespace.status, StatusCode::OK, "no rule is about it");
    }
    server.remove("deployments", "shop", "web");
    let client = Client::memory(&server);
    let gone = client.get(&format!("{DEPLOYMENTS}/web")).await.json();
    assert_eq!(gone["spec"]["replicas"], 1, "it was there");
    server.shutdown().await;
}

#[tokio::test]
async fn a_stale_list_shows_the_state_and_the_version_of_then() {
    let (server, then) = moved_on().await;
    server
        .faults()
        .add(stale(Past::Behind(2)).verb(Verb::List).attempts(1));
    let client = Client::memory(&server);
    let any = format!("{DEPLOYMENTS}?resourceVersion=0");
    let first = client.get(&any).await.json();
    assert_eq!(replicas(&first), [("web", 1)]);
    assert_eq!(first["metadata"]["resourceVersion"], then.to_string());
    let second = client.get(&any).await.json();
    assert_eq!(replicas(&second), [("late", 1), ("web", 2)]);
    assert_eq!(
        second["metadata"]["resourceVersion"],
        server.revision().to_string()
    );
    server.shutdown().await;
}

/// As on the real server, where these are read from etcd.
#[tokio::test]
async fn a_list_without_a_version_is_of_the_present_and_so_are_its_pages() {
    let (server, then) = moved_on().await;
    server.faults().add(stale(Past::Revision(then)));
    let client = Client::memory(&server);
    let whole = client.get(DEPLOYMENTS).await.json();
    assert_eq!(replicas(&whole), [("late", 1), ("web", 2)]);
    let now = server.revision().to_string();
    let first = client.get(&format!("{DEPLOYMENTS}?limit=1")).await.json();
    assert_eq!(replicas(&first), [("late", 1)]);
    assert_eq!(first["metadata"]["resourceVersion"], now);
    let token = first["metadata"]["continue"].as_str().unwrap();
    let rest = client
        .get(&format!("{DEPLOYMENTS}?limit=1&continue={token}"))
        .await
        .json();
    assert_eq!(replicas(&rest), [("web", 2)]);
    assert_eq!(rest["metadata"]["resourceVersion"], now);
    let streamed =
        format!("{DEPLOYMENTS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    let refusal = client.watch(&streamed).await.event().await.unwrap();
    assert_eq!(refusal["object"]["code"], 504, "{refusal}");
    server.shutdown().await;
}

#[tokio::test]
async fn what_demands_a_newer_version_is_told_504() {
    let (server, then) = moved_on().await;
    let now = server.revision();
    server.faults().add(stale(Past::Revision(then)));
    let client = Client::socket(&server);
    let show = |text: &str| {
        text.replace(&then.to_string(), "THEN")
            .replace(&now.to_string(), "NOW")
    };
    let list = format!("{DEPLOYMENTS}?resourceVersion={now}&resourceVersionMatch=NotOlderThan");
    let list = client.get(&list).await;
    assert_eq!(list.headers["retry-after"], "1");
    insta::assert_snapshot!(show(&list.text), @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: NOW, current: THEN","reason":"Timeout","details":{"causes":[{"message":"Too large resource version","reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1},"code":504}"#);
    for path in [
        format!("{DEPLOYMENTS}?resourceVersion={now}&resourceVersionMatch=Exact"),
        format!("{DEPLOYMENTS}?resourceVersion={now}"),
        format!("{DEPLOYMENTS}/web?resourceVersion={now}"),
    ] {
        let refusal = client.get(&path).await.refusal();
        insta::allow_duplicates! {
            insta::assert_snapshot!(show(&refusal), @"504 Timeout: Timeout: Too large resource version: NOW, current: THEN");
        }
    }
    let streamed = format!(
        "{DEPLOYMENTS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion={now}"
    );
    let mut streamed = client.watch(&streamed).await;
    let refusal = streamed.event().await.unwrap();
    assert_eq!(
        (&refusal["type"], &refusal["object"]["code"]),
        (&json!("ERROR"), &json!(504))
    );
    assert_eq!(streamed.told().await, "end");
    for version in ["0", &then.to_string()] {
        let old = client
            .get(&format!("{DEPLOYMENTS}?resourceVersion={version}"))
            .await;
        assert_eq!(replicas(&old.json()), [("web", 1)], "{version:?}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_write_that_was_decided_on_stale_data_meets_the_present() {
    let (server, then) = moved_on().await;
    server.faults().add(stale(Past::Revision(then)));
    let client = Client::memory(&server);
    let path = format!("{DEPLOYMENTS}/web");
    let mut web = client.get(&path).await.json();
    web["spec"]["replicas"] = 9.into();
    insta::assert_snapshot!(client.put(&path, &web).await.refusal(), @r#"409 Conflict: Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again"#);
    let exists = client.post(DEPLOYMENTS, &deployment("late", 1)).await;
    assert_eq!(exists.status, StatusCode::CONFLICT);
    web["metadata"]["resourceVersion"] = Value::Null;
    let written = client.put(&path, &web).await.json();
    assert_eq!(
        written["metadata"]["resourceVersion"],
        server.revision().to_string()
    );
    assert_eq!(
        server.object("deployments", "shop", "web").unwrap()["spec"]["replicas"],
        9
    );
    assert_eq!(client.get(&path).await.json()["spec"]["replicas"], 1);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_stale_watch_tells_the_past_and_then_keeps_silent_until_its_time_is_over() {
    // The endpoint lags: its client is not slow, and is not thrown out as one.
    let server = SimApiServer::builder()
        .watch_buffer(1)
        .bookmark_interval(Duration::from_secs(10))
        .start()
        .await
        .unwrap();
    add_shop(&server);
    server.seed(deployment("web", 1));
    let from = server.revision();
    scale(&server, 2);
    let then = server.revision();
    scale(&server, 3);
    server.faults().add(stale(Past::Revision(then)));
    let told = async |query: &str| {
        let started = Instant::now();
        let path = format!(
            "{DEPLOYMENTS}?watch=1&allowWatchBookmarks=1&timeoutSeconds=25{}",
            query.replace("FROM", &from.to_string())
        );
        let mut watch = Client::memory(&server).watch(&path).await;
        for replicas in 4..9 {
            scale(&server, replicas);
        }
        let mut told = Vec::new();
        while let Some(event) = watch.event().await {
            let object = &event["object"];
            let version = object["metadata"]["resourceVersion"].as_str().unwrap();
            let version = version.replace(&then.to_string(), "THEN");
            let after = started.elapsed().as_secs();
            told.push(format!(
                "{after} s {} {version}",
                event["type"].as_str().unwrap()
            ));
        }
        assert_eq!((watch.error, started.elapsed().as_secs()), (None, 25));
        told.join(", ")
    };
    insta::assert_snapshot!(told("").await, @"0 s ADDED THEN, 0 s BOOKMARK THEN, 10 s BOOKMARK THEN, 20 s BOOKMARK THEN, 23 s BOOKMARK THEN");
    insta::assert_snapshot!(told("&resourceVersion=FROM").await, @"0 s MODIFIED THEN, 10 s BOOKMARK THEN, 20 s BOOKMARK THEN, 23 s BOOKMARK THEN");
    insta::assert_snapshot!(told("&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan").await, @"0 s ADDED THEN, 0 s BOOKMARK THEN, 10 s BOOKMARK THEN, 20 s BOOKMARK THEN, 23 s BOOKMARK THEN");
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_what_a_stale_endpoint_has_not_seen_waits_without_a_word() {
    let (server, then) = moved_on().await;
    server.faults().add(stale(Past::Revision(then)));
    let now = server.revision();
    let started = Instant::now();
    let path = format!(
        "{DEPLOYMENTS}?watch=1&allowWatchBookmarks=1&timeoutSeconds=120&resourceVersion={now}"
    );
    let mut watch = Client::memory(&server).watch(&path).await;
    assert_eq!(watch.status, StatusCode::OK);
    scale(&server, 5);
    assert_eq!(watch.told().await, "end");
    assert_eq!(started.elapsed().as_secs(), 120);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_revision_that_is_still_to_come_is_where_the_endpoint_stops() {
    let server = shop().await;
    let stop = server.revision() + 2;
    server.faults().add(stale(Past::Revision(stop)));
    let path = format!("{DEPLOYMENTS}?watch=1&timeoutSeconds=60");
    let mut watch = Client::memory(&server).watch(&path).await;
    server.seed(deployment("web", 1));
    assert_eq!(watch.told().await, format!("ADDED web {}", stop - 1));
    scale(&server, 2);
    assert_eq!(watch.told().await, format!("MODIFIED web {stop}"));
    scale(&server, 3);
    assert_eq!(watch.told().await, "end");
    let list = format!("{DEPLOYMENTS}?resourceVersion=0");
    let list = Client::memory(&server).get(&list).await.json();
    assert_eq!(replicas(&list), [("web", 2)]);
    server.shutdown().await;
}

#[tokio::test]
async fn there_is_nothing_before_the_beginning() {
    let (server, _) = moved_on().await;
    let client = Client::memory(&server);
    server.faults().add(stale(Past::Behind(1_000_000)));
    let list = format!("{DEPLOYMENTS}?resourceVersion=0");
    let list = client.get(&list).await.json();
    assert_eq!(list["items"], json!([]));
    assert_eq!(list["metadata"]["resourceVersion"], "1", "0 would be any");
    server.shutdown().await;
}

#[tokio::test]
async fn a_past_that_is_no_longer_kept_is_told_410() {
    let server = SimApiServer::builder().history(2).start().await.unwrap();
    add_shop(&server);
    server.seed(deployment("web", 1));
    let then = server.revision();
    for replicas in 2..6 {
        scale(&server, replicas);
    }
    server.faults().add(stale(Past::Revision(then)));
    let client = Client::memory(&server);
    let list = format!("{DEPLOYMENTS}?resourceVersion=0");
    insta::assert_snapshot!(client.get(&list).await.refusal(), @"410 Expired: The resourceVersion for the provided list is too old.");
    let refusal = client.get(&format!("{DEPLOYMENTS}/web")).await.refusal();
    let oldest = server.revision() - 2;
    let expected = format!("410 Expired: too old resource version: {then} ({oldest})");
    assert_eq!(refusal, expected);
    let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
    let refusal = watch.event().await.unwrap();
    assert_eq!(
        (&refusal["type"], &refusal["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(watch.told().await, "end");
    server.shutdown().await;
}
