//! What passes, what is refused, what is spoilt.

use std::{error::Error, fmt, io, sync::Arc, time::Duration};

use bytes::Bytes;
use faults::{Action, Faults, Past, Proxy, Rule, Script, Verb};
use futures::{StreamExt, stream};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tower::service_fn;

const LINES: &str = "one\ntwo\nthree\n";
const SOON: Duration = Duration::from_secs(10);

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// Every request that the upstream was given, with its body.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<Request<Bytes>>>>);

/// An error with a cause.
#[derive(Debug)]
struct Refused(io::Error);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot connect")
    }
}

impl Error for Refused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// A path tells how the upstream answers.
async fn answer(request: Request<Bytes>, asked: Asked) -> Result<Response<Body>, Refused> {
    let path = request.uri().path().to_owned();
    asked.0.lock().push(request);
    let body = match path.as_str() {
        "/unreachable" => return Err(Refused(io::Error::other("nobody there"))),
        "/broken" => {
            let first = stream::iter([Ok(Frame::data(Bytes::from("one\n")))]);
            // A server flushes what it has when there is nothing more yet.
            let broken = stream::once(async {
                tokio::task::yield_now().await;
                Err(io::Error::other("it went away"))
            });
            StreamBody::new(first.chain(broken)).boxed_unsync()
        }
        _ => Full::from(LINES)
            .map_err(|never| match never {})
            .boxed_unsync(),
    };
    let response = Response::builder()
        .header("connection", "x-hop")
        .header("x-hop", "1")
        .header("keep-alive", "timeout=5")
        .header("x-end", "1")
        .body(body);
    Ok(response.expect("a response"))
}

async fn proxy(script: impl Into<Script>) -> (Proxy, Asked) {
    let asked = Asked::default();
    let log = asked.clone();
    let upstream = service_fn(move |request| answer(request, log.clone()));
    let proxy = Proxy::start(upstream, Faults::new(script.into())).await;
    (proxy.expect("a proxy"), asked)
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Result<String, String>,
}

async fn ask(
    proxy: &Proxy,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let mut request = Request::builder()
        .method(method)
        .uri(format!("{}{path}", proxy.url()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::from(body.to_owned())).unwrap();
    let response = client.request(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.map_err(|error| error.to_string());
    Answer {
        status: parts.status,
        headers: parts.headers,
        body: body.map(|body| String::from_utf8(body.to_bytes().to_vec()).unwrap()),
    }
}

async fn get(proxy: &Proxy, path: &str) -> Answer {
    ask(proxy, Method::GET, path, &[], "").await
}

/// `CODE: MESSAGE` of a `Status`.
fn refusal(answer: &Answer) -> String {
    let status: serde_json::Value = serde_json::from_str(answer.body.as_ref().unwrap()).unwrap();
    assert_eq!(status["kind"], "Status");
    assert_eq!(status["code"], answer.status.as_u16());
    assert_eq!(answer.headers["content-type"], "application/json");
    format!(
        "{}: {}",
        answer.status.as_u16(),
        status["message"].as_str().unwrap()
    )
}

/// What comes back over a socket of its own, until its end.
async fn raw(proxy: &Proxy, request: &str) -> (String, Option<io::ErrorKind>) {
    let mut socket = TcpStream::connect(proxy.address()).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut seen = Vec::new();
    let ended = timeout(SOON, socket.read_to_end(&mut seen))
        .await
        .expect("an end");
    (
        String::from_utf8(seen).unwrap(),
        ended.err().map(|error| error.kind()),
    )
}

#[tokio::test]
async fn requests_and_answers_pass() {
    let (proxy, asked) = proxy(Script::default()).await;
    let headers = [
        (
            "accept",
            "application/vnd.kubernetes.protobuf, application/json",
        ),
        ("accept-encoding", "gzip"),
        ("connection", "x-drop"),
        ("x-drop", "1"),
        ("te", "trailers"),
        ("content-type", "application/merge-patch+json"),
        ("authorization", "Bearer t"),
        ("expect", "100-continue"),
        ("proxy-authorization", "Basic eDp5"),
    ];
    let answer = ask(
        &proxy,
        Method::PATCH,
        "/apis/apps/v1/x%20y?a=b%26c&d",
        &headers,
        "{\"x\": 1}",
    )
    .await;
    assert_eq!(
        (answer.status, answer.body.as_deref()),
        (StatusCode::OK, Ok(LINES))
    );
    assert_eq!(answer.headers["x-end"], "1");
    assert_eq!(answer.headers["content-length"], LINES.len().to_string());
    assert!(!answer.headers.contains_key("x-hop") && !answer.headers.contains_key("keep-alive"));

    let asked = asked.0.lock().pop().expect("a request");
    assert_eq!(asked.method(), Method::PATCH);
    assert_eq!(asked.uri(), "/apis/apps/v1/x%20y?a=b%26c&d");
    assert_eq!(asked.body(), "{\"x\": 1}");
    let mut headers: Vec<String> = asked
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    headers.sort_unstable();
    insta::assert_snapshot!(headers.join("\n"), @r"
accept: application/json
authorization: Bearer t
content-type: application/merge-patch+json
");
    assert!(asked.extensions().is_empty());
    proxy.shutdown().await;
}

#[tokio::test]
async fn an_upstream_that_does_not_answer_is_a_bad_gateway() {
    let (proxy, _) = proxy(Script::default()).await;
    insta::assert_snapshot!(refusal(&get(&proxy, "/unreachable").await), @"502: the server behind the proxy did not answer: cannot connect: nobody there");
    proxy.shutdown().await;
}

#[tokio::test]
async fn an_upstream_that_breaks_off_is_seen_to_break_off() {
    let (proxy, _) = proxy(Script::default()).await;
    get(&proxy, "/broken")
        .await
        .body
        .expect_err("no whole body");
    proxy.shutdown().await;
}

#[tokio::test]
async fn what_cannot_be_passed_on_is_refused() {
    let (proxy, asked) = proxy(Script::default()).await;
    let upgrade = [("connection", "upgrade"), ("upgrade", "SPDY/3.1")];
    let exec = ask(
        &proxy,
        Method::POST,
        "/api/v1/namespaces/a/pods/b/exec",
        &upgrade,
        "",
    )
    .await;
    insta::assert_snapshot!(refusal(&exec), @"501: the proxy cannot upgrade connections, as exec, attach and port-forward ask for");
    let stranger = ask(
        &proxy,
        Method::GET,
        "/",
        &[("host", "attacker.example.com")],
        "",
    )
    .await;
    insta::assert_snapshot!(refusal(&stranger), @"403: the proxy answers only to 127.0.0.1, [::1] and localhost");

    let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 67108865\r\n\r\n";
    let (large, _) = raw(&proxy, head).await;
    let (head, body) = large.split_once("\r\n\r\n").unwrap();
    insta::assert_snapshot!(head.lines().next().unwrap(), @"HTTP/1.1 413 Payload Too Large");
    insta::assert_snapshot!(body, @r#"{"apiVersion":"v1","code":413,"kind":"Status","message":"the proxy takes bodies of at most 64 MiB","metadata":{},"reason":"RequestEntityTooLarge","status":"Failure"}"#);
    assert!(asked.0.lock().is_empty());
    proxy.shutdown().await;
}

#[tokio::test]
async fn a_script_that_needs_the_simulated_server_is_refused_at_the_start() {
    let script =
        Script::parse("rules:\n  - do: hang\n    attempts: 1\n  - do: {restore: {behind: 3}}\n")
            .unwrap();
    let upstream = service_fn(|request| answer(request, Asked::default()));
    let error = Proxy::start(upstream, Faults::new(script))
        .await
        .expect_err("a refusal");
    insta::assert_snapshot!(error, @"rule 2, line 4: a proxy cannot do `restore`, only the simulated server can");
}

#[tokio::test]
async fn a_rule_added_later_that_needs_the_simulated_server_is_refused_when_it_acts() {
    let (proxy, asked) = proxy(Script::default()).await;
    let stale = Rule::new(Action::AnswerFrom(Past::Behind(3))).verb(Verb::List);
    let stale = proxy.faults().add(stale);
    insta::assert_snapshot!(refusal(&get(&proxy, "/api/v1/pods").await), @"501: a proxy cannot do `answer_from`, only the simulated server can");
    assert!(asked.0.lock().is_empty(), "it was not passed on");
    assert_eq!(
        get(&proxy, "/api/v1/pods?watch=1").await.status,
        StatusCode::OK
    );
    proxy.faults().remove(stale);
    assert_eq!(get(&proxy, "/api/v1/pods").await.status, StatusCode::OK);
    proxy.shutdown().await;
}

#[tokio::test]
async fn answers_are_spoilt_and_connections_reset() {
    let (proxy, asked) = proxy(vec![
        Rule::new(Action::dropped(1)).path("/dropped"),
        Rule::new(Action::LostAnswer).path("/lost"),
        Rule::new(Action::cut_after_events(1).with_reset()).path("/cut"),
    ])
    .await;
    assert_eq!(
        get(&proxy, "/dropped").await.body.as_deref(),
        Ok("one\nthree\n")
    );
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let reset = Some(io::ErrorKind::ConnectionReset);
    assert_eq!(raw(&proxy, &request("/lost")).await, (String::new(), reset));
    let (seen, error) = raw(&proxy, &request("/cut")).await;
    assert!(seen.contains("one\n") && !seen.contains("two"), "{seen}");
    assert_eq!(error, reset);
    assert_eq!(asked.0.lock().len(), 3);
    proxy.shutdown().await;
}
