//! Faults on demand, between a Kubernetes client and an API server.
//!
//! A script is a list of [`Rule`]s. Each says which requests it is about (verb, resource, namespace, name,
//! the n-th attempt, a window of time) and what goes wrong ([`Action`]). [`FaultLayer`] is a tower layer that
//! carries the script out; it stands inside the simulated API server and can as well stand in a proxy before
//! a real one. [`Faults`] is the handle that a test keeps: it changes the rules while the server runs and
//! counts how often each fired.
//!
//! Scripts are built in Rust ([`Rule::new`]) or read from YAML ([`Script::parse`]); the format is described in
//! the crate's `README.md`.
//!
//! ```
//! use faults::{Action, Faults, Rule, Verb};
//!
//! let faults = Faults::default();
//! let busy = faults.add(
//!     Rule::new(Action::status(429).retry_after(1))
//!         .verb(Verb::List)
//!         .resource("deployments")
//!         .attempts(1..=3),
//! );
//! assert_eq!(faults.fired(busy), 0);
//! ```
//!
//! All waiting is done by tokio's timers, so a paused clock governs it.

mod action;
mod attempts;
mod body;
mod layer;
mod opaque;
mod past;
mod pattern;
mod plan;
mod proxy;
mod request_info;
mod reset;
mod rule;
mod script;
mod seen;
pub mod serve;
mod status_fault;
mod stream_fault;

pub use action::Action;
pub use attempts::Attempts;
pub use body::FaultBody;
pub use layer::{FaultLayer, FaultService};
pub use past::{Past, ServerFaults};
pub use pattern::Pattern;
pub use plan::{Faults, RuleCount, RuleId};
pub use proxy::{Proxy, ProxyError};
pub use request_info::{RequestInfo, Verb};
pub use reset::ResetSwitch;
pub use rule::{Matcher, Rule, Window};
pub use script::{ProxyCannot, Script, ScriptError};
pub use seen::Seen;
pub use status_fault::StatusFault;
pub use stream_fault::{Counted, Cut, Ending, Place, StreamFault};

/// The error type of the layer and of its bodies: whatever the inner service failed with, or an
/// [`std::io::Error`] of kind `ConnectionReset` where a rule cut the connection.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
