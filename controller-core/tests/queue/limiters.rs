use std::time::Duration;

use controller_core::queue::{
    Bucket, ItemExponentialFailure, ItemFastSlow, MaxOf, RateLimiter, WithMaxWait, WorkQueue,
};
use tokio::time::Instant;

use super::basics::take;

/// RL-01: doubles for each key by itself, up to the maximum; forgets.
#[test]
fn exponential_doubles_per_key_up_to_the_maximum() {
    let limiter = ItemExponentialFailure::new(ms(1), ms(1000)).unwrap();
    assert_eq!(waits(&limiter, "one", 5), [1, 2, 4, 8, 16].map(ms));
    assert_eq!(limiter.num_requeues(&"one"), 5);
    assert_eq!(waits(&limiter, "two", 2), [1, 2].map(ms));
    assert_eq!(limiter.num_requeues(&"two"), 2);
    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    assert_eq!(waits(&limiter, "one", 1), [ms(1)]);
    assert_eq!(waits(&limiter, "two", 10)[8..], [ms(1000); 2]);
}

#[test]
fn the_default_goes_from_5_ms_to_1000_s() {
    let limiter = ItemExponentialFailure::default();
    let waits = waits(&limiter, "key", 20);
    assert_eq!(waits[..4], [5, 10, 20, 40].map(ms));
    assert_eq!(waits[17..], [ms(655_360), ms(1_000_000), ms(1_000_000)]);
}

/// RL-02: with the numbers of client-go's `DefaultTypedItemBasedRateLimiter`.
#[test]
fn exponential_stays_at_its_maximum_for_a_thousand_failures() {
    let limiter = ItemExponentialFailure::new(ms(1), ms(1_000_000)).unwrap();
    assert_eq!(waits(&limiter, "one", 6)[5], ms(32));
    assert_eq!(
        waits(&limiter, "overflow", 1001)[20..],
        [ms(1_000_000); 981]
    );
}

/// RL-03
#[test]
fn exponential_ends_at_the_maximum_and_never_overflows() {
    let hour = Duration::from_secs(3600);
    let limiter = ItemExponentialFailure::new(Duration::from_secs(60), 1000 * hour).unwrap();
    assert_eq!(waits(&limiter, "two", 3)[2], Duration::from_secs(240));
    assert_eq!(waits(&limiter, "overflow", 1001)[1000], 1000 * hour);

    let limiter = ItemExponentialFailure::new(ms(1), Duration::MAX).unwrap();
    let waits_of_key = waits(&limiter, "key", 2000);
    assert_eq!(waits_of_key[20], ms(1 << 20));
    assert_eq!(waits_of_key[1999], Duration::MAX);
    assert!(waits_of_key.is_sorted());
}

/// RL-04
#[test]
fn fast_slow_slows_down_after_its_tries() {
    let limiter = ItemFastSlow::new(ms(5), ms(10_000), 3).unwrap();
    let expected = [5, 5, 5, 10_000, 10_000].map(ms);
    assert_eq!(waits(&limiter, "one", 5), expected);
    assert_eq!(limiter.num_requeues(&"one"), 5);
    assert_eq!(waits(&limiter, "two", 1), [ms(5)]);
    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    assert_eq!(waits(&limiter, "one", 1), [ms(5)]);
}

/// As people ask for it: a second three times, then ten.
#[test]
fn fast_slow_waits_a_second_three_times_and_then_ten() {
    let limiter = ItemFastSlow::new(ms(1000), ms(10_000), 3).unwrap();
    let expected = [1000, 1000, 1000, 10_000, 10_000, 10_000].map(ms);
    assert_eq!(waits(&limiter, "one", 6), expected);

    let never_fast = ItemFastSlow::new(ms(1000), ms(10_000), 0).unwrap();
    assert_eq!(waits(&never_fast, "one", 1), [ms(10_000)]);
}

/// RL-05
#[test]
fn max_of_waits_longest_and_forgets_everywhere() {
    let limiter = MaxOf::new(ItemFastSlow::new(ms(5), ms(3000), 3).unwrap())
        .and(ItemExponentialFailure::new(ms(1), ms(1000)).unwrap());
    let expected = [5, 5, 5, 3000, 3000].map(ms);
    assert_eq!(waits(&limiter, "one", 5), expected);
    assert_eq!(limiter.num_requeues(&"one"), 5);
    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    assert_eq!(waits(&limiter, "one", 1), [ms(5)]);
}

/// RL-06
#[test]
fn with_max_wait_cuts_what_its_limiter_says() {
    let steps = ItemFastSlow::new(ms(5), ms(1_000_000), 100).unwrap();
    let limiter = WithMaxWait::new(steps, ms(500_000)).unwrap();
    let waits_of_key = waits(&limiter, "one", 200);
    assert_eq!(waits_of_key[..100], [ms(5); 100]);
    assert_eq!(waits_of_key[100..], [ms(500_000); 100]);
    assert_eq!(limiter.num_requeues(&"one"), 200);
    limiter.forget(&"one");
    assert_eq!(waits(&limiter, "one", 1), [ms(5)]);
}

#[test]
fn of_a_minute_cuts_to_60_s() {
    let limiter = WithMaxWait::of_a_minute(ItemExponentialFailure::default());
    assert_eq!(waits(&limiter, "one", 15)[13..], [ms(40_960), ms(60_000)]);
}

/// client-go's `DefaultTypedControllerRateLimiter`: here it has to be asked for.
#[tokio::test(start_paused = true)]
async fn with_a_shared_bucket_many_keys_wait_for_each_other() {
    let limiter = MaxOf::new(ItemExponentialFailure::default()).and(Bucket::default());
    assert_eq!(waits(&limiter, "hot", 100)[..2], [ms(5), ms(10)]);
    assert_eq!(waits(&limiter, "other", 3), [100, 200, 300].map(ms));
    assert_eq!(limiter.num_requeues(&"hot"), 100);
}

/// RL-07
#[tokio::test(start_paused = true)]
async fn a_queue_delays_by_its_limiter_and_forgets() {
    let queue = WorkQueue::builder("test")
        .rate_limiter(ItemExponentialFailure::new(ms(1), ms(1000)).unwrap())
        .build();
    for (key, expected) in [("one", 1), ("one", 2), ("two", 1), ("two", 2)] {
        assert_eq!(retry(&queue, key).await, ms(expected));
    }
    assert_eq!(queue.num_requeues(&"one"), 2);
    queue.forget(&"one");
    assert_eq!(queue.num_requeues(&"one"), 0);
    assert_eq!(queue.num_requeues(&"two"), 2);
    assert_eq!(retry(&queue, "one").await, ms(1));
}

/// BX-08: client-go's shared bucket makes healthy keys wait for a hot one.
#[tokio::test(start_paused = true)]
async fn a_key_that_fails_all_the_time_delays_no_other() {
    let quiet = latencies_beside(0).await;
    let beside_a_hot_key = latencies_beside(1).await;
    let p99 = |latencies: &[Duration]| latencies[latencies.len() * 99 / 100];
    assert_eq!(p99(&quiet), p99(&beside_a_hot_key));
    // And a first failure waits its own 5 ms, whatever the hot key has come to.
    let queue = WorkQueue::new("test");
    for _ in 0..1000 {
        queue.add("hot");
        let ticket = take(&queue);
        queue.add_rate_limited("hot");
        queue.cancel(&"hot");
        drop(ticket);
    }
    assert_eq!(retry(&queue, "other").await, ms(5));
}

/// Sorted times from add to get of 1,000 keys, one each 3 ms, that one worker serves in
/// 1 ms each, beside `hot` keys that fail at every try.
async fn latencies_beside(hot: u32) -> Vec<Duration> {
    let queue = WorkQueue::new("test");
    for key in 0..hot {
        queue.add(10_000 + key);
    }
    let work = async {
        let mut latencies = Vec::new();
        let start = Instant::now();
        while latencies.len() < 1000 {
            let ticket = queue.get().await.expect("the queue is open");
            if *ticket >= 10_000 {
                queue.add_rate_limited(*ticket);
            } else {
                latencies.push(start.elapsed() - ms(3) * *ticket);
            }
            tokio::time::sleep(ms(1)).await;
        }
        latencies.sort_unstable();
        latencies
    };
    let add = async {
        for key in 0..1000 {
            queue.add(key);
            tokio::time::sleep(ms(3)).await;
        }
    };
    tokio::join!(work, add).0
}

/// Adds the key rate-limited and says how long it took to come.
async fn retry(queue: &WorkQueue<&'static str>, key: &'static str) -> Duration {
    let start = Instant::now();
    queue.add_rate_limited(key);
    let ticket = queue.get().await.expect("the queue is open");
    assert_eq!(*ticket, key);
    start.elapsed()
}

pub(crate) fn waits<'a>(
    limiter: &impl RateLimiter<&'a str>,
    key: &'a str,
    times: usize,
) -> Vec<Duration> {
    (0..times).map(|_| limiter.when(&key)).collect()
}

pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
