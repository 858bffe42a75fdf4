use std::thread;
use std::time::Duration;

use controller_core::queue::{Bucket, RateLimiter};
use tokio::time::{Instant, advance};

use super::limiters::{ms, waits};

/// client-go's numbers: 10 a second, 100 at once.
#[tokio::test(start_paused = true)]
async fn bucket_reserves_its_tokens_ahead() {
    let limiter = Bucket::default();
    assert_eq!(waits(&limiter, "one", 100), [Duration::ZERO; 100]);
    assert_eq!(waits(&limiter, "two", 3), [100, 200, 300].map(ms));
    assert_eq!(RateLimiter::<&str>::num_requeues(&limiter, &"two"), 0);
    advance(ms(300)).await;
    assert_eq!(waits(&limiter, "two", 1), [ms(100)]);
    advance(Duration::from_secs(3600)).await;
    assert_eq!(waits(&limiter, "two", 101)[99..], [ms(0), ms(100)]);
}

#[tokio::test(start_paused = true)]
async fn a_token_a_year_is_the_slowest_rate() {
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    let limiter = Bucket::new(1.0 / year.as_secs_f64(), 1).unwrap();
    assert_eq!(waits(&limiter, "one", 2), [Duration::ZERO, year]);
}

/// Of a bucket that gains `RATE` tokens a second nobody gets more than that, however many
/// ask at once: the time of one who waited for the lock is not gained twice.
#[test]
fn callers_at_once_gain_no_token_that_is_not_there() {
    const RATE: f64 = 1000.0;
    const THREADS: u32 = 8;
    const CALLS: u32 = 40_000;
    let start = Instant::now();
    let limiter = Bucket::new(RATE, 1).unwrap();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| waits(&limiter, "key", CALLS as usize));
        }
    });
    let taken = f64::from(THREADS * CALLS + 1);
    let reserved = waits(&limiter, "key", 1)[0].as_secs_f64() * RATE;
    let gained = start.elapsed().as_secs_f64() * RATE;
    let handed_out = taken - 1.0 - reserved;
    assert!(
        handed_out <= gained,
        "{handed_out} tokens beyond the burst, of {gained} gained"
    );
}
