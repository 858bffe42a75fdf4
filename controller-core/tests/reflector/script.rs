use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use controller_core::client::{ClientOptions, ResourceType, Scope, layered};
use controller_core::watch::{
    Object, Reflector, ReflectorStatus, State, Streaming, WatchEvent, WatchOptions,
};
use futures::{FutureExt, StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use http_body_util::StreamBody;
use http_body_util::combinators::UnsyncBoxBody;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const CONFIG_MAPS: ResourceType = ResourceType::namespaced("", "v1", "configmaps", "ConfigMap");

/// One answer of the scripted server.
pub(crate) enum Answer {
    Json(u16, Value),
    /// The same with `Retry-After`, in seconds.
    Later(u64, u16, Value),
    /// 200, then these steps.
    Stream(Vec<Step>),
    /// 200 of another media type.
    Html(&'static str),
    /// The connection breaks before there is an answer.
    Refuse,
    /// No answer at all.
    Never,
    /// 200 without a word, until so much before the time after which the client wants it ended.
    Quiet(Duration),
    /// The first one to a list, the second one to a watch.
    Either(Box<Answer>, Box<Answer>),
    /// Any of them after 100 ms, so that one can see it being waited for.
    Late(Box<Answer>),
}

/// What happens in the body of a watch.
pub(crate) enum Step {
    Line(Value),
    Raw(&'static [u8]),
    Wait(Duration),
    /// The time passes, but the body has the next thing ready at once.
    Pass(Duration),
    /// The connection breaks.
    Reset,
    /// Nothing more comes, and the body does not end.
    Hang,
}

/// What a run left behind.
pub(crate) struct Record {
    /// Like `list rv=0 limit=500` and `watch rv=10`, in order.
    pub(crate) requests: Vec<String>,
    /// When each request came, since the start.
    pub(crate) times: Vec<Duration>,
    /// The raw query of each request.
    pub(crate) queries: Vec<String>,
    /// What the sink was told, as words.
    pub(crate) events: Vec<String>,
    /// The last state of the reflector.
    pub(crate) status: ReflectorStatus,
    /// Each state that it was in, and why it backed off.
    pub(crate) states: Vec<String>,
    /// When each wait was to end.
    pub(crate) waits: Vec<Instant>,
}

#[derive(Default)]
struct Server {
    script: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<(String, Instant)>>,
    /// A request came that the script has no answer for.
    exhausted: Notify,
}

/// Runs a reflector until the script has no answer left.
pub(crate) async fn play(script: Vec<Answer>) -> Record {
    play_with(paged(), script).await
}

/// Everything, page by page: what most of these tests are about is the same either way.
pub(crate) fn paged() -> WatchOptions {
    WatchOptions::new(Scope::All).streaming(Streaming::Never)
}

/// As [`play`], with streaming lists.
pub(crate) async fn play_streaming(script: Vec<Answer>) -> Record {
    play_with(WatchOptions::new(Scope::All), script).await
}

pub(crate) async fn play_with(options: WatchOptions, script: Vec<Answer>) -> Record {
    let status = watch::Sender::new(ReflectorStatus::default());
    play_resuming(options, &status, script).await
}

/// Runs a reflector that is told to end before it begins.
pub(crate) async fn play_cancelled(options: WatchOptions) -> Record {
    let status = watch::Sender::new(ReflectorStatus::default());
    let stop = CancellationToken::new();
    stop.cancel();
    let server = Arc::new(Server {
        script: Mutex::new(VecDeque::from([list("10", &[])])),
        ..Server::default()
    });
    run(options, &status, &server, stop).await
}

/// Runs a reflector that goes on where the one before it with this status ended.
pub(crate) async fn play_resuming(
    options: WatchOptions,
    status: &watch::Sender<ReflectorStatus>,
    script: Vec<Answer>,
) -> Record {
    let server = Arc::new(Server {
        script: Mutex::new(script.into()),
        ..Server::default()
    });
    run(options, status, &server, CancellationToken::new()).await
}

async fn run(
    options: WatchOptions,
    status: &watch::Sender<ReflectorStatus>,
    server: &Arc<Server>,
    stop: CancellationToken,
) -> Record {
    let served = Arc::clone(server);
    let service = tower::service_fn(move |request: Request<Body>| {
        let server = Arc::clone(&served);
        async move { server.answer(request).await }
    });
    // With the layers of a real client: they must not repeat what the reflector repeats.
    let client = layered(service, &ClientOptions::new("test/1.0"));
    let reflector =
        Reflector::<ConfigMap>::new(client, CONFIG_MAPS, options).resume(status.clone());
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    let sink = move |event| heard.lock().push(words(&event));
    let (mut states, mut waits) = (Vec::new(), Vec::new());
    let mut changes = status.subscribe();
    let stopped = stop.clone();
    tasks.spawn(reflector.run(sink, stop.clone()));
    if !stopped.is_cancelled() {
        loop {
            tokio::select! {
                biased;
                changed = changes.changed() => {
                    changed.unwrap();
                    let status = changes.borrow_and_update();
                    let mut state = status.state.to_string();
                    if let State::BackingOff { until, why } = &status.state {
                        state = format!("{state}: {why}");
                        waits.push(*until);
                    }
                    if states.last() != Some(&state) {
                        states.push(state);
                    }
                }
                () = server.exhausted.notified() => break,
            }
        }
        stop.cancel();
    }
    tasks.join_all().await;
    states.push(status.borrow().state.to_string());
    let requests = server.requests.lock();
    let events = events.lock().clone();
    let status = status.borrow().clone();
    Record {
        requests: requests
            .iter()
            .map(|(query, _)| request_words(query))
            .collect(),
        times: requests.iter().map(|(_, at)| *at - start).collect(),
        queries: requests.iter().map(|(query, _)| query.clone()).collect(),
        events,
        status,
        states,
        waits,
    }
}

/// Whether `pause`, in seconds, is one of the backoff's whose floor is `floor`. Timers are
/// rounded up to the next millisecond.
pub(crate) fn is_pause(pause: f64, floor: f64) -> bool {
    (floor..floor * 2.0 + 0.002).contains(&pause)
}

/// A ConfigMap `shop/NAME` with this version.
pub(crate) fn object(name: &str, version: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "shop", "uid": name,
                        "resourceVersion": version}})
}

pub(crate) fn list(version: &str, names: &[(&str, &str)]) -> Answer {
    page(version, names, "")
}

pub(crate) fn page(version: &str, names: &[(&str, &str)], next: &str) -> Answer {
    let items: Vec<_> = names
        .iter()
        .map(|(name, version)| object(name, version))
        .collect();
    Answer::Json(
        200,
        json!({"metadata": {"resourceVersion": version, "continue": next}, "items": items}),
    )
}

pub(crate) fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
           "code": code, "reason": reason, "message": message})
}

pub(crate) fn refuse(code: u16, reason: &str) -> Answer {
    Answer::Json(code, status(code, reason, "as the script says"))
}

pub(crate) fn line(kind: &str, object: impl Into<Value>) -> Step {
    Step::Line(json!({"type": kind, "object": object.into()}))
}

pub(crate) fn bookmark(version: &str) -> Step {
    line(
        "BOOKMARK",
        json!({"metadata": {"resourceVersion": version}}),
    )
}

/// The bookmark that ends a streamed list.
pub(crate) fn end_of_list(version: &str) -> Step {
    let annotations = json!({"k8s.io/initial-events-end": "true"});
    line(
        "BOOKMARK",
        json!({"metadata": {"resourceVersion": version, "annotations": annotations}}),
    )
}

/// A watch that ends normally, after two seconds of silence.
pub(crate) fn quiet_watch() -> Answer {
    Answer::Stream(vec![Step::Wait(Duration::from_secs(2))])
}

// === impl Server ===

type Reply = Response<UnsyncBoxBody<Bytes, io::Error>>;

impl Server {
    async fn answer(&self, request: Request<Body>) -> Result<Reply, io::Error> {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let answer = self.script.lock().pop_front();
        let Some(answer) = answer else {
            self.exhausted.notify_one();
            return std::future::pending().await;
        };
        self.requests.lock().push((query.clone(), Instant::now()));
        let answer = match answer {
            Answer::Late(answer) => {
                sleep(Duration::from_millis(100)).await;
                *answer
            }
            Answer::Either(_, watch) if query.contains("watch=true") => *watch,
            Answer::Either(list, _) => *list,
            answer => answer,
        };
        match answer {
            Answer::Late(_) | Answer::Either(..) => unreachable!("once"),
            Answer::Quiet(early) => {
                let seconds = parameter(&query, "timeoutSeconds").expect("it is a watch");
                let time = Duration::from_secs(seconds.parse().unwrap());
                Ok(reply(200, vec![Step::Wait(time - early)]))
            }
            Answer::Never => std::future::pending().await,
            Answer::Json(code, body) => Ok(reply(code, vec![Step::Line(body)])),
            Answer::Later(seconds, code, body) => {
                let mut reply = reply(code, vec![Step::Line(body)]);
                reply.headers_mut().insert("retry-after", seconds.into());
                Ok(reply)
            }
            Answer::Stream(steps) => Ok(reply(200, steps)),
            Answer::Html(page) => {
                let mut reply = reply(200, vec![Step::Raw(page.as_bytes())]);
                let html = "text/html; charset=utf-8".parse().unwrap();
                reply.headers_mut().insert("content-type", html);
                Ok(reply)
            }
            Answer::Refuse => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }
}

fn reply(code: u16, steps: Vec<Step>) -> Reply {
    let frames = stream::iter(steps).filter_map(|step| async {
        match step {
            Step::Line(value) => Some(Ok(Bytes::from(format!("{value}\n")))),
            Step::Raw(bytes) => Some(Ok(Bytes::from_static(bytes))),
            Step::Wait(time) => {
                sleep(time).await;
                None
            }
            Step::Pass(time) => {
                // Polled once: it moves the clock and only then makes way for others.
                let _ = tokio::time::advance(time).now_or_never();
                None
            }
            Step::Reset => Some(Err(io::ErrorKind::ConnectionReset.into())),
            Step::Hang => std::future::pending().await,
        }
    });
    let body = StreamBody::new(frames.map(|chunk| chunk.map(Frame::data)));
    Response::builder()
        .status(code)
        .header("content-type", "application/json")
        .body(body.boxed_unsync())
        .unwrap()
}

fn parameter(query: &str, name: &str) -> Option<String> {
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        (key == name).then(|| value.to_owned())
    })
}

fn request_words(query: &str) -> String {
    let get = |name: &str| parameter(query, name);
    let mut words = match (get("watch"), get("sendInitialEvents")) {
        (Some(_), Some(_)) => "stream".to_owned(),
        (Some(_), None) => "watch".to_owned(),
        _ => "list".to_owned(),
    };
    for (name, short) in [
        ("resourceVersion", "rv"),
        ("limit", "limit"),
        ("continue", "next"),
    ] {
        if let Some(value) = get(name) {
            words = format!("{words} {short}={value}");
        }
    }
    words
}

fn words(event: &WatchEvent<ConfigMap>) -> String {
    let name =
        |object: &ConfigMap| format!("{}@{}", object.key().name(), object.resource_version());
    match event {
        WatchEvent::ListStarted { fresh: false } => "list".to_owned(),
        WatchEvent::ListStarted { fresh: true } => "fresh list".to_owned(),
        WatchEvent::Listed(object) => format!("listed {}", name(object)),
        WatchEvent::ListDone {
            resource_version,
            restored: false,
        } => format!("done {resource_version}"),
        WatchEvent::ListDone {
            resource_version, ..
        } => format!("done {resource_version}, of a restored server"),
        WatchEvent::Added(object) => format!("added {}", name(object)),
        WatchEvent::Modified(object) => format!("modified {}", name(object)),
        WatchEvent::Deleted(object) => format!("deleted {}", name(object)),
        WatchEvent::Bookmark { resource_version } => format!("bookmark {resource_version}"),
        WatchEvent::Unreadable(unreadable) => match &unreadable.key {
            Some(key) => format!("unreadable {}", key.name()),
            None => "unreadable".to_owned(),
        },
    }
}
