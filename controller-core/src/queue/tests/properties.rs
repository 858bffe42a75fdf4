use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use super::model::{Key, Model};
use crate::handler::Band;
use crate::queue::clock::Clock;
use crate::queue::depth::Depth;
use crate::queue::entries::KeyHash;
use crate::queue::incoming::Incoming;
use crate::queue::state::{Policy, State};
use crate::queue::work::WorkId;

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(Key, Option<Band>),
    /// By a caller who keeps the key.
    AddRef(Key),
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
    in_work: Vec<(WorkId, Key)>,
    /// Of each key handed out: its band, and the background key that waited longest then.
    served: Vec<(Key, Band, Option<Key>)>,
    /// Keys added since they were last handed out.
    news: BTreeSet<Key>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Does what its model does, and keeps its promises whatever happens.
    #[test]
    fn does_what_its_model_does(steps in prop::collection::vec(step(), 1..60)) {
        let mut bench = Bench::new();
        for step in steps {
            bench.step(step)?;
            bench.check()?;
        }
        bench.work_off()?;
    }

    /// Every key that was added is handed out after that: none is lost.
    #[test]
    fn loses_no_key(steps in prop::collection::vec(step(), 1..60)) {
        let mut bench = Bench::new();
        for step in steps {
            if !matches!(step, Step::Halt) {
                bench.step(step)?;
            }
        }
        bench.work_off()?;
        prop_assert!(bench.news.is_empty(), "never handed out: {:?}", bench.news);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// With a live key always in line, of any 8 gets one serves the longest waiting.
    #[test]
    fn starves_no_background_key(adds in prop::collection::vec(any::<Option<Key>>(), 20..200)) {
        let mut bench = Bench::new();
        for (live, background) in (0..).zip(adds) {
            bench.step(Step::Add(200 + live % 50, Some(Band::Live)))?;
            if let Some(key) = background {
                bench.step(Step::Add(key % 200, Some(Band::Background)))?;
            }
            bench.step(Step::Take)?;
            bench.step(Step::Done(0))?;
        }
        prop_assert!(!bench.served.is_empty());
    }
}

/// What an add may say of the band.
const BANDS: [Option<Band>; 2] = [Some(Band::Live), Some(Band::Background)];

/// Every other key has the hash of another one.
fn hash(key: Key) -> KeyHash {
    KeyHash::from(key / 2)
}

/// Of a hundred steps so many are adds and so on. One plain tuple, for of thousands of cases
/// most of the time goes into making them.
fn step() -> impl Strategy<Value = Step> {
    let numbers = (0..100_u8, 0..6_u8, 0..40_u64, any::<bool>());
    numbers.prop_map(|(kind, key, number, flag)| match kind {
        0..23 => Step::Add(key, BANDS[usize::from(flag)]),
        23..28 => Step::AddRef(key),
        28..40 => Step::AddAfter(key, number.saturating_sub(3), flag),
        40..44 => Step::Cancel(key),
        44..67 => Step::Take,
        67..86 => Step::Done(number as usize),
        86..98 => Step::Advance(number.saturating_sub(10)),
        // Rare, for most of what can go wrong goes wrong before.
        _ if number < 12 => Step::Halt,
        _ => Step::ShutDown,
    })
}

// === impl Bench ===

impl Bench {
    fn new() -> Self {
        Self {
            state: State::new(),
            model: Model::default(),
            in_work: Vec::new(),
            served: Vec::new(),
            news: BTreeSet::new(),
        }
    }

    fn clock(&self) -> Clock {
        Clock::at(self.model.now.as_nanos() as u64 + 1)
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        let clock = &mut self.clock();
        match step {
            Step::Add(key, band) => {
                let mut item = Incoming::new(Cow::Owned(key));
                self.state.add(hash(key), &mut item, band, clock);
                self.added(key, band);
            }
            Step::AddRef(key) => {
                let band = Some(Band::Live);
                let mut item = Incoming::new(Cow::Borrowed(&key));
                self.state.add(hash(key), &mut item, band, clock);
                self.added(key, band);
            }
            Step::AddAfter(key, delay, replace) => {
                let policy = if replace {
                    Policy::Replace
                } else {
                    Policy::Earliest
                };
                if delay == 0 && !self.model.closed {
                    self.news.insert(key);
                }
                let delay = Duration::from_millis(delay);
                let item = &mut Incoming::new(Cow::Owned(key));
                self.state.add_after(hash(key), item, delay, policy, clock);
                self.model.add_after(key, delay, replace);
            }
            Step::Cancel(key) => {
                let (cancelled, dropped) = self.state.cancel(hash(key), &key, clock);
                prop_assert_eq!(cancelled, self.model.cancel(key));
                let dropped = dropped.and_then(|mut it| it.next());
                prop_assert!(dropped.is_none_or(|it| it == key));
            }
            Step::Take => self.take()?,
            Step::Done(at) => {
                if !self.in_work.is_empty() {
                    let at = at % self.in_work.len();
                    let (work, key) = self.in_work.remove(at);
                    let dropped = self.state.done(work, key, clock);
                    let dropped = dropped.and_then(|mut it| it.next());
                    prop_assert!(dropped.is_none_or(|it| it == key));
                    self.model.done(at);
                }
            }
            Step::Advance(by) => {
                self.model.advance(Duration::from_millis(by));
                self.state.promote(&mut self.clock());
            }
            Step::ShutDown => {
                self.state.shut_down(clock);
                self.model.shut_down();
            }
            Step::Halt => {
                self.state.halt(clock);
                self.model.halt();
                self.news.clear();
            }
        }
        Ok(())
    }

    fn added(&mut self, key: Key, band: Option<Band>) {
        self.model.add(key, band);
        if !self.model.closed {
            self.news.insert(key);
        }
    }

    /// Takes a key, and checks on it what was promised of every key handed out.
    fn take(&mut self) -> Result<(), TestCaseError> {
        let mut line = self.model.line.iter();
        let background = line.find(|it| it.band == Band::Background);
        let longest_waiting = background.map(|it| it.key);
        let taken = self.state.take(&mut self.clock());
        let told = taken.as_ref();
        let told = told.map(|it| {
            (
                it.item,
                it.band,
                it.queued_for.duration().expect("it was noted"),
            )
        });
        prop_assert_eq!(told, self.model.take());
        let Some(taken) = taken else { return Ok(()) };

        let twice = self.in_work.iter().any(|(_, key)| *key == taken.item);
        prop_assert!(!twice, "{} is in two workers", taken.item);
        self.in_work.push((taken.work, taken.item));
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
        self.state.check_remembered();
        let model = &self.model;
        let of = |band| model.line.iter().filter(|it| it.band == band).count();
        let marked = |band| {
            let again = model.work.iter().filter_map(|it| it.standing(model));
            again.filter(|it| *it == band).count()
        };
        let (live, background) = (of(Band::Live), of(Band::Background));
        let snapshot = self.state.snapshot(&mut self.clock());
        let expected = Depth {
            live,
            background,
            delayed: model.delayed.len(),
            in_work: model.work.len(),
        };
        prop_assert_eq!(snapshot.depth, expected);
        prop_assert_eq!(snapshot.dirty_live, live + marked(Band::Live));
        prop_assert_eq!(
            snapshot.dirty_background,
            background + marked(Band::Background)
        );
        prop_assert_eq!(
            (snapshot.adds, snapshot.retries, snapshot.refused),
            (model.adds, model.retries, model.refused)
        );
        prop_assert_eq!(self.state.progress().dropped_delayed, model.dropped_delayed);
        let mut in_work: Vec<_> = snapshot.in_work.iter().map(|it| it.item).collect();
        let mut of_model: Vec<_> = model.work.iter().map(|it| it.key).collect();
        in_work.sort_unstable();
        of_model.sort_unstable();
        prop_assert_eq!(&in_work, &of_model);
        let abandoned: BTreeSet<_> = self.state.abandoned_keys().into_iter().collect();
        prop_assert_eq!(abandoned, model.abandoned.iter().copied().collect());

        let mut places = BTreeMap::new();
        let line = model.line.iter().map(|it| it.key);
        let delayed = model.delayed.iter().map(|it| it.key);
        for key in line.chain(delayed).chain(of_model) {
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
