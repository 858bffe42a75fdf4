use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn key(number: usize) -> ObjectKey {
    ObjectKey::namespaced("shop", format!("web-{number}"))
}

fn budget(limit: u32) -> Budget {
    Budget::new(NonZeroU32::new(limit).unwrap())
}

#[test]
fn a_minute_has_so_many_and_the_next_minute_as_many_again() {
    let (mut budget, start) = (budget(2), Instant::now());
    assert!(budget.take(&key(0), start).is_ok());
    assert!(budget.take(&key(1), start + 10 * SECOND).is_ok());
    let turn = |budget: &mut Budget, number, now| budget.take(&key(number), now).unwrap_err();
    let now = start + 20 * SECOND;
    assert_eq!(
        turn(&mut budget, 2, now),
        Turn {
            limit: 2,
            wait: 40 * SECOND
        }
    );
    assert_eq!(turn(&mut budget, 3, now).wait, 50 * SECOND);
    assert_eq!(turn(&mut budget, 4, now).wait, 100 * SECOND);
    assert_eq!(budget.waiting(), 3);
    assert!(budget.take(&key(2), start + 60 * SECOND).is_ok());
    assert!(budget.take(&key(3), start + 69 * SECOND).is_err());
    assert!(budget.take(&key(3), start + 70 * SECOND).is_ok());
    assert_eq!(budget.waiting(), 1);
}

#[test]
fn nobody_is_passed_over() {
    let (mut budget, start) = (budget(1), Instant::now());
    budget.take(&key(0), start).unwrap();
    for number in 1..=3 {
        budget.take(&key(number), start).unwrap_err();
    }
    let now = start + WINDOW;
    for number in [3, 2, 9] {
        assert!(budget.take(&key(number), now).is_err(), "{number}");
    }
    assert!(budget.take(&key(1), now).is_ok());
}

#[test]
fn who_has_nothing_to_raise_any_more_holds_nobody_up() {
    let (mut budget, start) = (budget(1), Instant::now());
    budget.take(&key(0), start).unwrap();
    budget.take(&key(1), start).unwrap_err();
    budget.take(&key(2), start).unwrap_err();
    budget.forget(&key(1));
    assert!(budget.take(&key(2), start + WINDOW).is_ok());
}

#[test]
fn a_refused_raise_costs_nothing_and_a_slow_one_counts_from_its_answer() {
    let (mut budget, start) = (budget(1), Instant::now());
    let refused = budget.take(&key(0), start).unwrap();
    budget.give_back(refused, &key(0));
    budget.forget(&key(0));
    let slow = budget.take(&key(1), start).unwrap();
    budget.answered(slow, start + 30 * SECOND);
    assert!(budget.take(&key(2), start + 89 * SECOND).is_err());
    assert!(budget.take(&key(2), start + 90 * SECOND).is_ok());
}

#[test]
fn a_wait_is_never_longer_than_it_can_be_foretold() {
    let (mut budget, start) = (budget(1), Instant::now());
    budget.take(&key(0), start).unwrap();
    let waits: Vec<_> = (1..1000)
        .map(|number| budget.take(&key(number), start).unwrap_err().wait)
        .collect();
    assert_eq!(
        waits[..5],
        [60, 120, 180, 240, 300].map(Duration::from_secs)
    );
    assert_eq!(waits.last(), Some(&LONGEST_WAIT));
}

proptest! {
    /// Keys ask when they like, in any order: no minute has more raises than it may, those
    /// that wait get through in the order in which they first asked, and all of them do.
    #[test]
    fn no_minute_has_too_many_and_the_line_is_kept(
        limit in 1..5u32,
        arrivals in prop::collection::vec((0..40usize, 0..20_000u64), 1..60),
    ) {
        let mut budget = budget(limit);
        let start = Instant::now();
        let mut now = start;
        let mut line: Vec<usize> = Vec::new();
        let mut taken: Vec<Instant> = Vec::new();
        let mut check = |budget: &mut Budget, line: &mut Vec<usize>, number: usize, now| {
            let place = line.iter().position(|it| *it == number);
            match budget.take(&key(number), now) {
                Ok(_) => {
                    // Whoever is ahead has a slot left as well.
                    let ahead = place.unwrap_or(line.len());
                    line.retain(|it| *it != number);
                    taken.push(now);
                    let recent = taken.iter().filter(|at| now.duration_since(**at) < WINDOW);
                    assert!(recent.count() + ahead <= limit as usize);
                }
                Err(turn) => {
                    assert!(!turn.wait.is_zero());
                    if place.is_none() {
                        line.push(number);
                    }
                }
            }
        };
        for (number, pause) in arrivals {
            now += Duration::from_millis(pause);
            check(&mut budget, &mut line, number, now);
        }
        let mut rounds = 0;
        while !line.is_empty() {
            now += SECOND;
            for number in line.clone() {
                check(&mut budget, &mut line, number, now);
            }
            rounds += 1;
            prop_assert!(rounds <= 60 * 61, "{line:?} never got through");
        }
        prop_assert_eq!(budget.waiting(), 0);
    }
}

/// A 409 is planned again at once: it must find its slot, though others wait.
#[test]
fn a_refused_raise_is_the_first_in_line_again() {
    let (mut budget, start) = (budget(1), Instant::now());
    budget.take(&key(0), start).unwrap();
    for number in 1..=3 {
        budget.take(&key(number), start).unwrap_err();
    }
    let now = start + WINDOW;
    for _ in 0..3 {
        let slot = budget.take(&key(1), now).unwrap();
        budget.give_back(slot, &key(1));
    }
    assert!(budget.take(&key(2), now).is_err());
    // Its call is over, whatever it came to.
    budget.forget(&key(1));
    assert!(budget.take(&key(2), now).is_ok());
}
