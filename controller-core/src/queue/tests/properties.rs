use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use super::model::{Key, Model};
use crate::handler::Band;
use crate::queue::depth::Depth;
use crate::queue::entries::Id;
use crate::queue::state::{Policy, State};
use crate::queue::sync::Instant;

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(Key, bool),
    AddAfter(Key, u64, bool),
    Cancel(Key),
    Take,
    /// Ends the work on one of the keys in work.
    Done(usize),
    Advance(u64),
    ShutDown,
    Halt,
}

/// The queue and its model side by side, and what the promises need to be checked.
struct Bench {
    state: State<Key>,
    model: Model,
    start: Instant,
    in_work: Vec<(Id, Key)>,
    /// Of each key handed out: its band, and the background key that waited longest then.
    served: Vec<(Key, Band, Option<Key>)>,
    /// Keys added since they were last handed out.
    news: BTreeSet<Key>,
}

proptest! {
    /// Does what its model does, and keeps its promises whatever happens.
    #[test]
    fn does_what_its_model_does(steps in prop::collection::vec(step(), 1..120)) {
        let mut bench = Bench::new();
        for step in steps {
            bench.step(step)?;
            bench.check()?;
        }
        bench.work_off()?;
    }

    /// Every key that was added is handed out after that: none is lost.
    #[test]
    fn loses_no_key(steps in prop::collection::vec(step(), 1..120)) {
        let mut bench = Bench::new();
        for step in steps {
            if !matches!(step, Step::Halt) {
                bench.step(step)?;
            }
        }
        bench.work_off()?;
        prop_assert!(bench.news.is_empty(), "never handed out: {:?}", bench.news);
    }

    /// With a live key always in line, of any 8 gets one serves the longest waiting.
    #[test]
    fn starves_no_background_key(adds in prop::collection::vec(any::<Option<Key>>(), 20..200)) {
        let mut bench = Bench::new();
        for (live, background) in (0..).zip(adds) {
            bench.step(Step::Add(200 + live % 50, true))?;
            if let Some(key) = background {
                bench.step(Step::Add(key % 200, false))?;
            }
            bench.step(Step::Take)?;
            bench.step(Step::Done(0))?;
        }
        prop_assert!(!bench.served.is_empty());
    }
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..6_u8;
    prop_oneof![
        12 => (key.clone(), any::<bool>()).prop_map(|(key, live)| Step::Add(key, live)),
        6 => (key.clone(), 0..40_u64, any::<bool>())
            .prop_map(|(key, delay, replace)| Step::AddAfter(key, delay, replace)),
        2 => key.prop_map(Step::Cancel),
        12 => Just(Step::Take),
        10 => any::<usize>().prop_map(Step::Done),
        6 => (0..30_u64).prop_map(Step::Advance),
        // Rare, for most of what can go wrong goes wrong before.
        1 => prop_oneof![3 => Just(Step::ShutDown), 1 => Just(Step::Halt)],
    ]
}

// === impl Bench ===

impl Bench {
    fn new() -> Self {
        Self {
            state: State::new(),
            model: Model::default(),
            start: crate::queue::sync::now(),
            in_work: Vec::new(),
            served: Vec::new(),
            news: BTreeSet::new(),
        }
    }

    fn now(&self) -> Instant {
        self.start + self.model.now
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        let now = self.now();
        match step {
            Step::Add(key, live) => {
                let band = if live { Band::Live } else { Band::Background };
                self.state.add(key, band);
                self.model.add(key, band);
                if !self.model.closed {
                    self.news.insert(key);
                }
            }
            Step::AddAfter(key, delay, replace) => {
                let policy = if replace {
                    Policy::Replace
                } else {
                    Policy::Earliest
                };
                let delay = Duration::from_millis(delay);
                self.state.add_after(key, delay, policy, now);
                self.model.add_after(key, delay, replace);
            }
            Step::Cancel(key) => {
                prop_assert_eq!(self.state.cancel(&key), self.model.cancel(key));
            }
            Step::Take => self.take()?,
            Step::Done(at) => {
                if !self.in_work.is_empty() {
                    let at = at % self.in_work.len();
                    let (id, _) = self.in_work.remove(at);
                    self.state.done(id, now);
                    self.model.done(at);
                }
            }
            Step::Advance(by) => {
                self.model.advance(Duration::from_millis(by));
                self.state.promote(self.now());
            }
            Step::ShutDown => {
                self.state.shut_down();
                self.model.shut_down();
            }
            Step::Halt => {
                self.state.halt();
                self.model.halt();
                self.news.clear();
            }
        }
        Ok(())
    }

    /// Takes a key, and checks on it what was promised of every key handed out.
    fn take(&mut self) -> Result<(), TestCaseError> {
        let background = self.model.line.iter().find(|it| it.1 == Band::Background);
        let longest_waiting = background.map(|it| it.0);
        let taken = self.state.take();
        let told = taken.as_ref().map(|it| (it.item, it.band));
        prop_assert_eq!(told, self.model.take());
        let Some(taken) = taken else { return Ok(()) };

        let twice = self.in_work.iter().any(|(_, key)| *key == taken.item);
        prop_assert!(!twice, "{} is in two workers", taken.item);
        self.in_work.push((taken.id, taken.item));
        self.news.remove(&taken.item);
        self.served.push((taken.item, taken.band, longest_waiting));

        let last_eight = self.served.iter().rev().take(8);
        let starved = self.served.len() >= 8
            && longest_waiting.is_some()
            && last_eight.clone().all(|it| it.1 == Band::Live);
        prop_assert!(!starved, "8 gets without background: {:?}", last_eight);
        if taken.band == Band::Background {
            prop_assert_eq!(Some(taken.item), longest_waiting);
        }
        Ok(())
    }

    /// The counts are the model's, and no key is in two places.
    fn check(&self) -> Result<(), TestCaseError> {
        let model = &self.model;
        let of = |band| model.line.iter().filter(|it| it.1 == band).count();
        let expected = Depth {
            live: of(Band::Live),
            background: of(Band::Background),
            delayed: model.delayed.len(),
            in_work: model.work.len(),
        };
        prop_assert_eq!(self.state.depth(), expected);
        prop_assert_eq!(self.state.progress().dropped_delayed, model.dropped_delayed);

        let mut places = BTreeMap::new();
        let line = model.line.iter().map(|it| it.0);
        let delayed = model.delayed.iter().map(|it| it.key);
        for key in line
            .chain(delayed)
            .chain(model.work.iter().map(|it| it.key))
        {
            *places.entry(key).or_insert(0) += 1;
        }
        prop_assert!(places.values().all(|count| *count == 1), "{:?}", places);
        Ok(())
    }

    /// Serves all that is left, as workers do, and finds the queue empty then.
    fn work_off(&mut self) -> Result<(), TestCaseError> {
        self.step(Step::Advance(1_000))?;
        loop {
            while !self.in_work.is_empty() {
                self.step(Step::Done(0))?;
            }
            self.step(Step::Advance(1_000))?;
            self.step(Step::Take)?;
            if self.in_work.is_empty() {
                break;
            }
        }
        prop_assert_eq!(self.state.depth(), Depth::default());
        Ok(())
    }
}
