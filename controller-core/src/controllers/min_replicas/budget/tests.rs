use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn key(number: usize) -> ObjectKey {
    ObjectKey::namespaced("shop", format!("web-{number}"))
}

fn budget(limit: u32) -> Budget {
    Budget::new(NonZeroU32::new(limit).unwrap())
}

/// A raise of this key that was answered in the moment in which it was sent.
fn raised(budget: &mut Budget, number: usize, now: Instant) -> Result<(), Turn> {
    let slot = budget.take(&key(number), now)?;
    budget.ended(slot, now);
    Ok(())
}

#[test]
fn a_minute_has_so_many_and_the_next_minute_as_many_again() {
    let (mut budget, start) = (budget(2), Instant::now());
    raised(&mut budget, 0, start).unwrap();
    raised(&mut budget, 1, start + 10 * SECOND).unwrap();
    let turn = |budget: &mut Budget, number, now| raised(budget, number, now).unwrap_err();
    let now = start + 20 * SECOND;
    assert_eq!(
        turn(&mut budget, 2, now),
        Turn {
            limit: 2,
            wait: 40 * SECOND
        }
    );
    assert_eq!(turn(&mut budget, 3, now).wait, 50 * SECOND);
    assert_eq!(turn(&mut budget, 4, now).wait, 60 * SECOND);
    assert_eq!(budget.waiting(), 3);
    let nearly = start + 60 * SECOND - Duration::from_nanos(1);
    assert!(raised(&mut budget, 2, nearly).is_err());
    assert!(raised(&mut budget, 2, start + 60 * SECOND).is_ok());
    assert!(raised(&mut budget, 3, start + 69 * SECOND).is_err());
    assert!(raised(&mut budget, 3, start + 70 * SECOND).is_ok());
    assert_eq!(budget.waiting(), 1);
}

#[test]
fn nobody_is_passed_over() {
    let (mut budget, start) = (budget(1), Instant::now());
    raised(&mut budget, 0, start).unwrap();
    for number in 1..=3 {
        raised(&mut budget, number, start).unwrap_err();
    }
    let now = start + WINDOW;
    for number in [3, 2, 9] {
        assert!(raised(&mut budget, number, now).is_err(), "{number}");
    }
    assert!(raised(&mut budget, 1, now).is_ok());
}

#[test]
fn who_has_nothing_to_raise_any_more_holds_nobody_up() {
    let (mut budget, start) = (budget(1), Instant::now());
    raised(&mut budget, 0, start).unwrap();
    raised(&mut budget, 1, start).unwrap_err();
    raised(&mut budget, 2, start).unwrap_err();
    budget.forget(&key(1));
    assert!(raised(&mut budget, 2, start + WINDOW).is_ok());
}

#[test]
fn a_refused_raise_costs_nothing_and_a_slow_one_counts_from_its_answer() {
    let (mut budget, start) = (budget(1), Instant::now());
    let refused = budget.take(&key(0), start).unwrap();
    budget.give_back(refused, &key(0));
    budget.forget(&key(0));
    let slow = budget.take(&key(1), start).unwrap();
    budget.ended(slow, start + 30 * SECOND);
    assert!(raised(&mut budget, 2, start + 89 * SECOND).is_err());
    assert!(raised(&mut budget, 2, start + 90 * SECOND).is_ok());
}

/// It may be applied at any time until it has ended.
#[test]
fn a_raise_holds_its_slot_for_as_long_as_it_is_under_way() {
    let (mut budget, start) = (budget(1), Instant::now());
    let hangs = budget.take(&key(0), start).unwrap();
    for minute in 1..10 {
        let now = start + minute * WINDOW;
        let turn = raised(&mut budget, 1, now).unwrap_err();
        assert_eq!(turn.wait, WINDOW, "{minute}");
    }
    budget.ended(hangs, start + 10 * WINDOW);
    assert!(raised(&mut budget, 1, start + 11 * WINDOW - SECOND).is_err());
    assert!(raised(&mut budget, 1, start + 11 * WINDOW).is_ok());
}

/// A slot that is free is not slept through for longer, whoever ahead went away.
#[test]
fn nobody_in_line_waits_for_more_than_a_minute_before_asking_again() {
    let (mut budget, start) = (budget(1), Instant::now());
    raised(&mut budget, 0, start).unwrap();
    for number in 1..1000 {
        let turn = raised(&mut budget, number, start).unwrap_err();
        assert_eq!(turn.wait, WINDOW, "{number}");
    }
    for number in 1..999 {
        budget.forget(&key(number));
    }
    assert!(raised(&mut budget, 999, start + WINDOW).is_ok());
}

proptest! {
    /// Keys ask when they like, in any order, and their raises take as long as they like: no
    /// minute has more raises than it may, those that wait get through in the order in which
    /// they first asked, and all of them do.
    #[test]
    fn no_minute_has_too_many_and_the_line_is_kept(
        limit in 1..5u32,
        arrivals in prop::collection::vec((0..40usize, 0..20_000u64, 0..100_000u64), 1..60),
    ) {
        let mut budget = budget(limit);
        let start = Instant::now();
        let mut now = start;
        let mut line: Vec<usize> = Vec::new();
        let mut under_way: Vec<(Instant, Slot)> = Vec::new();
        let mut ended: Vec<Instant> = Vec::new();
        let mut check = |budget: &mut Budget, line: &mut Vec<usize>, number: usize, now, lasts| {
            for (end, slot) in under_way.extract_if(.., |(end, _)| *end <= now) {
                budget.ended(slot, now);
                ended.push(end.max(now));
            }
            let place = line.iter().position(|it| *it == number);
            match budget.take(&key(number), now) {
                Ok(slot) => {
                    // Whoever is ahead has a slot left as well.
                    let ahead = place.unwrap_or(line.len());
                    line.retain(|it| *it != number);
                    under_way.push((now + lasts, slot));
                    let recent = ended.iter().filter(|at| now.duration_since(**at) < WINDOW);
                    assert!(recent.count() + under_way.len() + ahead <= limit as usize);
                }
                Err(turn) => {
                    assert!(!turn.wait.is_zero() && turn.wait <= WINDOW);
                    if place.is_none() {
                        line.push(number);
                    }
                }
            }
        };
        for (number, pause, lasts) in arrivals {
            now += Duration::from_millis(pause);
            check(&mut budget, &mut line, number, now, Duration::from_millis(lasts));
        }
        let mut rounds = 0;
        while !line.is_empty() {
            now += SECOND;
            for number in line.clone() {
                check(&mut budget, &mut line, number, now, Duration::ZERO);
            }
            rounds += 1;
            prop_assert!(rounds <= 100 + 60 * 61, "{line:?} never got through");
        }
        prop_assert_eq!(budget.waiting(), 0);
    }
}

/// A 409 is planned again at once: it must find its slot, though others wait.
#[test]
fn a_refused_raise_is_the_first_in_line_again() {
    let (mut budget, start) = (budget(1), Instant::now());
    raised(&mut budget, 0, start).unwrap();
    for number in 1..=3 {
        raised(&mut budget, number, start).unwrap_err();
    }
    let now = start + WINDOW;
    for _ in 0..3 {
        let slot = budget.take(&key(1), now).unwrap();
        budget.give_back(slot, &key(1));
    }
    assert!(raised(&mut budget, 2, now).is_err());
    // Its call is over, whatever it came to.
    budget.forget(&key(1));
    assert!(raised(&mut budget, 2, now).is_ok());
}
