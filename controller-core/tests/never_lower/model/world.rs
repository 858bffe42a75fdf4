use super::controller::Controller;
use super::live::{Live, MIN};

/// All that there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    /// What the server has.
    pub(super) server: Option<Live>,
    /// Whether an autoscaler targets it.
    pub(super) autoscaled: bool,
    /// The newest revision.
    pub(super) revision: u8,
    pub(super) controllers: [Controller; 2],
    /// Writes that were sent and have not reached the server.
    pub(super) network: Vec<Sent>,
    /// What may still go wrong.
    pub(super) left: Left,
    /// What must never happen, once it has.
    pub(super) wrongs: Wrongs,
    /// Whether the server compares a write's guards, as it does. Without them the model
    /// must find what they are for.
    pub(super) guards: bool,
}

/// A write under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    /// Who sent it, as long as that one waits for the answer.
    pub(super) by: Option<usize>,
    /// What it was decided on, and is guarded with.
    pub(super) on: Live,
    pub(super) to: u8,
}

/// How often each kind of trouble may still strike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Left {
    pub(super) user: u8,
    pub(super) autoscaler: u8,
    /// Requests, answers and reads that get lost.
    pub(super) losses: u8,
    pub(super) refusals: u8,
    pub(super) crashes: u8,
}

/// What was done and must not be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Wrongs {
    /// A write of ours took replicas away.
    pub(super) lowered: bool,
    /// A write of ours changed an object that had not opted in when it was decided on, or
    /// another object than that one.
    pub(super) uninvited: bool,
}

// === impl World ===

impl World {
    /// One Deployment below the minimum, which both controllers have seen.
    pub(super) fn new(left: Left, guards: bool) -> Self {
        let web = Live {
            uid: 1,
            revision: 1,
            replicas: 1,
            opted_in: true,
            being_deleted: false,
        };
        Self {
            server: Some(web),
            autoscaled: false,
            revision: 1,
            controllers: [Controller::new(Some(web)), Controller::new(Some(web))],
            network: Vec::new(),
            left,
            wrongs: Wrongs::default(),
            guards,
        }
    }

    /// The server stores a new state of the Deployment.
    pub(super) fn store(&mut self, change: impl FnOnce(&mut Live)) {
        if let Some(mut live) = self.server {
            change(&mut live);
            self.put(live);
        }
    }

    /// The server stores this, at the next revision.
    pub(super) fn put(&mut self, mut live: Live) {
        self.revision += 1;
        live.revision = self.revision;
        self.server = Some(live);
    }

    /// A write reaches the server, which compares what guards it. True: it was applied.
    pub(super) fn arrive(&mut self, sent: Sent) -> bool {
        let Some(live) = self.server else {
            return false;
        };
        let is_as_decided = (live.uid, live.revision) == (sent.on.uid, sent.on.revision);
        if self.guards && !is_as_decided {
            return false;
        }
        self.wrongs.lowered |= sent.to < live.replicas;
        self.wrongs.uninvited |= !sent.on.opted_in || sent.on.uid != live.uid;
        self.store(|live| live.replicas = sent.to);
        true
    }

    /// The two controllers are alike: of two worlds that differ in nothing but which is
    /// which, one is looked at.
    pub(super) fn order(&mut self) {
        let [first, second] = &mut self.controllers;
        if *first <= *second {
            return;
        }
        std::mem::swap(first, second);
        for sent in &mut self.network {
            sent.by = sent.by.map(|by| 1 - by);
        }
    }

    /// The Deployment is where the rule wants it, or the rule does not apply to it.
    pub(super) fn is_settled(&self) -> bool {
        self.autoscaled || self.server.is_none_or(|live| !live.wants())
    }

    /// Whether it has exactly what a raise gives it.
    pub(super) fn was_raised(&self) -> bool {
        self.server.is_some_and(|live| live.replicas == MIN)
    }
}

// === impl Left ===

impl Left {
    pub(super) fn any(self) -> bool {
        self != Self::default()
    }
}
