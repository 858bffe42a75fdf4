//! What the work queue allocates: the bytes of this process are counted. A single test, so
//! that no other runs beside it.
use controller_core::client::ObjectKey;
use controller_core::queue::WorkQueue;
use futures::FutureExt;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const KEYS: usize = 100_000;

/// Of each key in line, beyond the key itself and what it points to.
const BEYOND_THE_KEY: usize = 100;

/// The bytes that `run` had at its peak, beyond those before it.
fn allocated(run: impl FnOnce()) -> usize {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    run();
    MEMORY.peak_usage() - before
}

#[test]
fn a_key_in_line_costs_little_and_its_next_add_nothing() {
    let keys: Vec<_> = (0..KEYS)
        .map(|number| ObjectKey::namespaced(format!("ns-{}", number / 100), format!("{number}")))
        .collect();
    let queue = WorkQueue::new("test");
    let take = || queue.get().now_or_never().flatten().unwrap();

    let filled = allocated(|| keys.iter().for_each(|key| queue.add_ref(key)));
    let beyond = filled / KEYS - size_of::<ObjectKey>();
    println!("{beyond} bytes a key beyond the key, while its table grows");
    assert!(beyond <= BEYOND_THE_KEY, "{beyond}");

    let again = allocated(|| {
        for key in &keys {
            queue.add(key.clone());
            queue.add_ref(key);
            queue.add_background(key.clone());
        }
    });
    assert_eq!(again, 0, "adding keys that are in line");

    let tickets: Vec<_> = (0..10).map(|_| take()).collect();
    let in_work = allocated(|| {
        for key in &keys[..10] {
            queue.add(key.clone());
            queue.add_ref(key);
        }
    });
    assert_eq!(in_work, 0, "adding keys that are in work");
    drop(tickets);

    let cycles = allocated(|| {
        for _ in 0..3 * KEYS {
            let ticket = take();
            queue.add_ref(&ticket);
        }
    });
    assert_eq!(cycles, 0, "serving keys and adding them once more");
    assert_eq!(queue.len(), KEYS);
}
