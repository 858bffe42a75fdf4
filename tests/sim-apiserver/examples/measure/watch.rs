//! Many watches on one kind, and how long a change takes to reach them all.

use std::{io::BufRead, sync::Arc, time::Duration};

use bytes::{Buf, Bytes, BytesMut};
use http::Request;
use http_body_util::{BodyExt, Empty};
use serde_json::json;
use sim_apiserver::SimApiServer;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};
use tower::ServiceExt;

/// How the watches reach the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Over {
    Memory,
    Sockets,
}

const WATCHES: usize = 1_000;
const OBJECTS: usize = 1_000;
const UPDATES: usize = 5_000;
const A_SECOND: u64 = 1_000;
const PATH: &str = "/apis/apps/v1/deployments?watch=1&resourceVersion=";
/// Stands before the moment at which an update was made, in microseconds since the beginning.
const SENT: &[u8] = br#""sent":""#;

pub(crate) async fn measure(over: Over) {
    let server = Arc::new(SimApiServer::builder().start().await.unwrap());
    server.seed_all((0..OBJECTS).map(|number| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name(number), "namespace": "default", "annotations": {"sent": "0"},
                "labels": {"app": "web", "demo/min-replicas": "true"}},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "nginx", "image": "nginx:1.27"}]}}},
            "status": {"replicas": 1, "readyReplicas": 1, "observedGeneration": 1}})
    }));
    let began = Instant::now();
    let mut watches = JoinSet::new();
    let path = format!("{PATH}{}", server.revision());
    for _ in 0..WATCHES {
        let (server, path) = (Arc::clone(&server), path.clone());
        match over {
            Over::Memory => watches.spawn(in_memory(server, path, began)),
            Over::Sockets => watches.spawn(over_socket(server, path, began)),
        };
    }
    server
        .wait_for_requests(|requests| {
            requests.iter().filter(|r| r.status.is_some()).count() == WATCHES
        })
        .await;

    let mut clock = interval(Duration::from_micros(1_000_000 / A_SECOND));
    clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let started = Instant::now();
    for update in 0..UPDATES {
        clock.tick().await;
        let sent = began.elapsed().as_micros();
        server.mutate(
            "deployments",
            "default",
            &name(update % OBJECTS),
            |object| {
                object["metadata"]["annotations"]["sent"] = sent.to_string().into();
            },
        );
    }
    let updated = started.elapsed();
    let mut latencies: Vec<u32> = Vec::with_capacity(WATCHES * UPDATES);
    let mut closed = 0;
    while let Some(watch) = watches.join_next().await {
        let told = watch.unwrap();
        closed += usize::from(told.len() < UPDATES);
        latencies.extend(told);
    }
    let told = started.elapsed();
    latencies.sort_unstable();
    let at = |share: f64| {
        let index = ((latencies.len() - 1) as f64 * share) as usize;
        f64::from(latencies[index]) / 1000.0
    };
    println!(
        "{WATCHES} watches {over:?}, {UPDATES} updates in {:.2} s: {:.0} events a second; a change reached a watch after {:.2} ms \
         (p50), {:.2} ms (p99), {:.2} ms (max); all told {:.2} s after the last update; {closed} watches fell behind and were closed",
        updated.as_secs_f64(),
        latencies.len() as f64 / told.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0),
        (told - updated).as_secs_f64(),
    );
    server.shutdown().await;
}

fn name(number: usize) -> String {
    format!("demo-{number:06}")
}

async fn in_memory(server: Arc<SimApiServer>, path: String, began: Instant) -> Vec<u32> {
    let request = Request::get(path).body(Empty::<Bytes>::new()).unwrap();
    let mut body = server.service().oneshot(request).await.unwrap().into_body();
    let mut latencies = Vec::with_capacity(UPDATES);
    while latencies.len() < UPDATES
        && let Some(frame) = body.frame().await
    {
        note(
            &mut frame.unwrap().into_data().unwrap(),
            began,
            &mut latencies,
        );
    }
    latencies
}

async fn over_socket(server: Arc<SimApiServer>, path: String, began: Instant) -> Vec<u32> {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: sim\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut latencies = Vec::with_capacity(UPDATES);
    let mut buffer = BytesMut::with_capacity(64 * 1024);
    while latencies.len() < UPDATES && socket.read_buf(&mut buffer).await.unwrap() > 0 {
        // What is left may hold the beginning of a moment.
        note(&mut buffer, began, &mut latencies);
        buffer.reserve(16 * 1024);
    }
    latencies
}

/// Reads the moments in whole lines and leaves the rest.
fn note(buffer: &mut impl Buffer, began: Instant, latencies: &mut Vec<u32>) {
    let now = began.elapsed().as_micros();
    loop {
        let mut rest = buffer.chunk();
        let length = rest.skip_until(b'\n').unwrap();
        let line = &buffer.chunk()[..length];
        if !line.ends_with(b"\n") {
            return;
        }
        if let Some(at) = line.windows(SENT.len()).position(|window| window == SENT) {
            let digits = line[at + SENT.len()..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit());
            let sent = digits.fold(0_u128, |number, digit| {
                number * 10 + u128::from(digit - b'0')
            });
            latencies.push(u32::try_from(now.saturating_sub(sent)).unwrap_or(u32::MAX));
        }
        buffer.advance(length);
    }
}

/// Bytes that lie in one piece.
trait Buffer: Buf {}
impl Buffer for Bytes {}
impl Buffer for BytesMut {}
