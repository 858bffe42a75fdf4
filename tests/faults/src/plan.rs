//! The running script: its rules, their counts, and the decision for one request.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{
    Action, FaultLayer, ProxyCannot, RequestInfo, Rule, Script, Seen,
    seen::{Kept, UnderWay},
};

/// A handle on the rules of a running server; clones share them.
///
/// Rules may be added and removed at any time; a request is judged by the rules there are when it arrives.
#[derive(Clone, Debug)]
pub struct Faults {
    running: Arc<Mutex<Running>>,
    kept: Kept,
}

/// Names a rule that was added to [`Faults`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuleId(u64);

/// How often a rule was looked at and acted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCount {
    /// The rule's id.
    pub id: RuleId,
    /// The rule's name.
    pub name: Option<String>,
    /// How many requests its matcher fitted within its window.
    pub matched: u64,
    /// How many requests it acted on.
    pub fired: u64,
}

#[derive(Debug)]
struct Running {
    started: Instant,
    next_id: u64,
    rules: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    id: RuleId,
    rule: Rule,
    matched: u64,
    /// By namespace and name; used only where the rule counts per object.
    matched_by_object: HashMap<(Option<String>, Option<String>), u64>,
    fired: u64,
}

// === impl Faults ===

impl Faults {
    /// Starts a script now: its windows are measured from here.
    #[must_use]
    pub fn new(script: Script) -> Self {
        let faults = Self::default();
        faults.replace(script);
        faults
    }

    /// Adds a rule behind those there are.
    pub fn add(&self, rule: Rule) -> RuleId {
        self.running.lock().push(rule)
    }

    /// Takes a rule out; false if it was not there.
    pub fn remove(&self, id: RuleId) -> bool {
        let mut running = self.running.lock();
        let before = running.rules.len();
        running.rules.retain(|entry| entry.id != id);
        running.rules.len() < before
    }

    /// Takes all rules out.
    pub fn clear(&self) {
        self.running.lock().rules.clear();
    }

    /// Replaces all rules and starts the script's time anew.
    pub fn replace(&self, script: Script) {
        let mut running = self.running.lock();
        running.started = Instant::now();
        running.rules.clear();
        for rule in script.rules {
            running.push(rule);
        }
    }

    /// How many requests the rule acted on; 0 if it is not there.
    #[must_use]
    pub fn fired(&self, id: RuleId) -> u64 {
        self.running
            .lock()
            .rules
            .iter()
            .find(|entry| entry.id == id)
            .map_or(0, |entry| entry.fired)
    }

    /// How many requests the rules of this name acted on.
    #[must_use]
    pub fn fired_named(&self, name: &str) -> u64 {
        let running = self.running.lock();
        running
            .rules
            .iter()
            .filter(|e| e.rule.name.as_deref() == Some(name))
            .map(|e| e.fired)
            .sum()
    }

    /// The counts of all rules in their order.
    #[must_use]
    pub fn counts(&self) -> Vec<RuleCount> {
        self.running.lock().rules.iter().map(Entry::count).collect()
    }

    /// Keeps every request from now on, in memory, for [`requests`](Self::requests): what a test of a
    /// client before a real server wants to see, and no server that stays up for days.
    pub fn keep_requests(&self) {
        self.kept.begin();
    }

    /// The requests that were kept, in the order of arrival, those included that a rule answered.
    #[must_use]
    pub fn requests(&self) -> Vec<Seen> {
        self.kept.all()
    }

    /// Waits until so many requests have been kept, and returns all of them. It waits for ever if need be.
    ///
    /// # Panics
    ///
    /// If no requests are kept: see [`keep_requests`](Self::keep_requests).
    pub async fn until_requests(&self, enough: impl Fn(&[Seen]) -> bool) -> Vec<Seen> {
        self.kept.until(enough).await
    }

    /// Whether a proxy can carry out all the rules there are now.
    ///
    /// # Errors
    ///
    /// [`ProxyCannot`] with the first rule that needs the simulated server.
    pub fn check_for_proxy(&self) -> Result<(), ProxyCannot> {
        ProxyCannot::find(self.running.lock().rules.iter().map(|entry| &entry.rule))
    }

    /// The layer that carries the rules out.
    #[must_use]
    pub fn layer(&self) -> FaultLayer {
        FaultLayer::new(self.clone())
    }

    /// Keeps the request, if requests are kept.
    pub(crate) fn note(&self, info: &RequestInfo) -> Option<UnderWay> {
        self.kept.note(info)
    }

    /// Counts the request and says what is to go wrong with it; empty if nothing.
    #[must_use]
    pub fn decide(&self, info: &RequestInfo) -> Vec<Action> {
        let mut running = self.running.lock();
        let since_start = running.started.elapsed();
        let mut actions: Option<Vec<Action>> = None;
        let mut beside = false;
        for entry in &mut running.rules {
            if !entry.rule.window.contains(since_start) || !entry.rule.matcher.matches(info) {
                continue;
            }
            let attempt = entry.attempt(info);
            if !entry.rule.attempts.contains(attempt) {
                continue;
            }
            if entry.rule.acts_beside() {
                entry.fired += 1;
                beside = true;
            } else if actions.is_none() {
                entry.fired += 1;
                actions = Some(entry.rule.actions.clone());
            }
        }
        let mut actions = actions.unwrap_or_default();
        if beside {
            actions.insert(0, Action::OpaqueRevisions);
        }
        actions
    }
}

impl Default for Faults {
    /// No rules yet.
    fn default() -> Self {
        let running = Running {
            started: Instant::now(),
            next_id: 0,
            rules: Vec::new(),
        };
        Self {
            running: Arc::new(Mutex::new(running)),
            kept: Kept::default(),
        }
    }
}

// === impl Running ===

impl Running {
    fn push(&mut self, rule: Rule) -> RuleId {
        let id = RuleId(self.next_id);
        self.next_id += 1;
        self.rules.push(Entry {
            id,
            rule,
            matched: 0,
            matched_by_object: HashMap::new(),
            fired: 0,
        });
        id
    }
}

// === impl Entry ===

impl Entry {
    fn attempt(&mut self, info: &RequestInfo) -> u64 {
        self.matched += 1;
        if !self.rule.per_object {
            return self.matched;
        }
        let object = (info.namespace.clone(), info.name.clone());
        let count = self.matched_by_object.entry(object).or_default();
        *count += 1;
        *count
    }

    fn count(&self) -> RuleCount {
        RuleCount {
            id: self.id,
            name: self.rule.name.clone(),
            matched: self.matched,
            fired: self.fired,
        }
    }
}
