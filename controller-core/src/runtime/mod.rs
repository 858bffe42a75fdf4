//! Wires the stages: one function for a loop, one for a single pass.
//!
//! [`run`] is the whole system in one page: which stage feeds which, what is waited for
//! before the first decision, and in which order everything ends. [`once`] uses the same
//! plan and the same writes without a watch.
//!
//! # The start
//!
//! 1. It is found out whether the server has ScaledObjects, unless autoscalers are to be
//!    ignored. Only an API server's own list of what it has says that it has not. It is then
//!    asked again every two minutes; from when it has them nothing is decided until they have
//!    been read.
//! 2. The watches begin, each with its cache and its handler. Keys collect in the queue.
//! 3. *All* caches are waited for. A decision looks at three or four kinds, and a cache that is
//!    empty because it is late says "there is no autoscaler" as convincingly as one that is
//!    empty because there is none.
//! 4. A list or a watch that is refused in a way that only a person can mend (no permission,
//!    no such server, wrong credentials) ends the start with [`NotSynced`]. Anything else is
//!    waited out. Later on nothing but the token ends a run.
//! 5. The workers begin.
//!
//! # The end
//!
//! When the token is cancelled the intake closes, the keys in line are
//! worked off until the grace period ends, delayed keys are dropped and counted, writes
//! under way are awaited, Events are flushed, and the watches close last, so that the caches
//! are fresh to the end. A second signal is the binary's business: it ends the process.
//!
//! ```text
//! token ─► intake closed ─► keys in line ─► workers end ─► writes answered ─► Events flushed ─► watches end
//!                           └── shutdown_grace_period ──┘  └ write_deadline ┘  └─── 2 s ────┘
//! ```
//!
//! So the longest end is the sum of the three. In a Pod `terminationGracePeriodSeconds` has to
//! be above it, or the kubelet cuts it short.
//!
//! # For a controller of your own
//!
//! Nothing here is generic, and that is meant: it is sixty lines of plain code, to be read
//! and copied. Wiring is where controllers differ. In client-go terms [`run`] is the `main.go`
//! and the `Run` of sample-controller, put into one function.
mod error;
mod hold;
mod informers;
mod left_over;
mod not_yet_served;
mod once;
mod options;
mod retry_delays;
mod run;
mod selection;
mod served;
mod told_events;
mod told_states;
mod waiting;

pub use error::NotSynced;
pub use once::{Progress, once};
pub use options::{OnceOptions, OnceReport, RunOptions, RunSummary, Targets, TooManyChanges};
pub use retry_delays::RetryDelays;
pub use run::run;
