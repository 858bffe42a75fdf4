//! What the server was asked.

use bytes::Bytes;
use faults::{RequestInfo, Verb};
use http::{HeaderMap, Method, StatusCode, request::Parts};
use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};

/// One request that reached the server, whatever became of it.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// When its head arrived, by tokio's clock.
    pub at: Instant,
    /// The HTTP method.
    pub method: Method,
    /// Verb, path, query, group, resource, namespace, name and subresource.
    pub info: RequestInfo,
    /// The request's headers.
    pub headers: HeaderMap,
    /// The request's body; empty until it has arrived.
    pub body: Bytes,
    /// The connection, counted from 1; `None` for requests through [`SimService`](crate::SimService).
    pub connection: Option<u64>,
    /// The status that was answered; `None` while there is no answer, and for ever where a fault withheld it.
    pub status: Option<StatusCode>,
}

#[derive(Debug)]
pub(crate) struct Recorder {
    /// How many requests are kept, at least.
    newest: usize,
    log: Mutex<Log>,
    activity: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Log {
    requests: Vec<Recorded>,
    /// How many were recorded and then cleared, or dropped as old.
    cleared: usize,
}

/// A request that is being answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordId(usize);

// === impl Recorded ===

impl Recorded {
    /// The Kubernetes verb.
    #[must_use]
    pub fn verb(&self) -> Verb {
        self.info.verb
    }

    /// Whether it is about this resource, `RESOURCE` or `RESOURCE/SUBRESOURCE`.
    #[must_use]
    pub fn is_about(&self, resource: &str) -> bool {
        self.info.is_resource && self.info.resource_path() == resource
    }

    /// The body as JSON; null if it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

// === impl Recorder ===

impl Recorder {
    pub(crate) fn new(newest: usize) -> Self {
        Self {
            newest,
            log: Mutex::new(Log::default()),
            activity: watch::Sender::new(0),
        }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.activity.subscribe()
    }

    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.log.lock().requests.clone()
    }

    pub(crate) fn clear(&self) {
        let mut log = self.log.lock();
        log.cleared += log.requests.len();
        log.requests.clear();
    }

    pub(crate) fn begin(&self, parts: &Parts, connection: Option<u64>) -> RecordId {
        let recorded = Recorded {
            at: Instant::now(),
            method: parts.method.clone(),
            info: RequestInfo::parse(&parts.method, &parts.uri),
            headers: parts.headers.clone(),
            body: Bytes::new(),
            connection,
            status: None,
        };
        let mut log = self.log.lock();
        log.requests.push(recorded);
        if log.requests.len() / 2 > self.newest {
            let old = log.requests.len() - self.newest;
            log.requests.drain(..old);
            log.cleared += old;
        }
        let id = RecordId(log.cleared + log.requests.len() - 1);
        drop(log);
        self.wake();
        id
    }

    pub(crate) fn body(&self, id: RecordId, body: &Bytes) {
        self.update(id, |recorded| recorded.body = body.clone());
    }

    pub(crate) fn answered(&self, id: RecordId, status: StatusCode) {
        self.update(id, |recorded| recorded.status = Some(status));
    }

    fn update(&self, id: RecordId, change: impl FnOnce(&mut Recorded)) {
        let mut log = self.log.lock();
        let cleared = log.cleared;
        if let Some(recorded) =
            id.0.checked_sub(cleared)
                .and_then(|index| log.requests.get_mut(index))
        {
            change(recorded);
        }
        drop(log);
        self.wake();
    }

    fn wake(&self) {
        self.activity.send_modify(|count| *count += 1);
    }
}
