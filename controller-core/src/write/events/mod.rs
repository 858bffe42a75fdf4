//! [`Event`] → an object of `events.k8s.io/v1`.
//!
//! What a controller did, and why, told where the user looks: `kubectl describe`,
//! `kubectl events`. [`EventRecorder`] is what the controller holds, [`EventWriter`] what the
//! program runs.
//!
//! ```
//! use controller_core::client::{ObjectKey, ResourceType};
//! use controller_core::write::events::{Event, EventSource, EventWriter, ObjectReference};
//! use tokio_util::sync::CancellationToken;
//!
//! const DEPLOYMENTS: ResourceType =
//!     ResourceType::namespaced("apps", "v1", "deployments", "Deployment");
//!
//! # use serde_json::json;
//! # use sim_apiserver::SimApiServer;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = SimApiServer::builder().start().await?;
//! # server.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
//! # let options = controller_core::client::ClientOptions::new("example/1.0");
//! # let client = controller_core::client::layered(server.service(), &options);
//! let writer = EventWriter::new(client, "my-controller");
//! let recorder = writer.recorder(EventSource::new("example.com/my-controller", "pod-1")?);
//!
//! // Anywhere in the controller, as often as it happens:
//! let web = ObjectReference::new(&DEPLOYMENTS, &ObjectKey::namespaced("shop", "web"), "uid");
//! for _ in 0..3 {
//!     recorder.record(Event::normal(web.clone(), "Raised", "Scale", "scaled from 1 to 2"));
//! }
//!
//! drop(recorder); // or: cancel the token
//! let counts = writer.run(CancellationToken::new()).await;
//! assert_eq!((counts.recorded, counts.written, counts.requests), (3, 3, 1));
//! # let events = server.objects("events");
//! # assert_eq!((events.len(), &events[0]["series"]["count"]), (1, &json!(3)));
//! # server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Promises
//!
//! - **Never in the way.** `record` takes a short lock and returns. It is no `async`, it
//!   returns nothing, and no state of the server changes that.
//! - **Bounded.** At most 1000 new events wait for the server, 4096 series are remembered,
//!   and 8 requests are under way. With all bounds reached by usual events that was 9 MB, and
//!   21 MB with the longest texts that the server takes.
//! - **Counted.** Whatever was recorded is written, or dropped for one of five
//!   [reasons](DropReason), or not yet written; [`EventCounts`] adds up at any time.
//! - **An end.** [`EventWriter::run`] returns within its flush deadline after the token was
//!   cancelled or the last recorder dropped, and leaves no task behind.
//! - **A quiet log.** A missing permission is one warning, an outage is one, and what a
//!   namespace that is being deleted refuses is none.
//!
//! # Not promised
//!
//! That an event arrives. Events are best effort, in the API server too, which forgets them
//! after an hour. State that someone relies on belongs into a status.
//!
//! # What is sent when
//!
//! | what happens | what is sent |
//! |---|---|
//! | an event | a create, at once |
//! | the same but for its note: its first repeat | a patch with `series: {count: 2, …}`, at once |
//! | further repeats | nothing; they are counted |
//! | every 30 min | a patch for each series that has grown |
//! | 6 to 12 min after the last of them | a patch with the last count; the next one is a new event |
//! | more than 25 about one object and type, and one each 300 s | nothing: [`SpamLimit`] |
//! | the event has vanished (404) | a create, with the count |
//! | an answer that is no API server's, or none | the same again after 10 to 12.5 s, 12 times in all |
//! | a refusal | nothing more |
//! | the end | one last try for all that the server does not know yet |
//!
//! The numbers are client-go's, from `tools/events` and, for the spam filter, `tools/record`.
//! Each stands with its source in `plan/limits.rs`.
//!
//! Names: `<object>.<time in hex>`, or a UUID where that is no valid name. Namespace: the
//! object's, `default` for objects that have none. The patch has no precondition: we made the
//! object, nobody else writes it, and a count that is sent twice is the same count.
//!
//! # Permissions
//!
//! ```yaml
//! - apiGroups: [events.k8s.io]
//!   resources: [events]
//!   verbs: [create, patch]
//! ```
//!
//! Without `patch` everything is told of once, and repeats are only counted here.
//!
//! # Where it differs from client-go
//!
//! | client-go 0.36 | here |
//! |---|---|
//! | the object's resourceVersion is part of a series' key, so that every change of the object ends it | it is not |
//! | the spam filter's key is all words in one string, so that different objects can share | a struct |
//! | the series are remembered without bound | 4096, the quietest is finished first |
//! | one goroutine per event, each with 12 tries | 8 requests, one buffer, everything beyond is counted |
//! | a create and a patch of one event race, and are sorted out by 409 and 404 | a series has one request at a time |
//! | while the server is away only the first event is sent again, its repeats are lost if that fails | each try sends the count of that moment |
//! | a create whose answer was lost is answered with 409, and forgotten | it is ours; its count goes on |
//! | a page of a gateway (502) is a refusal | it is no answer: tried again |
//! | a final and a half-hourly patch also when there is nothing new | only when there is |
//! | an event that was refused stays in the cache, its repeats are patches of nothing | forgotten |
//! | nothing is flushed at the end | queued events and counts are, until a deadline |
//! | every refusal is an error in the log | one warning for each kind |
//!
//! | client-go | here |
//! |---|---|
//! | `events.NewBroadcaster`, `NewEventBroadcasterAdapter` | [`EventWriter::new`] |
//! | `NewRecorder` | [`EventWriter::recorder`] |
//! | `StartRecordingToSink`, `Shutdown` | [`EventWriter::run`] |
//! | `Eventf` | [`EventRecorder::record`] with `format!` |
//! | `FakeRecorder` | [`EventRecorder::fake`] |
//! | `reference.GetReference` | [`ObjectReference::of`] |
//! | `GetFieldSelector` | [`ObjectReference::field_selector`] |
//! | `CorrelatorOptions` | [`SpamLimit`] |
//! | `EventAggregator` | none: notes are no part of a key, so there is nothing to aggregate |
//!
//! # Testing against it
//!
//! A controller's test uses [`EventRecorder::fake`]. Over a simulated server all waits are
//! tokio's, so that a paused clock passes the half hour of a series in no time; the times
//! *in* events are the wall's.
//!
//! # How it is made
//!
//! As the queue: `plan/` is the whole rule book, without lock, clock or client; `shared` puts
//! it under a lock; the writer is a loop that carries out what the plan says.
mod answer;
mod counts;
mod cut;
mod event;
mod event_metrics;
mod event_recorder;
mod event_source;
mod event_writer;
mod fake_events;
mod object_reference;
mod plan;
mod request;
mod shared;
mod write_log;

pub use counts::{DropReason, EventCounts};
pub use event::{Event, EventType};
pub use event_metrics::EventMetrics;
pub use event_recorder::EventRecorder;
pub use event_source::{EventSource, SourceError};
pub use event_writer::EventWriter;
pub use fake_events::FakeEvents;
pub use object_reference::{EventApi, ObjectReference};
pub use plan::{SpamKey, SpamLimit};
