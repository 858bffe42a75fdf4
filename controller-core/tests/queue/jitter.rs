use std::time::Duration;

use controller_core::queue::{
    ItemExponentialFailure, Jitter, LimiterError, RateLimiter, WithMaxWait,
};

use super::limiters::{ms, waits};

const SECOND: Duration = Duration::from_secs(1);

/// The same wait at each failure.
#[derive(Debug)]
struct Steady(Duration);

// === impl Steady ===

impl<T> RateLimiter<T> for Steady {
    fn when(&self, _: &T) -> Duration {
        self.0
    }

    fn forget(&self, _: &T) {}

    fn num_requeues(&self, _: &T) -> u32 {
        0
    }
}

#[test]
fn a_wait_becomes_longer_by_a_share_and_never_shorter() {
    let limiter = Jitter::seeded(Steady(SECOND), 0.25, 1).unwrap();
    let waits = waits(&limiter, "key", 1000);
    assert!(waits.iter().all(|wait| (SECOND..ms(1250)).contains(wait)));
    // All of the range is used: a thousandth of it on average lies between two neighbours.
    let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert!(*least < ms(1010) && *most > ms(1240), "{least:?}..{most:?}");
    let mean = waits.iter().sum::<Duration>() / 1000;
    assert!((ms(1110)..ms(1140)).contains(&mean), "{mean:?}");
}

#[test]
fn the_same_seed_has_the_same_waits() {
    let waits_of = |seed| {
        waits(
            &Jitter::seeded(Steady(SECOND), 1.0, seed).unwrap(),
            "key",
            20,
        )
    };
    assert_eq!(waits_of(7), waits_of(7));
    assert_ne!(waits_of(7), waits_of(8));
    let of_itself = || waits(&Jitter::new(Steady(SECOND), 1.0).unwrap(), "key", 20);
    assert_ne!(of_itself(), of_itself());
}

#[test]
fn keys_that_fail_together_do_not_come_back_together() {
    let limiter = Jitter::seeded(Steady(10 * SECOND), 0.1, 1).unwrap();
    let mut waits: Vec<Duration> = (0..200).map(|key| limiter.when(&key)).collect();
    waits.sort_unstable();
    waits.dedup();
    assert_eq!(waits.len(), 200);
}

#[test]
fn without_a_share_the_waits_are_as_they_were() {
    let limiter = Jitter::new(Steady(Duration::MAX), 0.0).unwrap();
    assert_eq!(waits(&limiter, "key", 3), [Duration::MAX; 3]);
}

#[test]
fn the_longest_wait_there_is_becomes_no_longer() {
    let limiter = Jitter::seeded(Steady(Duration::MAX), 1.0, 1).unwrap();
    assert_eq!(waits(&limiter, "key", 3), [Duration::MAX; 3]);
}

#[test]
fn a_longest_wait_around_it_holds() {
    let limiter = WithMaxWait::new(Jitter::new(Steady(SECOND), 1.0).unwrap(), ms(1100)).unwrap();
    let waits = waits(&limiter, "key", 100);
    assert!(waits.iter().all(|wait| *wait <= ms(1100)));
    assert!(waits.contains(&ms(1100)));
}

/// Else an outage of a whole cluster ends for all keys in one instant, whatever the jitter.
#[test]
fn keys_at_the_longest_wait_do_not_come_back_together() {
    let limiter = Jitter::seeded(Steady(SECOND), 0.1, 1).unwrap();
    let limiter = limiter.at_most(SECOND).unwrap();
    let mut waits: Vec<Duration> = (0..200).map(|key| limiter.when(&key)).collect();
    waits.sort_unstable();
    assert!(waits[0] >= ms(900) && waits[0] < ms(905), "{:?}", waits[0]);
    assert!(
        waits[199] <= SECOND && waits[199] > ms(995),
        "{:?}",
        waits[199]
    );
    waits.dedup();
    assert_eq!(waits.len(), 200);
}

#[test]
fn below_the_longest_wait_it_is_a_bound_and_no_more() {
    let of = |wait| {
        let limiter = Jitter::seeded(Steady(wait), 0.1, 1).unwrap();
        waits(&limiter.at_most(SECOND).unwrap(), "key", 1000)
    };
    assert!(of(ms(500)).iter().all(|it| (ms(500)..ms(550)).contains(it)));
    // 950 ms and up to 95 more: as wide a window, moved so that it ends at the bound.
    assert!(of(ms(950)).iter().all(|it| (ms(905)..=SECOND).contains(it)));
    assert!(
        of(Duration::MAX)
            .iter()
            .all(|it| (ms(900)..=SECOND).contains(it))
    );
}

#[test]
fn it_counts_and_forgets_as_what_is_in_it() {
    let inner = ItemExponentialFailure::new(ms(1), SECOND).unwrap();
    let limiter = Jitter::new(inner, 0.5).unwrap();
    assert!(waits(&limiter, "key", 4)[3] >= ms(8));
    assert_eq!(limiter.num_requeues(&"key"), 4);
    limiter.forget(&"key");
    assert_eq!(limiter.num_requeues(&"key"), 0);
    assert!(waits(&limiter, "key", 1)[0] < ms(2));
}

#[test]
fn a_share_out_of_range_is_refused() {
    for share in [-0.1, 1.1, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = Jitter::new(Steady(SECOND), share).unwrap_err();
        assert_eq!(refused, LimiterError::NotAShare(share));
    }
    let bound = Jitter::new(Steady(SECOND), 0.1).unwrap().at_most(ms(0));
    assert_eq!(bound.unwrap_err(), LimiterError::MaxWaitTooShort(ms(0)));
    let refused = Jitter::seeded(Steady(SECOND), f64::NAN, 1).unwrap_err();
    insta::assert_snapshot!(refused, @"a jitter of NaN is no share of a wait: give a number from 0 to 1, such as 0.1");
}
