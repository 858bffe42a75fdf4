//! What a cache allocates, and when it lets go: every test counts the bytes of this process.
//!
//! The tests take turns, for the count is of all threads. What the test harness itself
//! allocates meanwhile is less than [`NOISE`].
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]
mod body;
mod projection;
mod relist;

use parking_lot::{Mutex, MutexGuard};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One byte more for each object of a test is well above it.
const NOISE: usize = 4 << 10;

/// Keeps the others out while it lives.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
}
