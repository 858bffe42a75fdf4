//! A writer that runs over a simulated server with the namespace `shop`.

use controller_core::client::{ClientOptions, ObjectKey, ResourceType, layered};
use controller_core::write::events::{
    Event, EventCounts, EventRecorder, EventSource, EventWriter, ObjectReference,
};
use serde_json::{Value, json};
use sim_apiserver::faults::{Rule, Verb};
use sim_apiserver::{Recorded, SimApiServer};
use tokio::task::JoinSet;
use tokio::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) const DEPLOYMENTS: ResourceType =
    ResourceType::namespaced("apps", "v1", "deployments", "Deployment");

pub(crate) struct Bed {
    pub(crate) server: SimApiServer,
    pub(crate) recorder: EventRecorder,
    pub(crate) shutdown: CancellationToken,
    writer: Option<EventWriter>,
    running: JoinSet<EventCounts>,
}

pub(crate) fn web() -> ObjectReference {
    ObjectReference::new(
        &DEPLOYMENTS,
        &ObjectKey::namespaced("shop", "web"),
        "uid-web",
    )
}

/// An event about `shop/web`.
pub(crate) fn raised(note: &str) -> Event {
    Event::normal(web(), "Raised", "Scale", note)
}

/// An event about the Deployment `shop/NAME`.
pub(crate) fn about(name: &str) -> Event {
    let key = ObjectKey::namespaced("shop", name);
    let object = ObjectReference::new(&DEPLOYMENTS, &key, format!("uid-{name}"));
    Event::warning(object, "FailedUpdate", "Update", "a note")
}

pub(crate) fn creates(rule: Rule) -> Rule {
    rule.verb(Verb::Create).resource("events")
}

pub(crate) fn patches(rule: Rule) -> Rule {
    rule.verb(Verb::Patch).resource("events")
}

pub(crate) fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

// === impl Bed ===

impl Bed {
    /// With a writer that has not begun.
    pub(crate) async fn idle() -> Self {
        let server = SimApiServer::builder().start().await.unwrap();
        for name in ["default", "shop"] {
            server.seed(json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name},
            }));
        }
        let options = ClientOptions {
            request_timeout: Some(Duration::from_secs(5)),
            ..ClientOptions::new("test")
        };
        let writer = EventWriter::new(layered(server.service(), &options), "minrep");
        let source = EventSource::new("minrep.dev/min-replicas", "pod-1").unwrap();
        Self {
            recorder: writer.recorder(source),
            server,
            shutdown: CancellationToken::new(),
            writer: Some(writer),
            running: JoinSet::new(),
        }
    }

    /// With a writer that runs.
    pub(crate) async fn new() -> Self {
        let mut bed = Self::idle().await;
        bed.run();
        bed
    }

    pub(crate) fn writer(&mut self) -> &mut Option<EventWriter> {
        &mut self.writer
    }

    pub(crate) fn run(&mut self) {
        let writer = self.writer.take().unwrap();
        self.running.spawn(writer.run(self.shutdown.clone()));
    }

    /// Records, and waits until so many requests were answered or given up.
    pub(crate) async fn record(&self, event: Event, requests: usize) {
        self.recorder.record(event);
        self.asked(requests).await;
    }

    /// Waits until the server was asked so often.
    pub(crate) async fn asked(&self, requests: usize) {
        self.server
            .wait_for_requests(|recorded| recorded.len() >= requests)
            .await;
    }

    /// Lets time pass. The clock is paused: whatever is due happens on the way.
    pub(crate) async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    pub(crate) async fn stop(&mut self) -> EventCounts {
        self.shutdown.cancel();
        self.ended().await
    }

    /// Waits for the writer to end by itself.
    pub(crate) async fn ended(&mut self) -> EventCounts {
        self.running.join_next().await.unwrap().unwrap()
    }

    /// The events that the server has, in the words of events.k8s.io.
    pub(crate) fn events(&self) -> Vec<Value> {
        let mut events = self.server.objects("events");
        events.sort_by_key(|event| event["metadata"]["name"].to_string());
        events
    }

    /// All requests that arrived: `POST 201`, `PATCH 404`; `-` is no answer.
    pub(crate) fn exchange(&self) -> Vec<String> {
        let word = |request: &Recorded| {
            let status = request.status.map(|status| status.as_u16().to_string());
            format!("{} {}", request.method, status.as_deref().unwrap_or("-"))
        };
        self.server.requests().iter().map(word).collect()
    }
}
