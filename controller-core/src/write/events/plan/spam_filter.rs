use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use lru::LruCache;

use super::limits::{MAX_SHARES, SPAM_BURST, SPAM_PERIOD};
use super::series_key::Recorded;
use crate::write::events::{EventSource, EventType, ObjectReference};

/// How many events about one object are sent: `burst` at once, and then one each `period`.
///
/// It is what a request costs that is limited, not what is counted: an event that makes a new
/// object in the server, or begins a series, takes one from the share; a repeat in a series
/// takes nothing. Beyond its share an event is dropped as
/// [`Filtered`](crate::write::events::DropReason::Filtered).
///
/// The default is client-go's, 25 and one each 300 s, per source, object and type.
///
/// ```
/// use controller_core::write::events::{SpamKey, SpamLimit};
/// use tokio::time::Duration;
///
/// assert_eq!(SpamLimit::default().burst, 25);
/// // A controller with many different things to say about one object.
/// let limit = SpamLimit { by: SpamKey::ObjectAndReason, ..SpamLimit::default() };
/// # assert_eq!(limit.period, Duration::from_secs(300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpamLimit {
    /// How many at once. 0 sends nothing at all.
    pub burst: u32,
    /// How long it takes until there is one more.
    pub period: Duration,
    /// Who shares.
    pub by: SpamKey,
}

/// Which events share what [`SpamLimit`] allows: client-go's `SpamKeyFunc`, as far as anyone
/// uses it. The source, the object and the type are always told apart; a part of the object
/// (`field_path`) never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpamKey {
    /// All events of a type about an object.
    Object,
    /// Those with the same reason.
    ObjectAndReason,
}

/// A token bucket for each object.
///
/// It is kept as one point in time: when the bucket will be full. That is exact, whatever
/// the times, where counting fractions of tokens is not.
pub(super) struct SpamFilter {
    limit: SpamLimit,
    /// Bounded: the bucket of the object that was quiet for longest is forgotten, and then
    /// full again.
    full_at: LruCache<Share, Duration>,
}

/// Who has a bucket. A struct and not, as in client-go, all words in one string without a
/// separator: there the Pod `ab` in the namespace `c` shares with `b` in `ca`.
#[derive(PartialEq, Eq, Hash)]
struct Share {
    event_type: EventType,
    source: Arc<EventSource>,
    object: ObjectReference,
    reason: Option<String>,
}

// === impl SpamLimit ===

impl Default for SpamLimit {
    fn default() -> Self {
        Self {
            burst: SPAM_BURST,
            period: SPAM_PERIOD,
            by: SpamKey::Object,
        }
    }
}

// === impl SpamFilter ===

impl SpamFilter {
    pub(super) fn new(limit: SpamLimit) -> Self {
        let shares = NonZeroUsize::new(MAX_SHARES).expect("invariant: a constant above 0");
        Self {
            limit,
            full_at: LruCache::new(shares),
        }
    }

    /// Whether a request for this event may be sent; if so it is paid for.
    pub(super) fn admit(&mut self, recorded: &Recorded, elapsed: Duration) -> bool {
        let Some(most) = self.limit.burst.checked_sub(1) else {
            return false;
        };
        let longest = self.limit.period.saturating_mul(most);
        let share = self.share(recorded);
        let full_at = self.full_at.get_or_insert_mut(share, || elapsed);
        *full_at = (*full_at).max(elapsed);
        if *full_at - elapsed > longest {
            return false;
        }
        *full_at = full_at.saturating_add(self.limit.period);
        true
    }

    fn share(&self, Recorded { event, source }: &Recorded) -> Share {
        let reason = match self.limit.by {
            SpamKey::Object => None,
            SpamKey::ObjectAndReason => Some(event.reason().to_owned()),
        };
        Share {
            event_type: event.event_type(),
            source: Arc::clone(source),
            object: ObjectReference {
                field_path: None,
                ..event.regarding().clone()
            },
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::write::events::Event;

    fn recorded(name: &str, reason: &'static str, note: &str) -> Recorded {
        let object = ObjectReference {
            name: name.into(),
            ..ObjectReference::default()
        };
        Recorded {
            event: Event::normal(object, reason, "Test", note),
            source: Arc::new(EventSource::new("test", "i").unwrap()),
        }
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// EV-24: all three rows.
    #[test]
    fn a_share_is_the_objects_or_the_reasons() {
        let rows = [
            (
                SpamKey::Object,
                recorded("my-pod", "duplicate", "me again"),
                false,
            ),
            (
                SpamKey::ObjectAndReason,
                recorded("my-pod", "duplicate", "me again"),
                true,
            ),
            (
                SpamKey::ObjectAndReason,
                recorded("my-pod", "original", "me again"),
                false,
            ),
        ];
        for (by, second, passes) in rows {
            let mut filter = SpamFilter::new(SpamLimit {
                burst: 1,
                by,
                ..SpamLimit::default()
            });
            assert!(filter.admit(&recorded("my-pod", "original", "i am first"), seconds(0)));
            assert_eq!(filter.admit(&second, seconds(1)), passes, "{by:?}");
        }
    }

    /// EV-18, of the filter alone.
    #[test]
    fn there_are_25_at_once_and_then_one_each_five_minutes() {
        let mut filter = SpamFilter::new(SpamLimit::default());
        let event = recorded("web", "Raised", "");
        let mut admitted = |elapsed| filter.admit(&event, seconds(elapsed));
        assert!((0..25).all(&mut admitted));
        assert!(!admitted(25));
        assert!(!admitted(299));
        assert!(admitted(300));
        assert!(!admitted(300));
        // A long quiet fills it, and no more than that.
        assert_eq!((0..100).filter(|_| admitted(1_000_000)).count(), 25);
    }

    #[test]
    fn objects_types_and_sources_have_shares_of_their_own() {
        let mut filter = SpamFilter::new(SpamLimit {
            burst: 1,
            ..SpamLimit::default()
        });
        let mut admit = |recorded: &Recorded| filter.admit(recorded, seconds(0));
        assert!(admit(&recorded("a", "R", "")));
        assert!(!admit(&recorded("a", "R", "")));
        assert!(admit(&recorded("b", "R", "")));
        let object = recorded("a", "R", "").event.regarding().clone();
        let warning = Recorded {
            event: Event::warning(object.clone(), "R", "Test", ""),
            ..recorded("a", "R", "")
        };
        assert!(admit(&warning));
        let other_source = Recorded {
            source: Arc::new(EventSource::new("other", "i").unwrap()),
            ..recorded("a", "R", "")
        };
        assert!(admit(&other_source));
        // A part of an object has none.
        let part = Recorded {
            event: Event::normal(object.with_field_path("spec"), "R", "Test", ""),
            ..recorded("a", "R", "")
        };
        assert!(!admit(&part));
    }

    /// client-go's keys are the words in one string: these two were one there.
    #[test]
    fn names_that_run_into_one_another_are_two() {
        let mut filter = SpamFilter::new(SpamLimit {
            burst: 1,
            ..SpamLimit::default()
        });
        let mut admit = |namespace: &str, name: &str| {
            let mut recorded = recorded(name, "R", "");
            let object = ObjectReference {
                namespace: Some(namespace.into()),
                ..recorded.event.regarding().clone()
            };
            recorded.event = Event::normal(object, "R", "Test", "");
            filter.admit(&recorded, seconds(0))
        };
        assert!(admit("a", "bc"));
        assert!(admit("ab", "c"));
    }

    #[test]
    fn the_shares_of_4096_objects_are_remembered() {
        let mut filter = SpamFilter::new(SpamLimit::default());
        for object in 0..2 * MAX_SHARES {
            filter.admit(&recorded(&object.to_string(), "R", ""), seconds(0));
        }
        assert_eq!(filter.full_at.len(), MAX_SHARES);
    }

    proptest! {
        /// In no stretch of time are there more than the burst and what it gained.
        #[test]
        fn no_sequence_of_times_gets_more_than_the_bucket_holds(
            burst in 0_u32..5,
            period in 1_u64..50,
            waits in prop::collection::vec(0_u64..60, 1..80),
        ) {
            let limit = SpamLimit { burst, period: seconds(period), ..SpamLimit::default() };
            let mut filter = SpamFilter::new(limit);
            let event = recorded("web", "R", "");
            let mut at = 0;
            let mut admitted = Vec::new();
            // The same bucket, counted in whole units of 1/period.
            let mut level = u64::from(burst) * period;
            for wait in waits {
                at += wait;
                level = (level + wait).min(u64::from(burst) * period);
                let passes = filter.admit(&event, seconds(at));
                prop_assert_eq!(passes, level >= period);
                if passes {
                    level -= period;
                    admitted.push(at);
                }
            }
            for (first, from) in admitted.iter().enumerate() {
                for (last, to) in admitted.iter().enumerate().skip(first) {
                    let gained = (to - from) / period;
                    let count = (last - first + 1) as u64;
                    prop_assert!(count <= u64::from(burst) + gained);
                }
            }
        }
    }
}
