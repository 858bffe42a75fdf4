//! A Kubernetes API server inside a test process.
//!
//! It answers what controllers and kubectl ask: discovery, get, paged lists, watches with bookmarks, create,
//! update, patches, the `scale` and `status` subresources, deletion with finalizers and owners, `dryRun`, and
//! refuses what the real server refuses, in its words. It can play the workload controllers
//! ([`Builder::workload_controllers`]), misbehave by a script ([`Builder::faults`]), and tells what it was
//! asked ([`SimApiServer::requests`]).
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use serde_json::json;
//! use sim_apiserver::SimApiServer;
//!
//! let server = SimApiServer::builder().start().await?;
//! server.seed(json!({
//!     "apiVersion": "apps/v1", "kind": "Deployment",
//!     "metadata": {"name": "web", "namespace": "default"},
//!     "spec": {"replicas": 1},
//! }));
//! // A kube::Client that speaks to it without a socket: kube::Client::new(server.service(), "default").
//! // Over a socket: server.kubeconfig() or server.url().
//! assert_eq!(server.object("deployments", "default", "web").unwrap()["spec"]["replicas"], 1);
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! All waiting is done by tokio's timers on the caller's runtime: a paused clock governs bookmarks, timeouts,
//! delays and Pods that become Ready. A paused-time test must run client and server on one current-thread
//! runtime.

/// The page's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod back_door;
mod body;
mod builder;
mod config;
mod decode;
mod handlers;
mod kinds;
mod kubeconfig;
mod lifecycle;
mod many_deployments;
mod openapi;
mod patch;
mod recorder;
mod selector;
mod server;
mod service;
mod status;
mod store;
mod strconv;
mod tls;
mod view;
mod watch;
mod workload;

pub use body::ApiBody;
pub use builder::{Builder, StartError};
pub use faults;
pub use faults::BoxError;
pub use kinds::Kind;
pub use many_deployments::many_deployments;
pub use recorder::Recorded;
pub use server::SimApiServer;
pub use service::SimService;
pub use store::RestoreError;
pub use tls::{Tls, TlsError};
