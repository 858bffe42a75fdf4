//! Faults as a client meets them, in memory and over sockets.

mod opaque;
mod proxied;
mod streams;

use std::time::Duration;

use faults::{Action, Rule, Script, Verb};
use http::{HeaderValue, StatusCode};
use serde_json::json;
use sim_apiserver::{SimApiServer, faults};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout},
};

use crate::client::{Client, DEPLOYMENTS, MERGE, add_shop, deployment};

const SCALE: &str = "/apis/apps/v1/namespaces/shop/deployments/web/scale";

async fn with(rule: Rule) -> SimApiServer {
    let server = SimApiServer::builder().faults(rule).start().await.unwrap();
    add_shop(&server);
    server.seed(deployment("web", 1));
    server
}

/// C-07
#[tokio::test]
async fn a_status_is_answered_with_its_headers_for_the_attempts_that_it_names() {
    let busy = Action::status(429)
        .message("storage is (re)initializing")
        .retry_after(1);
    let server = with(
        Rule::new(busy)
            .named("busy")
            .verb(Verb::List)
            .resource("deployments")
            .attempts(2..4),
    )
    .await;
    let mut codes = Vec::new();
    for client in Client::both(&server) {
        for _ in 0..2 {
            let answer = client.get(DEPLOYMENTS).await;
            if answer.status == StatusCode::TOO_MANY_REQUESTS {
                assert_eq!(answer.headers["retry-after"], "1");
                insta::allow_duplicates! {
                    insta::assert_snapshot!(answer.refusal(), @"429 TooManyRequests: storage is (re)initializing");
                }
            }
            codes.push(answer.status.as_u16());
        }
    }
    assert_eq!(codes, [200, 429, 429, 200]);
    assert_eq!(server.faults().fired_named("busy"), 2);
    assert_eq!(server.faults().counts()[0].matched, 4);
    server.shutdown().await;
}

#[tokio::test]
async fn a_raw_body_is_answered_as_it_is() {
    let gateway = Action::status(502).body(
        HeaderValue::from_static("text/html"),
        "<h1>Bad gateway</h1>",
    );
    let server = with(Rule::new(gateway).path("/apis/apps/*")).await;
    for client in Client::both(&server) {
        let answer = client.get(DEPLOYMENTS).await;
        assert_eq!(
            (answer.status.as_u16(), answer.text.as_str()),
            (502, "<h1>Bad gateway</h1>")
        );
        assert_eq!(answer.headers["content-type"], "text/html");
        assert_eq!(client.get("/api/v1/pods").await.status, StatusCode::OK);
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_delay_holds_up_only_the_request_that_it_is_for() {
    let rule = Rule::new(Action::Delay(Duration::from_secs(3)))
        .verb(Verb::Get)
        .object("web");
    let server = with(rule).await;
    for client in Client::both(&server) {
        let started = Instant::now();
        let path = format!("{DEPLOYMENTS}/web");
        let (slow, quick) = tokio::join!(client.get(&path), async {
            client.get(DEPLOYMENTS).await;
            started.elapsed()
        });
        assert_eq!(slow.status, StatusCode::OK);
        assert!(quick < Duration::from_secs(1), "{quick:?}");
        assert!(started.elapsed() >= Duration::from_secs(3));
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_hanging_request_is_never_answered_and_not_applied() {
    let server = with(
        Rule::new(Action::Hang)
            .verb(Verb::Patch)
            .resource("deployments/scale"),
    )
    .await;
    for client in Client::both(&server) {
        let patch = json!({"spec": {"replicas": 2}});
        let hanging = client.patch(SCALE, MERGE, &patch);
        assert!(timeout(Duration::from_secs(3600), hanging).await.is_err());
    }
    assert_eq!(
        server.object("deployments", "shop", "web").unwrap()["spec"]["replicas"],
        1
    );
    let asked = server.requests_where(|request| request.is_about("deployments/scale"));
    assert_eq!(
        asked
            .iter()
            .map(|request| request.status)
            .collect::<Vec<_>>(),
        [None, None]
    );
    server.shutdown().await;
}

#[tokio::test]
async fn an_answer_that_is_lost_was_applied() {
    let rule = Rule::new(Action::LostAnswer)
        .verb(Verb::Patch)
        .resource("deployments/scale")
        .attempts(1..=2);
    let server = with(rule).await;
    for (client, replicas) in Client::both(&server).into_iter().zip([2, 3]) {
        let headers = [("content-type", MERGE)];
        let body = json!({"spec": {"replicas": replicas}}).to_string();
        let error = client
            .send("PATCH", SCALE, &headers, body)
            .await
            .expect_err("a lost answer");
        let mut causes = vec![error.to_string()];
        let mut source = error.source();
        while let Some(cause) = source {
            causes.push(cause.to_string());
            source = cause.source();
        }
        let told = causes.join(": ").to_lowercase();
        assert!(
            told.contains("connection reset") || told.contains("connection closed"),
            "{told}"
        );
        assert_eq!(
            server.object("deployments", "shop", "web").unwrap()["spec"]["replicas"],
            replicas
        );
    }
    assert_eq!(
        Client::socket(&server).get(SCALE).await.json()["spec"]["replicas"],
        3
    );
    server.shutdown().await;
}

#[tokio::test]
async fn history_expires_as_a_status_or_in_the_stream() {
    let script: Script = [
        Rule::new(Action::Expired).verb(Verb::Watch).attempts(1),
        Rule::new(Action::expired_in_stream(1))
            .verb(Verb::Watch)
            .attempts(2),
    ]
    .into_iter()
    .collect();
    let server = SimApiServer::builder()
        .faults(script)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    server.seed(deployment("web", 1));
    let client = Client::socket(&server);
    let path = format!("{DEPLOYMENTS}?watch=1");
    insta::assert_snapshot!(client.get(&path).await.refusal(), @"410 Expired: The resourceVersion for the provided watch is too old.");
    let mut watch = client.watch(&path).await;
    assert_eq!(watch.status, StatusCode::OK);
    assert!(watch.told().await.starts_with("ADDED web"));
    let gone = watch.event().await.unwrap();
    assert_eq!(
        (&gone["type"], &gone["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(watch.told().await, "end");
    server.shutdown().await;
}

#[tokio::test]
async fn attempts_can_be_counted_for_each_object() {
    let server = SimApiServer::builder()
        .faults(
            Rule::new(Action::status(500))
                .verb(Verb::Patch)
                .per_object()
                .attempts(1),
        )
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    let mut codes = Vec::new();
    for name in ["a", "b", "a", "b"] {
        if server.object("deployments", "shop", name).is_none() {
            server.seed(deployment(name, 1));
        }
        let path = format!("{DEPLOYMENTS}/{name}/scale");
        codes.push(
            client
                .patch(&path, MERGE, &json!({"spec": {"replicas": 2}}))
                .await
                .status
                .as_u16(),
        );
    }
    assert_eq!(codes, [500, 500, 200, 200]);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_holds_within_its_window_and_can_be_taken_out() {
    let server = SimApiServer::builder()
        .faults(
            Rule::new(Action::status(503))
                .resource("deployments")
                .window(Duration::from_secs(5)..Duration::from_secs(10)),
        )
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    let mut codes = vec![client.get(DEPLOYMENTS).await.status.as_u16()];
    for _ in 0..2 {
        tokio::time::advance(Duration::from_secs(5)).await;
        codes.push(client.get(DEPLOYMENTS).await.status.as_u16());
    }
    let rule = server.faults().add(Rule::new(Action::status(401)));
    codes.push(client.get(DEPLOYMENTS).await.status.as_u16());
    assert_eq!(server.faults().fired(rule), 1);
    assert!(server.faults().remove(rule));
    codes.push(client.get(DEPLOYMENTS).await.status.as_u16());
    assert_eq!(codes, [200, 503, 200, 401, 200]);
    server.shutdown().await;
}

/// C-05: a balancer that drops a quiet connection sends RST, and the client must see one.
#[tokio::test]
async fn a_reset_is_a_reset_on_the_wire() {
    let server = with(Rule::new(Action::cut_after_events(1).with_reset()).verb(Verb::Watch)).await;
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let request = format!("GET {DEPLOYMENTS}?watch=1 HTTP/1.1\r\nhost: sim\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut seen = Vec::new();
    let error = socket.read_to_end(&mut seen).await.expect_err("a reset");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    let seen = String::from_utf8(seen).unwrap();
    assert!(seen.contains(r#"{"type":"ADDED""#), "{seen}");
    server.shutdown().await;
}
