//! A proxy with faults before a server without.

use bytes::Bytes;
use faults::{Action, Faults, Past, Proxy, Rule, Script, Verb};
use http::Request;
use http_body_util::Full;
use hyper_util::{client::legacy::Client as HyperClient, rt::TokioExecutor};
use kube::client::Body;
use sim_apiserver::{SimApiServer, faults};
use tower::{ServiceExt, service_fn};

use crate::client::{Client, DEPLOYMENTS, deployment, shop};

/// A proxy that reaches the server as one before a real server would: through a `kube::Client`.
async fn before(server: &SimApiServer, script: impl Into<Script>) -> (Proxy, Client) {
    let client = kube::Client::new(server.service(), "default");
    let upstream = service_fn(move |request: Request<Bytes>| {
        let client = client.clone();
        async move { client.send(request.map(Body::from)).await }
    });
    let proxy = Proxy::start(upstream, Faults::new(script.into())).await;
    let proxy = proxy.expect("a proxy");
    let client = HyperClient::builder(TokioExecutor::new()).build_http();
    let client = Client::Socket(Box::new(client), proxy.url());
    (proxy, client)
}

#[tokio::test]
async fn a_client_behind_a_proxy_meets_the_same_faults() {
    let server = shop().await;
    for name in ["a", "b", "c"] {
        server.seed(deployment(name, 1));
    }
    let script = vec![
        Rule::new(Action::OpaqueRevisions),
        Rule::new(Action::cut_after_events(2).with_reset())
            .verb(Verb::Watch)
            .attempts(1),
        Rule::new(Action::status(503))
            .verb(Verb::Update)
            .attempts(1),
    ];
    let (proxy, client) = before(&server, script).await;

    let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
    assert!(watch.told().await.starts_with("ADDED a"));
    assert!(watch.told().await.starts_with("ADDED b"));
    assert_eq!(watch.told().await, "end");
    watch.error.expect("a reset");

    let path = format!("{DEPLOYMENTS}/a");
    let mut a = client.get(&path).await.json();
    let listed = a["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(listed.parse::<u64>().is_err(), "{listed}");
    let mut watch = client
        .watch(&format!("{DEPLOYMENTS}?watch=1&resourceVersion={listed}"))
        .await;
    assert!(
        watch.told().await.starts_with("ADDED b"),
        "it goes on after a"
    );

    a["spec"]["replicas"] = 3.into();
    assert_eq!(client.put(&path, &a).await.status, 503);
    assert_eq!(client.put(&path, &a).await.status, 200);
    assert_eq!(client.put(&path, &a).await.status, 409);
    let updates = server.requests_where(|request| request.verb() == Verb::Update);
    assert_eq!(
        updates.len(),
        2,
        "a made-up answer does not reach the server"
    );
    proxy.shutdown().await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_proxy_does_not_take_a_script_that_only_the_server_can_carry_out() {
    let server = shop().await;
    let upstream = server
        .service()
        .map_request(|request: Request<Bytes>| request.map(Full::new));
    let stale = Rule::new(Action::AnswerFrom(Past::Behind(10))).named("stale endpoint");
    let error = Proxy::start(upstream, Faults::new(stale.into())).await;
    insta::assert_snapshot!(error.expect_err("a refusal"), @r#"rule 1 ("stale endpoint"): a proxy cannot do `answer_from`, only the simulated server can"#);
    server.shutdown().await;
}
