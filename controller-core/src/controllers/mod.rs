//! Cache → plan, by way of what a controller is for.
//!
//! A controller observes (the caches, or one live object), makes a **plan** with a pure
//! function (no client, no clock, no I/O), and then asks for the write that the plan
//! names. Two runs over the same observation decide alike, and everything that can be
//! decided can be tested as a table.
//!
//! [`min_replicas`] is one. An embedder's own controller stands beside it: it implements
//! [`Reconciler`](crate::worker::Reconciler) and owns the trait by which it writes.
//!
//! # Three steps, always in this order
//!
//! 1. **Observe.** Collect everything that the decision rests on into one value. Here is
//!    the I/O of reading, and nothing is decided.
//! 2. **Plan.** A function from that value and the settings to what is to be done. It
//!    returns data, and names a reason also for doing nothing.
//! 3. **Write.** Carry the plan out. Here is the I/O of writing, and nothing is decided
//!    either: what the server refuses is read anew and goes back to step 2.
//!
//! The order is what makes a controller testable and explicable. The plan is a table in a
//! test. A dry run is a plan that is printed and not written. "Why was this one left
//! alone?" is answered by the reason, not by a debugger. And a second implementation of the
//! rule, a report or an admission webhook, calls the same function.
//!
//! # A controller of your own
//!
//! | file | what is in it | what is not |
//! |---|---|---|
//! | one a kind | the projection: the fields that the plan looks at | methods that decide |
//! | `plan.rs` | `Observed`, `Plan`, `plan()`; pure | a client, a clock, `async` |
//! | `reason.rs` | every outcome, with a token for machines and words for people | |
//! | `reconciler.rs` | `impl Reconciler`: observe, plan, ask for the write | a request that changes something |
//! | a trait such as [`WriteScale`](min_replicas::WriteScale) | how a write is asked for | how it is sent |
//!
//! For a controller of sixty lines one file is enough, and the order is kept all the same:
//! see the [front page](crate#write-your-own-controller).
//!
//! # Mistakes that cost people clusters
//!
//! The dangerous one is to write what was planned without what it was planned from:
//! the cache is always a little old, so every write to an object that we did not create
//! carries its uid and resourceVersion.
//!
//! ```text
//! wrong   {"spec": {"replicas": 2}}
//!         somebody has scaled to 10 a second ago; this takes 8 away
//!
//! right   {"metadata": {"uid": "…", "resourceVersion": "…"}, "spec": {"replicas": 2}}
//!         409, nothing is written, the plan is made anew and finds nothing to do
//! ```
//!
//! Two more. A field has *one* owner: two controllers that write the same field fight for
//! ever, each by its own rule in the right. And what cannot be read is not absent: a missing
//! permission to list autoscalers must not look like "there are none".
pub mod min_replicas;
