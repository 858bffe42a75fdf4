//! Plan → API. The only place, with leader election, that sends a mutating verb.
//!
//! Whoever wants to know what this crate can do to a cluster reads this folder. It is short
//! on purpose: no decision is made here.
//!
//! # Promises
//!
//! Every write to an object that we did not create carries the uid and the
//! resourceVersion that were observed, so that the server refuses it if anything changed.
//! A request that was sent is awaited to its deadline: it runs in a task of its own, which
//! outlives the reconcile call that asked for it, and [`ScaleWriter::flush`] waits for it. What
//! comes of it then is [told](ScaleWriter::on_late_answer) all the same.
//! After [`ScaleWriter::close`] nothing more is sent, nor sent again because the server had
//! asked to come back later.
//!
//! [`events`] are the exception to both. They are objects that we create ourselves, so that
//! there is nothing to guard; and they are best effort, so that one under way may be dropped
//! at the end, which is counted.
//!
//! # Not promised
//!
//! That a write without an answer was not applied: whoever asked has to look at the object.
//!
//! # A write, as it is sent
//!
//! ```text
//! PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale?fieldManager=minrep
//! Content-Type: application/merge-patch+json
//!
//! {"metadata":{"uid":"…","resourceVersion":"…"},"spec":{"replicas":2}}
//! ```
//!
//! The other one goes to an autoscaler, if the user asked for that, and is guarded alike:
//!
//! ```text
//! PATCH /apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web?fieldManager=minrep
//!
//! {"metadata":{"uid":"…","resourceVersion":"…"},"spec":{"minReplicas":2}}
//! ```
//!
//! - **`scale` and not the Deployment.** It is a permission of its own, so that whoever may
//!   only scale may do this, and there is no way to touch anything but the number.
//! - **A merge patch with a version.** The server compares uid and resourceVersion with what
//!   it has and refuses if either differs: optimistic concurrency, as with an update,
//!   without sending back fields that this program does not know.
//! - **Not server-side apply.** Applying makes a program the owner of a field for good. This
//!   one wants to raise a number once, and leave it to whoever owns it.
//! - **`fieldManager`**, so that `managedFields` tells who wrote.
//!
//! # Costs
//!
//! Of scaling: a task a write, for as long as its request lasts; a lock that is held while one is
//! started. There are never more writes under way than workers.
//!
//! # If you know client-go
//!
//! For events, `tools/events`: see [there](events#where-it-differs-from-client-go). For
//! scaling, `scale.ScalesGetter` with `Patch` is the nearest. It has no counterpart of the task and
//! of `flush`: in Go a cancelled context leaves a sent write to itself.
pub mod events;
mod guarded;
mod late;
mod min_replicas;
mod scale;
mod scale_writer;

pub use crate::controllers::min_replicas::FIELD_MANAGER;
pub use scale_writer::ScaleWriter;
