use std::fmt::Debug;
use std::time::Duration;

use controller_core::queue::{
    Bucket, ItemExponentialFailure, ItemFastSlow, LimiterError, WithMaxWait,
};

use super::limiters::{ms, waits};

const NANO: Duration = Duration::from_nanos(1);

fn refusal<L: Debug>(limiter: Result<L, LimiterError>) -> String {
    limiter.expect_err("these numbers are refused").to_string()
}

#[test]
fn exponential_without_growth_is_refused() {
    let of = ItemExponentialFailure::<u32>::new;
    insta::assert_snapshot!(
        refusal(of(Duration::ZERO, ms(1000))),
        @"a first delay of 0ns is no pause: give at least 1ms"
    );
    insta::assert_snapshot!(
        refusal(of(NANO, NANO)),
        @"a first delay of 1ns is no pause: give at least 1ms"
    );
    insta::assert_snapshot!(
        refusal(of(ms(5000), ms(4999))),
        @"the longest delay, 4.999s, is below the first one, 5s"
    );
    let steady = ItemExponentialFailure::new(ms(7), ms(7)).unwrap();
    assert_eq!(waits(&steady, "key", 3), [ms(7); 3]);
}

#[test]
fn fast_slow_that_is_faster_in_the_end_is_refused() {
    let of = ItemFastSlow::<u32>::new;
    insta::assert_snapshot!(
        refusal(of(Duration::ZERO, Duration::ZERO, 3)),
        @"a slow delay of 0ns is no pause: give at least 1ms"
    );
    let refused = ItemFastSlow::<u32>::new(Duration::ZERO, NANO, u32::MAX);
    assert_eq!(refused.unwrap_err(), LimiterError::SlowTooShort(NANO));
    insta::assert_snapshot!(
        refusal(of(ms(10_000), ms(1000), 3)),
        @"the slow delay, 1s, is below the fast one, 10s: are they swapped?"
    );
    let at_once = ItemFastSlow::new(Duration::ZERO, ms(10), 2).unwrap();
    assert_eq!(waits(&at_once, "key", 3), [ms(0), ms(0), ms(10)]);
}

/// NaN used to be a bucket that is never filled.
#[test]
fn bucket_without_a_rate_or_a_burst_is_refused() {
    insta::assert_snapshot!(
        refusal(Bucket::new(f64::NAN, 100)),
        @"NaN tokens a second is no rate: give a number above 0"
    );
    insta::assert_snapshot!(
        refusal(Bucket::new(0.0, 100)),
        @"0 tokens a second is no rate: give a number above 0"
    );
    for rate in [-0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = Bucket::new(rate, 100).unwrap_err();
        assert_eq!(refused, LimiterError::NotARate(rate));
    }
    insta::assert_snapshot!(
        refusal(Bucket::new(1e-8, 1)),
        @"0.00000001 tokens a second is less than one a year: give a larger number"
    );
    let refused = Bucket::new(1e-300, 1).unwrap_err();
    assert_eq!(refused, LimiterError::RateTooLow(1e-300));
    insta::assert_snapshot!(
        refusal(Bucket::new(10.0, 0)),
        @"a bucket for 0 tokens lets nothing through: give a burst of at least 1"
    );
}

#[test]
fn a_longest_wait_of_nothing_is_refused() {
    let inner = ItemExponentialFailure::<u32>::default();
    insta::assert_snapshot!(
        refusal(WithMaxWait::new(inner, NANO)),
        @"a longest wait of 1ns is no pause: give at least 1ms"
    );
}
