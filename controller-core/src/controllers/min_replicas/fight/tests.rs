use proptest::prelude::*;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn web() -> ObjectKey {
    ObjectKey::namespaced("shop", "web")
}

/// Raises now if no hold forbids it. Returns whether it did.
fn try_raise(fights: &mut Fights, now: Instant) -> bool {
    let free = fights.holding(&web(), "u", now).is_none();
    if free {
        fights.raised(&web(), "u", now);
    }
    free
}

/// The waits between raises against an opponent who lowers at once.
#[test]
fn from_the_third_raise_on_each_waits_twice_as_long_up_to_an_hour() {
    let (mut fights, start) = (Fights::default(), Instant::now());
    let mut raises = Vec::new();
    for second in 0..6 * 60 * 60 {
        let now = start + Duration::from_secs(second);
        if try_raise(&mut fights, now) {
            raises.push(second);
        }
    }
    let minutes: Vec<u64> = raises.iter().map(|second| second / 60).collect();
    assert_eq!(raises[..3], [0, 1, 2]);
    assert_eq!(minutes[3..], [1, 3, 7, 15, 31, 63, 123, 183, 243, 303]);
}

#[test]
fn raises_that_are_far_apart_are_no_fight() {
    let (mut fights, start) = (Fights::default(), Instant::now());
    for raise in 0..100 {
        let now = start + raise * (5 * MINUTE + Duration::from_secs(1));
        assert!(try_raise(&mut fights, now), "raise {raise}");
    }
}

#[test]
fn exactly_ten_minutes_are_within_them() {
    let (mut fights, start) = (Fights::default(), Instant::now());
    for raise in 0..3 {
        assert!(try_raise(&mut fights, start + raise * 5 * MINUTE));
    }
    let held = fights.holding(&web(), "u", start + 10 * MINUTE).unwrap();
    assert_eq!((held.hold.wait, held.remaining), (MINUTE, MINUTE));
}

#[test]
fn two_hours_of_quiet_end_a_fight() {
    let (mut fights, start) = (Fights::default(), Instant::now());
    for _ in 0..3 {
        fights.raised(&web(), "u", start);
    }
    let nearly = start + QUIET - Duration::from_millis(1);
    fights.raised(&web(), "u", nearly);
    let wait = |fights: &Fights, now| fights.holding(&web(), "u", now).map(|it| it.hold.wait);
    assert_eq!(wait(&fights, nearly), Some(2 * MINUTE));
    let quiet = nearly + QUIET;
    for raise in 0..2 {
        assert!(try_raise(&mut fights, quiet), "raise {raise}");
    }
    assert_eq!(wait(&fights, quiet), None);
}

/// What is over may be remembered for a while, if others are raised meanwhile.
#[test]
fn a_fight_that_is_over_and_not_swept_yet_is_over() {
    let (mut fights, start) = (Fights::default(), Instant::now());
    for _ in 0..4 {
        fights.raised(&web(), "u", start);
    }
    let other = ObjectKey::namespaced("shop", "api");
    fights.raised(&other, "v", start + QUIET - MINUTE);
    assert!(fights.of.contains_key(&web()));
    let quiet = start + QUIET + MINUTE;
    for raise in 0..3 {
        assert!(try_raise(&mut fights, quiet), "raise {raise}");
    }
    let held = fights.holding(&web(), "u", quiet).unwrap();
    assert_eq!(held.hold.wait, MINUTE);
}

#[test]
fn another_object_of_the_same_name_is_another_one() {
    let (mut fights, now) = (Fights::default(), Instant::now());
    for _ in 0..3 {
        fights.raised(&web(), "u", now);
    }
    assert!(fights.holding(&web(), "v", now).is_none());
    fights.raised(&web(), "v", now);
    assert!(fights.holding(&web(), "v", now).is_none());
}

#[test]
fn a_refused_raise_does_not_count() {
    let (mut fights, now) = (Fights::default(), Instant::now());
    for _ in 0..100 {
        let before = fights.raised(&web(), "u", now);
        fights.put_back(&web(), before);
    }
    assert!(fights.of.is_empty());
    for _ in 0..3 {
        fights.raised(&web(), "u", now);
    }
    let before = fights.raised(&web(), "u", now + MINUTE);
    fights.put_back(&web(), before);
    let held = fights.holding(&web(), "u", now).unwrap();
    assert_eq!((held.hold.wait, held.remaining), (MINUTE, MINUTE));
}

#[test]
fn the_opponent_is_looked_for_once_a_round() {
    let (mut fights, now) = (Fights::default(), Instant::now());
    for _ in 0..3 {
        fights.raised(&web(), "u", now);
    }
    assert!(!fights.holding(&web(), "u", now).unwrap().looked);
    fights.name_opponent(&web(), "v", Opponent::Manager("stranger".into()));
    assert!(!fights.holding(&web(), "u", now).unwrap().looked);
    let argocd = Opponent::Manager("argocd-controller".into());
    fights.name_opponent(&web(), "u", argocd.clone());
    let held = fights.holding(&web(), "u", now).unwrap();
    assert!(held.looked);
    assert_eq!(held.hold.opponent, argocd);
    fights.raised(&web(), "u", now + MINUTE);
    let held = fights.holding(&web(), "u", now + MINUTE).unwrap();
    assert_eq!(
        (held.looked, held.hold.opponent),
        (false, Opponent::Unknown)
    );
}

#[test]
fn memory_is_bounded_by_what_happened_lately() {
    let (mut fights, start) = (Fights::default(), Instant::now());
    for number in 0..10_000 {
        let key = ObjectKey::namespaced("shop", format!("web-{number}"));
        fights.raised(&key, "u", start + number * Duration::from_secs(1));
    }
    // What was raised within the last ten minutes, and what is not swept yet.
    assert!(fights.of.len() <= 1202, "{}", fights.of.len());
    fights.forget(&ObjectKey::namespaced("shop", "web-9999"));
    assert!(
        !fights
            .of
            .contains_key(&ObjectKey::namespaced("shop", "web-9999"))
    );
}

/// Three at once, six until the wait is an hour, then one an hour.
fn most_raises_a_day() -> usize {
    let until_hourly = 63 * MINUTE;
    3 + 6 + usize::try_from((DAY - until_hourly).as_secs() / LONGEST_WAIT.as_secs()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whoever lowers at once, for ever, costs a bounded number of writes in any 24 h,
    /// however late or early our own loop comes to look.
    #[test]
    fn an_opponent_who_lowers_at_once_is_raised_a_bounded_number_of_times(
        looks in prop::collection::vec(1..90_000u64, 2_000..6_000),
    ) {
        let (mut fights, start) = (Fights::default(), Instant::now());
        let mut now = start;
        let mut raises = VecDeque::new();
        for look in looks {
            now += Duration::from_millis(look);
            if try_raise(&mut fights, now) {
                raises.push_back(now);
            }
            raises.retain(|raise| now.duration_since(*raise) < DAY);
            prop_assert!(raises.len() <= most_raises_a_day(), "{} in a day", raises.len());
        }
        prop_assert!(now - start > DAY, "{:?}", now - start);
    }
}
