//! Every interleaving of a few calls, tried by loom.
//!
//! The core of the queue is compiled once more here, against a lock, a clock and a timer
//! that loom controls (`sync.rs`). So the model needs no compiler flag, no second build
//! of the crate, and runs with all other tests. A lost wake-up shows as a deadlock, which
//! loom reports.
#![expect(
    dead_code,
    unreachable_pub,
    reason = "the core is compiled here as a private part of a test"
)]

#[path = "../../src/queue/clock.rs"]
mod clock;
#[path = "../../src/queue/counts.rs"]
mod counts;
#[path = "../../src/queue/depth.rs"]
mod depth;
#[path = "../../src/queue/drain.rs"]
mod drain;
#[path = "../../src/queue/durations.rs"]
mod durations;
#[path = "../../src/queue/entries.rs"]
mod entries;
#[path = "../../src/queue/get.rs"]
mod get;
#[path = "../../src/queue/line.rs"]
mod line;
#[path = "../../src/queue/phase.rs"]
mod phase;
#[path = "../../src/queue/shared.rs"]
mod shared;
#[path = "../../src/queue/snapshot.rs"]
mod snapshot;
#[path = "../../src/queue/state.rs"]
mod state;
#[path = "../../src/queue/ticket.rs"]
mod ticket;
#[path = "../../src/queue/waiters.rs"]
mod waiters;
#[path = "../../src/queue/work.rs"]
mod work;

mod delays;
mod keys;
mod queue;
mod shutdown;
mod sync;

/// The one type that the core takes from another stage.
mod handler {
    pub(crate) use controller_core::handler::Band;
}
