//! What holds for every sequence of happenings and answers.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::script::{Script, event, seconds};
use crate::write::events::plan::{Observed, Outcome, Write, WriteKind};
use crate::write::events::{DropReason, SpamLimit};

#[derive(Clone, Debug)]
enum Step {
    /// Something happens to one of a few objects.
    Record(u8),
    /// A request is sent, if there is one.
    Send,
    /// One of those under way comes to an end.
    Answer(usize, Fate),
    Pass(u64),
    /// Somebody deletes all events, or they expire.
    Expire,
    Nothing,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Served,
    /// Carried out, but nobody hears of it.
    AnswerLost,
    /// It never arrived, but who sent it cannot know.
    RequestLost,
    Refused,
}

/// A server with events, by name, and how often each happened.
#[derive(Default)]
struct Server {
    events: BTreeMap<String, u64>,
}

fn steps(fates: &'static [Fate], rare: Step) -> impl Strategy<Value = Vec<Step>> {
    let fate = prop::sample::select(fates);
    let step = prop_oneof![
        5 => (0_u8..4).prop_map(Step::Record),
        3 => Just(Step::Send),
        3 => (any::<usize>(), fate).prop_map(|(at, fate)| Step::Answer(at, fate)),
        2 => (0_u64..900).prop_map(Step::Pass),
        1 => Just(rare),
    ];
    prop::collection::vec(step, 1..200)
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Plays the steps, then lets everything be served, and returns what the server has.
fn play(script: &mut Script, steps: Vec<Step>) -> Server {
    let mut server = Server::default();
    let mut under_way: Vec<Write> = Vec::new();
    for step in steps {
        match step {
            Step::Record(object) => {
                script.record(event(NAMES[usize::from(object)], "Failed"));
            }
            Step::Send => under_way.extend(script.plan.next()),
            Step::Answer(at, fate) if !under_way.is_empty() => {
                let write = under_way.remove(at % under_way.len());
                let outcome = server.answer(&write, fate);
                script.answer(&write, outcome);
            }
            Step::Answer(..) => {}
            Step::Pass(time) => {
                script.elapsed += seconds(time);
                script.plan.tick(script.at());
            }
            Step::Expire => server.events.clear(),
            Step::Nothing => {}
        }
        let counts = script.counts();
        assert!(counts.written + counts.dropped_total() <= counts.recorded);
        // One request at a time for each series.
        for (at, write) in under_way.iter().enumerate() {
            assert!(under_way[..at].iter().all(|other| other.key != write.key));
        }
    }
    for write in under_way {
        let outcome = server.answer(&write, Fate::Served);
        script.answer(&write, outcome);
    }
    script.plan.close();
    script.work(|write| server.answer(write, Fate::Served));
    assert!(script.plan.is_idle());
    server
}

proptest! {
    /// With answers lost and requests lost: the server's counts are the records without
    /// those that were dropped, to the last one.
    #[test]
    fn the_counts_of_the_server_are_the_records_without_the_drops(
        steps in steps(
            &[Fate::Served, Fate::Served, Fate::AnswerLost, Fate::RequestLost],
            Step::Nothing,
        ),
    ) {
        let mut script = Script::new();
        let server = play(&mut script, steps);
        let counts = script.counts();
        prop_assert_eq!(counts.unwritten(), 0);
        prop_assert_eq!(counts.written, counts.recorded - counts.dropped_total());
        let known: u64 = server.events.values().sum();
        // What was given up may have arrived all the same.
        if counts.dropped(DropReason::GivenUp) + counts.dropped(DropReason::ShuttingDown) == 0 {
            prop_assert_eq!(known, counts.written);
        } else {
            prop_assert!(known >= counts.written);
        }
    }

    /// With refusals, events that vanish, and shares that are used up: it still adds up, and
    /// the end is an end.
    #[test]
    fn whatever_the_server_says_everything_is_accounted_for(
        steps in steps(
            &[Fate::Served, Fate::AnswerLost, Fate::RequestLost, Fate::Refused],
            Step::Expire,
        ),
        burst in 0_u32..4,
    ) {
        let mut script = Script::with_limit(SpamLimit { burst, ..SpamLimit::default() });
        play(&mut script, steps);
        let counts = script.counts();
        prop_assert_eq!(counts.unwritten(), 0);
        prop_assert_eq!(counts.written + counts.dropped_total(), counts.recorded);
    }

    /// What happens costs no more requests than the object has left, whatever happens when.
    /// The upkeep costs one each time that a series is looked at.
    #[test]
    fn no_object_has_more_requests_than_its_share(
        waits in prop::collection::vec((0_u64..500, 0_usize..3), 1..200),
        burst in 1_u32..6,
    ) {
        const REASONS: [&str; 3] = ["A", "B", "C"];
        let mut script = Script::with_limit(SpamLimit { burst, ..SpamLimit::default() });
        let mut at_once = 0_u64;
        let mut last = 0;
        for (wait, reason) in waits {
            script.elapsed += seconds(wait);
            script.work(|_| Outcome::Written);
            if script.record(event("web", REASONS[reason])) == Observed::Queued {
                at_once += 1;
            }
            script.work(|_| Outcome::Written);
            last = script.elapsed.as_secs();
        }
        prop_assert!(at_once <= u64::from(burst) + last / 300, "{} in {} s", at_once, last);
    }
}

// === impl Server ===

impl Server {
    fn answer(&mut self, write: &Write, fate: Fate) -> Outcome {
        match fate {
            Fate::Served => self.serve(write),
            Fate::AnswerLost => {
                self.serve(write);
                Outcome::Failed { lost: true }
            }
            Fate::RequestLost => Outcome::Failed { lost: true },
            Fate::Refused => Outcome::Refused,
        }
    }

    fn serve(&mut self, write: &Write) -> Outcome {
        match write.kind {
            WriteKind::Create { repeats, .. } => {
                if self.events.contains_key(&write.name) {
                    return Outcome::Exists;
                }
                let count = repeats.map_or(1, |it| it.count);
                self.events
                    .insert(write.name.clone(), count.unsigned_abs().into());
                Outcome::Written
            }
            WriteKind::Patch(repeats) => match self.events.get_mut(&write.name) {
                Some(count) => {
                    *count = repeats.count.unsigned_abs().into();
                    Outcome::Written
                }
                None => Outcome::Vanished,
            },
        }
    }
}
