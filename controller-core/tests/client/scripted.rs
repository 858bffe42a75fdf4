//! A server in memory that follows a script, under paused time.
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use controller_core::client::{
    Call, ClientOptions, ObjectKey, ResourceType, Retried, Scope, Target, Verb, layered,
};
use futures::stream::{self, StreamExt};
use http::{HeaderMap, Method, Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::{Duration, Instant, sleep};
use tower::BoxError;

pub(crate) const DEPLOYMENTS: ResourceType =
    ResourceType::namespaced("apps", "v1", "deployments", "Deployment");

/// What the server does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Answer(u16, &'static [(&'static str, &'static str)], String),
    /// Sends the head and this much of the body, then nothing more.
    Stall(&'static str),
    /// Sends the head, then one line every so often for ever.
    Trickle(Duration),
    /// Answers after a while.
    Late(Duration),
    Fail(io::ErrorKind),
    Hang,
    /// The same thing until so long after the start, then the next step.
    Until(Duration, Box<Step>),
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Duration,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The script; its last step repeats.
#[derive(Clone)]
pub(crate) struct Script {
    steps: Arc<Mutex<VecDeque<Step>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    started: Instant,
}

pub(crate) fn list() -> Call {
    Call::list(&DEPLOYMENTS, &Scope::All)
}

pub(crate) fn watch() -> Call {
    Call::watch(&DEPLOYMENTS, &Scope::All)
}

/// A read that is neither list nor watch.
pub(crate) fn get() -> Call {
    Call::get(&DEPLOYMENTS, &ObjectKey::namespaced("shop", "web"))
}

/// Any write; what matters is its method.
pub(crate) fn patch() -> Call {
    Call {
        verb: Verb::Patch,
        method: Method::PATCH,
        path_and_query: "/apis/apps/v1/namespaces/shop/deployments/web/scale".into(),
        target: Target {
            resource: "deployments.apps/scale".into(),
            namespace: Some("shop".into()),
            name: Some("web".into()),
        },
        content_type: Some("application/merge-patch+json"),
        accept: "application/json",
        body: r#"{"spec":{"replicas":2}}"#.into(),
        stop_retrying: None,
        retried: Retried::ByClient,
    }
}

pub(crate) fn options() -> ClientOptions {
    ClientOptions::new("test/1.0 (linux/amd64)")
}

pub(crate) fn ok(body: &str) -> Step {
    Step::Answer(200, &[], body.into())
}

/// A Status as the API server writes it.
pub(crate) fn refusal(
    code: u16,
    headers: &'static [(&'static str, &'static str)],
    message: &str,
) -> Step {
    let body = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
        "message": message,
    });
    Step::Answer(code, headers, body.to_string())
}

// === impl Script ===

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: Arc::new(Mutex::new(steps.into_iter().collect())),
            seen: Arc::default(),
            started: Instant::now(),
        }
    }

    pub(crate) fn client(&self, options: &ClientOptions) -> Client {
        let script = self.clone();
        let service = tower::service_fn(move |request| script.clone().answer(request));
        layered(service, options)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().clone()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    async fn answer(
        self,
        request: Request<Body>,
    ) -> Result<Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError> {
        let at = self.started.elapsed();
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        self.seen.lock().push(Seen {
            at,
            method: head.method,
            headers: head.headers,
            body,
        });
        let step = self.next(at);
        let response = Response::builder();
        let whole = |text: String| Full::from(text).map_err(never).boxed_unsync();
        Ok(match step {
            Step::Answer(code, headers, body) => {
                let response = headers
                    .iter()
                    .fold(response.status(code), |r, (name, value)| {
                        r.header(*name, *value)
                    });
                response.body(whole(body))?
            }
            Step::Stall(start) => {
                let frames =
                    stream::iter([Ok(Frame::data(Bytes::from(start)))]).chain(stream::pending());
                response.body(StreamBody::new(frames).boxed_unsync())?
            }
            Step::Trickle(every) => {
                let lines = stream::repeat(()).then(move |()| async move {
                    sleep(every).await;
                    Ok(Frame::data(Bytes::from("{}\n")))
                });
                response.body(BodyExt::boxed_unsync(StreamBody::new(lines)))?
            }
            Step::Late(after) => {
                sleep(after).await;
                response.body(whole("{}".into()))?
            }
            Step::Fail(kind) => return Err(io::Error::from(kind).into()),
            Step::Hang => futures::future::pending().await,
            Step::Until(..) => unreachable!("next() resolves it"),
        })
    }

    fn next(&self, at: Duration) -> Step {
        let mut steps = self.steps.lock();
        loop {
            match steps.front().expect("a script has steps") {
                Step::Until(end, step) if at < *end => return Step::clone(step),
                Step::Until(..) => {
                    steps.pop_front();
                }
                _ if steps.len() == 1 => return steps[0].clone(),
                _ => return steps.pop_front().expect("a script has steps"),
            }
        }
    }
}

fn never(error: Infallible) -> BoxError {
    match error {}
}
