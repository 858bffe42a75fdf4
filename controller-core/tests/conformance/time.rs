use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use controller_core::watch::Streaming;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::real;

thread_local! {
    /// Whether this test may be about a real server.
    static MAY_BE_REAL: Cell<bool> = const { Cell::new(false) };
}

/// So often is it looked for traffic before time jumps: more often than some fifty requests, one
/// after the other, change hands between client and server.
const ROUNDS: u32 = 400;
/// What a loopback connection may take to deliver while others compile.
const NAP: Duration = Duration::from_micros(100);
/// No test is about more than that: one that takes longer waits for what does not come.
const ENDLESS: Duration = Duration::from_secs(4 * 60 * 60);

/// The same in real time.
const PATIENCE: Duration = Duration::from_secs(45);

/// Runs a test against the simulated server, to its end, on one thread.
///
/// Time stands still while anything is under way, and jumps to the next timer when not. tokio's
/// own paused clock does that too, but takes a socket that has just become readable for
/// "nothing": each answer would be late by one timer. Here the sockets are looked at again and
/// again before time may jump.
pub(crate) fn simulated<T>(test: impl Future<Output = T>) -> T {
    let (asked, rounds) = (Arc::new(Notify::new()), AtomicU32::new(0));
    let again = Arc::clone(&asked);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .on_thread_park(move || {
            let round = rounds.fetch_add(1, Ordering::Relaxed);
            if round == ROUNDS {
                rounds.store(0, Ordering::Relaxed);
                return;
            }
            if round % (ROUNDS / 3) == ROUNDS / 6 {
                thread::park_timeout(NAP);
            }
            // Whoever has work does not park: it looks at the sockets and comes back.
            again.notify_one();
        })
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut awake = JoinSet::new();
        awake.spawn(async move {
            loop {
                asked.notified().await;
            }
        });
        timeout(ENDLESS, test)
            .await
            .expect("the test waits in vain")
    })
}

/// The same, with streaming lists and then without.
pub(crate) fn in_both_ways(test: impl AsyncFn(Streaming)) {
    for streaming in [Streaming::Auto, Streaming::Never] {
        let run = AssertUnwindSafe(|| simulated(async { test(streaming).await }));
        if let Err(panic) = catch_unwind(run) {
            tell(streaming);
            resume_unwind(panic);
        }
    }
}

/// What a test below `both` is run by. As [`in_both_ways`]; where the environment names a real
/// server, against that, in real time, and in the way that the environment says.
pub(crate) fn anywhere(test: impl AsyncFn(Streaming)) {
    match real::way() {
        Some(streaming) => in_real_time(test(streaming)),
        None => in_both_ways(test),
    }
}

/// The same for what is about lists in pages only, whatever the environment says.
pub(crate) fn anywhere_paged(test: impl AsyncFn()) {
    match real::way() {
        Some(_) => in_real_time(test()),
        None => simulated(async { test().await }),
    }
}

/// Whether this test runs against the real server.
pub(crate) fn is_real() -> bool {
    MAY_BE_REAL.get()
}

fn in_real_time(test: impl Future<Output = ()>) {
    MAY_BE_REAL.set(true);
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        timeout(PATIENCE, test)
            .await
            .expect("the test waits in vain");
    });
}

#[expect(clippy::print_stderr, reason = "it belongs to the panic's message")]
fn tell(streaming: Streaming) {
    eprintln!("that was with streaming: {streaming:?}");
}
