//! A Kubernetes controller toolkit: the pattern that client-go teaches, in Rust.
//!
//! With it you write a program that watches objects of one kind, or of several, and keeps
//! making the world look as those objects ask for. It works for any kind: built-in, custom,
//! known only at run time, with namespaces or without. Two things are in the crate: the
//! parts ([stages](#the-path-of-one-event) 0 to 5), which know no kind at all, and a ready
//! controller made of them, [`min_replicas`](controllers::min_replicas).
//!
//! Read this page once from top to bottom; it is meant as a course. After that each
//! module's page has the contract of its stage, and [`runtime::run`] is the whole system
//! in one function.
//!
//! 1. [The path of one event](#the-path-of-one-event)
//! 2. [Level-based, not edge-based](#level-based-not-edge-based)
//! 3. [Write your own controller](#write-your-own-controller)
//! 4. [What is guaranteed, and what is not](#what-is-guaranteed-and-what-is-not)
//! 5. [Differences from client-go](#differences-from-client-go)
//! 6. [Testing a controller](#testing-a-controller)
//! 7. [Building](#building)
//! 8. [What it does not do yet](#what-it-does-not-do-yet)
//!
//! # The path of one event
//!
//! One folder is one stage, in this order:
//!
//! | # | module | in → out |
//! |---|---|---|
//! | 0 | [`client`] | kubeconfig, service account → [`kube::Client`] |
//! | 1 | [`watch`] | HTTP → [`watch::WatchEvent`] |
//! | 2 | [`store`] | `WatchEvent` → cache + [`store::Delta`] |
//! | 3 | [`handler`] | `Delta` → keys |
//! | 4 | [`queue`] | keys → [`queue::Ticket`] |
//! | 5 | [`worker`] | `Ticket` → a reconcile call |
//! | 6 | [`controllers`] | cache → plan |
//! | 7 | [`write`](mod@write) | plan → API |
//!
//! [`informer`] joins stages 1 to 3, [`runtime`] wires everything.
//!
//! ```text
//!            0 client     1 watch      2 store        3 handler
//! API server ─────────────► events ────► cache ────────► keys ─────┐
//!     ▲                                    │ reads                 ▼
//!     │                                    ▼                    4 queue
//!     └──────────── 7 write ◄── plan ◄── 6 controllers ◄── 5 worker ┘
//! ```
//!
//! Follow one event. Somebody runs `kubectl scale deployment web --replicas=1`.
//!
//! 1. The server writes a line to every open watch of Deployments. `watch` cuts it out of
//!    the stream, reads the fields that the controller asked for, and calls the result
//!    [`WatchEvent::Modified`](watch::WatchEvent::Modified).
//! 2. `store` puts the new object into the cache, finds the old one there, and says
//!    [`Delta::Updated`](store::Delta::Updated) with both.
//! 3. A handler turns that into a key, `shop/web`, and puts it into a queue. Here the
//!    news ends: nobody will ever be told that it was an update, or from what to what.
//! 4. `queue` has the key in line already? Then nothing happens: one look serves both
//!    events. Is a worker busy with it? Then it comes back when that worker is done.
//! 5. A worker takes the [`Ticket`](queue::Ticket) and calls the
//!    [`Reconciler`](worker::Reconciler) with the key.
//! 6. The controller looks the key up in the cache, sees 1 replica where 2 are asked for,
//!    and plans a raise. This step is a pure function.
//! 7. `write` sends one patch with the uid and the resourceVersion that were looked at.
//!    If anything has changed since, the server says 409 and nothing is written.
//!
//! The patch changes the object, so that the same path is walked once more. This time the
//! controller finds nothing to do. That second, idle look is normal: it is how a controller
//! learns that it is done.
//!
//! # Level-based, not edge-based
//!
//! The two words are from electronics. An edge-triggered circuit acts when a signal
//! *changes*; a level-triggered one acts on what the signal *is*. A controller that counts
//! "+1 replica, −1 replica" is edge-based: one lost message makes it wrong for ever. A
//! controller that compares "there are 1, there should be 2" is level-based: it can miss
//! messages, get them twice or late, or be restarted in the middle, and the next look puts
//! everything right. In Kubernetes messages do get lost. Watches break, versions expire,
//! processes are moved. So the whole crate is built for the second kind:
//!
//! - **Events wake, they never decide.** [`Reconciler::reconcile`] gets a key and nothing
//!   else. There is no parameter through which it could learn what happened.
//! - **One look serves many events.** A thousand changes of one object while a worker is
//!   busy are one more call. The work is bounded by the number of objects, not of events.
//! - **The first start and a restart are the same case** as a change: all objects are put
//!   in line. There is no separate "initialisation" that could disagree with the rest.
//! - **A deletion is a key that the cache does not have.** Who needs the old object to
//!   clean up behind it needs a finalizer: the object then stays until the work is done.
//!
//! The price is that a reconciler must be *idempotent*: to be called for an object that is
//! as it should be has to cost a look and no write.
//!
//! [`Reconciler::reconcile`]: worker::Reconciler::reconcile
//!
//! # Write your own controller
//!
//! A custom kind `Greeting` has a name in its spec; the controller greets it in the status.
//! This is a whole controller, without the parts hidden that hurt: the kind, the decision, a
//! guarded write, the start and the end.
//!
//! ```
//! use std::sync::Arc;
//!
//! use controller_core::client::{Call, ObjectKey, ResourceType, Scope, Verb, fetch};
//! use controller_core::handler::EnqueueHandler;
//! use controller_core::informer::{InformerOptions, SharedInformer};
//! use controller_core::queue::WorkQueue;
//! use controller_core::store::{Delta, Lister};
//! use controller_core::watch::{Object, WatchOptions};
//! use controller_core::worker::{Outcome, ReconcileError, Reconciler, WorkerPool};
//! use serde::Deserialize;
//! use serde_json::{Value, json};
//! use tokio::time::{Duration, Instant};
//! use tokio_util::sync::CancellationToken;
//!
//! const GREETINGS: ResourceType =
//!     ResourceType::namespaced("example.com", "v1", "greetings", "Greeting");
//!
//! // A projection: only what the controller looks at is kept, all else is skipped.
//! #[derive(Deserialize)]
//! struct Greeting {
//!     metadata: Metadata,
//!     spec: Spec,
//!     #[serde(default)]
//!     status: Status,
//! }
//!
//! #[derive(Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Metadata { namespace: String, name: String, uid: String, resource_version: String }
//!
//! #[derive(Deserialize)]
//! struct Spec { name: String }
//!
//! #[derive(Default, Deserialize)]
//! struct Status { text: String }
//!
//! impl Object for Greeting {
//!     fn key(&self) -> ObjectKey {
//!         ObjectKey::namespaced(&self.metadata.namespace, &self.metadata.name)
//!     }
//!     fn uid(&self) -> &str { &self.metadata.uid }
//!     fn resource_version(&self) -> &str { &self.metadata.resource_version }
//! }
//!
//! struct Greeter { greetings: Lister<Greeting>, client: kube::Client }
//!
//! impl Reconciler for Greeter {
//!     type Key = ObjectKey;
//!
//!     async fn reconcile(&self, key: &ObjectKey) -> Result<Outcome, ReconcileError> {
//!         // Observe. Not in the cache: it is gone, and nothing is to be done.
//!         let Some(greeting) = self.greetings.get(key) else { return Ok(Outcome::Done) };
//!         // Plan: what should be, compared with what is.
//!         let text = format!("Hello, {}!", greeting.spec.name);
//!         if greeting.status.text == text { return Ok(Outcome::Done) }
//!         // Write, guarded by what was looked at.
//!         let seen = json!({
//!             "uid": greeting.uid(),
//!             "resourceVersion": greeting.resource_version(),
//!         });
//!         let patch = json!({ "metadata": seen, "status": { "text": text } });
//!         let call = Call {
//!             verb: Verb::Patch,
//!             method: http::Method::PATCH,
//!             path_and_query: format!("{}/status", GREETINGS.object_path(key)),
//!             content_type: Some("application/merge-patch+json"),
//!             body: patch.to_string().into(),
//!             ..Call::get(&GREETINGS, key)
//!         };
//!         // A 409 is no disaster: the event that caused it is on its way, or already here.
//!         fetch::<Value>(&self.client, call).await.map_err(ReconcileError::transient)?;
//!         Ok(Outcome::Done)
//!     }
//! }
//!
//! async fn run(client: kube::Client, shutdown: CancellationToken) {
//!     // Stages 1 to 4: a watch and its cache, a handler, a queue.
//!     let queue = WorkQueue::new("greeter");
//!     let everywhere = InformerOptions::new(WatchOptions::new(Scope::All));
//!     let informer = SharedInformer::<Greeting>::new(client.clone(), GREETINGS, everywhere);
//!     let handler = informer.add_handler(EnqueueHandler::new(
//!         Arc::new(queue.clone()),
//!         |delta: &Delta<Greeting>| vec![delta.key()],
//!     ));
//!     let greeter = Greeter { greetings: informer.lister(), client };
//!     let stop_watch = CancellationToken::new();
//!     let work = async {
//!         // Nothing is decided from half a cache.
//!         if shutdown.run_until_cancelled(handler.synced()).await == Some(true) {
//!             let pool = WorkerPool::new(queue.clone(), Arc::new(greeter), 2);
//!             tokio::join!(pool.run(), async {
//!                 shutdown.cancelled().await;
//!                 let deadline = Instant::now() + Duration::from_secs(25);
//!                 queue.shut_down_with_drain(deadline).await;
//!             });
//!         }
//!         // The watch ends last: until then the last decisions see a fresh cache.
//!         stop_watch.cancel();
//!     };
//!     tokio::join!(informer.run(stop_watch.clone()), work);
//! }
//! #
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! #     use sim_apiserver::{Kind, SimApiServer};
//! #     const KIND: Kind =
//! #         Kind::new("example.com", "v1", "Greeting", "greetings").with_status();
//! #     let server = SimApiServer::builder().kind(KIND).start().await?;
//! #     server.seed(json!({
//! #         "apiVersion": "example.com/v1", "kind": "Greeting",
//! #         "metadata": {"name": "first", "namespace": "default"}, "spec": {"name": "world"},
//! #     }));
//! #     let options = controller_core::client::ClientOptions::new("greeter/1.0");
//! #     let client = controller_core::client::layered(server.service(), &options);
//! #     let shutdown = CancellationToken::new();
//! #     let greeted = async {
//! #         server.wait_for_object("greetings", "default", "first", |it| {
//! #             it.is_some_and(|it| it["status"]["text"] == "Hello, world!")
//! #         }).await;
//! #         server.mutate("greetings", "default", "first", |it| it["spec"]["name"] = json!("you"));
//! #         server.wait_for_object("greetings", "default", "first", |it| {
//! #             it.is_some_and(|it| it["status"]["text"] == "Hello, you!")
//! #         }).await;
//! #         shutdown.cancel();
//! #     };
//! #     let both = async { tokio::join!(run(client, shutdown.clone()), greeted) };
//! #     tokio::time::timeout(Duration::from_secs(10), both).await?;
//! #     server.shutdown().await;
//! #     Ok(())
//! # }
//! ```
//!
//! In a program, `run` stands behind three lines: [`client::Loader`] finds the cluster,
//! [`client::build`] makes the client, and a task cancels `shutdown` at SIGTERM. Outside of
//! examples three more things are worth their lines:
//!
//! - **Writes in a task of their own.** A reconcile call may be dropped, at its
//!   [deadline](worker::WorkerPool::reconcile_deadline) or when a shutdown runs out of time,
//!   and with it a request whose answer nobody will hear. [`write::ScaleWriter`] shows how
//!   a sent write outlives its caller and is awaited at the end.
//! - **A plan as a function.** Put the decision into a function of plain values, as
//!   [`min_replicas::plan`](controllers::min_replicas::plan()): then it is tested as a table.
//! - **A way out of the first wait.** A missing permission keeps a cache from ever syncing.
//!   [`SharedInformer::status`](informer::SharedInformer::status) tells why; decide what to
//!   do about it, as [`runtime::run`] does.
//!
//! # What is guaranteed, and what is not
//!
//! Guaranteed, and tested:
//!
//! - **No object is missed.** Every object that the server lists, and that can be read, is
//!   in the cache, and every change of it leads to a look after the change. A change that
//!   comes while a worker is busy with the object leads to another look.
//! - **Every end is told once.** An object that vanishes from the cache yields exactly one
//!   [`Deleted`](store::Deleted), also when nobody watched while it went. An object that was
//!   made anew under the same name is a delete and an add, never an update.
//! - **No going back.** Within one history of the server no object returns to an older
//!   version, whichever API server behind the load balancer answers.
//! - **One worker a key.** Two calls for one key never overlap, in one process.
//! - **Isolation.** A handler, an index function or a reconcile call that panics costs that
//!   one call. A slow handler costs neither the cache nor another handler anything.
//! - **An end.** After `shutdown` every task has ended before `run` returns.
//!
//! Not guaranteed. None of this can be mended by a library; a design has to live with it:
//!
//! - **Intermediate states may be skipped.** 1 → 3 → 2 replicas may be seen as 1 → 2.
//! - **The final state of a deleted object may be unknown.** What a
//!   [`Tombstone`](store::Tombstone) holds is the last state that was *seen*.
//! - **Order is per object only.** A Pod may be seen before the ReplicaSet that made it. Two
//!   handlers, and two informers, have no order between them.
//! - **A cache lags.** Mostly by milliseconds, after a network fault by minutes. It also lags
//!   behind your own writes. Hence the guard in every write: the server compares.
//! - **"One worker a key" ends at the process.** Two replicas of a controller need leader
//!   election, and even that cannot stop a process that was paused in the middle of a write
//!   and wakes up as a former leader. What does is, again, the guard: uid and resourceVersion
//!   are checked where the object is, in the server. This is what is meant by *fencing*.
//! - **An error of a write does not mean that nothing was written.** An answer can get lost;
//!   [`ApiError::answer_lost`](client::ApiError::answer_lost) says when it may have been.
//!
//! # Differences from client-go
//!
//! The names are client-go's wherever it has one. Where ours behaves otherwise there is a
//! reason, mostly a report by somebody who was bitten:
//!
//! | client-go | here |
//! |---|---|
//! | `Done` must be called; forgotten, the key is stuck for ever | a [`Ticket`](queue::Ticket) is done when it is dropped, also by a panic |
//! | a missed delete and recreate is one update from the old uid to the new one | a `Deleted` and an `Added` |
//! | `DeletedFinalStateUnknown` hides in an `interface{}`; a type assertion panics | [`Deleted`](store::Deleted) is an enum, the compiler asks for both cases |
//! | the tombstone's object may be `nil` | it is always there |
//! | notifications for a slow handler pile up without bound | the mailbox is bounded, then merged by key |
//! | a panic in a handler ends the process, or keeps it from ever syncing | it is counted, and the handler goes on |
//! | an index function that fails ends the process | the object is left out of that index, and counted |

//! | the backoff starts over by the clock, every 2 min in a long outage | only after a healthy time |
//! | a watch on a dead connection waits as long as the transport does | an idle deadline: 150 s where bookmarks come |
//! | one shared bucket limits all retries: one hot key slows every other | the default limiter is per key |
//! | a first list or resync of 10,000 keys stands before an event | two [bands](handler::Band): events overtake, nothing starves |
//! | a delayed add cannot be postponed or cancelled, and is served twice after a plain add | [`replace_after`](queue::WorkQueue::replace_after), [`cancel`](queue::WorkQueue::cancel); an add ends the delay |
//! | a drain waits for the keys in work, not for those in line | it waits for both, to a deadline |
//! | a cache may be behind the controller's own writes, and nothing tells | [`OwnWrites`](store::OwnWrites) tells, and waits |
//! | a streamed list whose end does not come is waited for, for ever | after 10 s without progress it is read page by page |
//! | a version that expires again and again is listed again and again | twice, then ever less often |
//! | a Table, or a gateway's page with a 200, can be an empty list | what is no list is refused, on every page |
//! | an informer cannot tell why it has not synced | [`ReflectorStatus`](watch::ReflectorStatus) has the error, [`synced`](informer::SharedInformerFactory::synced) names who is missing |
//! | an informer that has stopped is done for | it [runs again](informer::SharedInformer::run), and its handlers, listers and indexes go on |
//! | a slow handler shows only as memory | it is named in the log, and in the [health](informer::SharedInformer::health) of its informer |
//! | a transform may see an object twice, and one that fails drops it | [once](informer::InformerOptions::transform) for each object, and what fails is quarantined |
//! | `RemoveEventHandler` does not wait for the last call | [`Registration::remove`](informer::Registration::remove) does |
//! | the client is slowed to 5 requests a second by default | no client-side limit: priority and fairness in the server does it |
//!
//! # Testing a controller
//!
//! Four layers, each cheaper than the next. Use the first that can find the fault:
//!
//! 1. The plan, a pure function: a table of observations and decisions.
//! 2. The reconciler over a cache that the test fills: [`store::cache`] gives a writer and a
//!    lister, and [`WatchEvent`](watch::WatchEvent) is a plain enum to write with.
//! 3. The whole controller over a server in the process: [`client::layered`] takes any tower
//!    service in place of a network. The repository's `sim-apiserver` is one, with faults on
//!    demand; the example above runs against it.
//! 4. A real API server, for what only admission, defaulting and RBAC can show.
//!
//! All waiting goes through tokio's clock, so that `#[tokio::test(start_paused = true)]`
//! makes a 30 s backoff take no time at all. Keep client and server on one current-thread
//! runtime then: on two the paused clock jumps ahead while bytes are under way.
//!
//! # Building
//!
//! The crate builds on `k8s-openapi` but sets none of its version features: one build may
//! have only one, and the *program* chooses it. Add to the program's `Cargo.toml`:
//!
//! ```toml
//! [dependencies]
//! controller-core = { path = "../controller-core" }
//! k8s-openapi = { version = "0.29", features = ["latest"] }
//! ```
//!
//! Without any, the build of `k8s-openapi` stops with a message that asks for one. For the
//! same reason `cargo check -p controller-core` alone fails in this repository, whereas
//! with `--workspace`, or `--all-targets`, another member brings the feature along.
//!
//! `kube` comes without its `runtime` feature, and should stay so in what you write on top:
//! its watcher hides bookmarks and swallows deletions across a relist, and two caches of one
//! kind cost twice.
//!
//! A tokio runtime with its time driver must be there. The number of threads does not matter.
//!
//! # What it does not do yet
//!
//! - **Leader election.** Run one replica.
//! - **Metrics and probes**, but for the queue's ([`queue::QueueMetrics`]). What would feed the
//!   others is there: [`store::CacheCounts`], [`informer::Health`], [`worker::PoolSummary`].
//! - **Protobuf.** Lists and watches are JSON.
//! - **A second try with fresh credentials after a 401**, and a client-side rate limit.

pub mod client;
pub mod controllers;
pub mod handler;
pub mod informer;
pub mod queue;
pub mod runtime;
pub mod store;
pub mod watch;
pub mod worker;
pub mod write;

// The repository's README is an example like any other: it has to compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

// And so does the crate's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CrateReadme;
