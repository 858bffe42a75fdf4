//! Interleavings of a few calls, tried by loom: a lost wake-up shows as a deadlock.
//!
//! ```sh
//! RUSTFLAGS="--cfg queue_loom" cargo test -p controller-core --release --test loom_queue
//! ```
//!
//! compiles the crate against loom's lock, clock and timer, and tries every interleaving of a
//! producer, a worker, time that passes and a shutdown; and of two producers and a worker, where
//! one producer delays its key, waits and shuts down. If a thread of its own does that, it tries
//! those with up to five preemptions. Of two producers and two workers it tries those with up to
//! three if each worker takes one key, and with up to two if the workers go on. (With three that
//! is eight minutes.)
//! Without the cfg only the core of the queue is compiled against loom, once more, as a part
//! of this test: a quick run with fewer preemptions, for whoever runs all tests.
#![cfg_attr(
    not(queue_loom),
    expect(
        dead_code,
        unreachable_pub,
        reason = "the core is compiled here as a private part of a test"
    )
)]

#[cfg(not(queue_loom))]
#[path = "../../src/queue/clock.rs"]
mod clock;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/counts.rs"]
mod counts;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/depth.rs"]
mod depth;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/drain.rs"]
mod drain;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/durations.rs"]
mod durations;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/entries.rs"]
mod entries;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/get.rs"]
mod get;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/incoming.rs"]
mod incoming;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/line.rs"]
mod line;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/phase.rs"]
mod phase;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/removed.rs"]
mod removed;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/shared.rs"]
mod shared;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/snapshot.rs"]
mod snapshot;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/state.rs"]
mod state;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/ticket.rs"]
mod ticket;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/waiters.rs"]
mod waiters;
#[cfg(not(queue_loom))]
#[path = "../../src/queue/work.rs"]
mod work;

#[cfg(not(queue_loom))]
#[path = "../../src/queue/sync/model.rs"]
mod sync;

mod blocking;
mod contended;
mod delays;
mod keys;
#[cfg(not(queue_loom))]
mod parts;
mod shutdown;
#[cfg(queue_loom)]
mod whole;

#[cfg(queue_loom)]
use controller_core::queue::model_clock as sync;
#[cfg(not(queue_loom))]
use parts as queue;
#[cfg(queue_loom)]
use whole as queue;

/// The one type that the core takes from another stage.
#[cfg(not(queue_loom))]
mod handler {
    pub(crate) use controller_core::handler::Band;
}

/// How far a model is tried: with up to so many switches away from a thread that could go on.
/// A further one, or a further thread, multiplies the time by ten.
#[derive(Clone, Copy)]
struct Preemptions {
    quick: usize,
    /// `None` is every interleaving that there is.
    full: Option<usize>,
}

const EXHAUSTIVE: Preemptions = Preemptions {
    quick: 2,
    full: None,
};

/// For four threads that all have something to do.
const FIVE: Preemptions = Preemptions {
    quick: 2,
    full: Some(5),
};

const THREE: Preemptions = Preemptions {
    quick: 2,
    full: Some(3),
};

/// For as many threads as loom can do.
const THREE_OF_MANY: Preemptions = Preemptions {
    quick: 1,
    full: Some(3),
};

/// What ends within seconds with as many.
const TWO_OF_MANY: Preemptions = Preemptions {
    quick: 1,
    full: Some(2),
};

fn model(preemptions: Preemptions, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = if cfg!(queue_loom) {
        preemptions.full
    } else {
        Some(preemptions.quick)
    };
    model.check(move || {
        body();
        sync::reset();
    });
}
