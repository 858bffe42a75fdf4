use controller_core::controllers::min_replicas::{
    self, MAX_REPLANS, Next, Observed, Plan, Raise, Refusal, Settings, after_refusal, plan,
};
use controller_core::watch::Object;

use super::live::{Live, autoscaler};
use super::world::{Sent, World};

/// One `kubectl minrep run`: its caches, and where its only worker stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Controller {
    pub(super) cache: Option<Live>,
    pub(super) sees_autoscaler: bool,
    /// The key is in line.
    pub(super) queued: bool,
    pub(super) phase: Phase,
}

/// Where a reconcile stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Phase {
    Idle,
    /// Its write has no answer yet.
    Waiting {
        on: Live,
        replans: u32,
    },
    /// The answer is there, and has not been looked at.
    Answered {
        on: Live,
        replans: u32,
        answer: Answer,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Answer {
    Done,
    Conflict,
    Refused,
    Lost,
}

// === impl Controller ===

impl Controller {
    pub(super) fn new(cache: Option<Live>) -> Self {
        Self {
            cache,
            sees_autoscaler: false,
            queued: true,
            phase: Phase::Idle,
        }
    }

    /// What the real plan makes of what this controller sees.
    fn decide(&self, live: Live) -> Option<Raise> {
        let deployment = live.decode();
        let autoscalers: Vec<_> = self.sees_autoscaler.then(autoscaler).into_iter().collect();
        let observed = Observed {
            autoscalers: &autoscalers,
            ..Observed::new(&deployment)
        };
        match plan(&observed, &Settings::default()) {
            Plan::Raise(raise) => Some(raise),
            Plan::Leave(_) | Plan::Blocked(_) => None,
        }
    }
}

/// The worker takes the key.
pub(super) fn look(world: &mut World, who: usize) {
    let controller = &mut world.controllers[who];
    controller.queued = false;
    // A key that the cache does not have is read live.
    if let Some(live) = controller.cache.or(world.server) {
        send_if_wanted(world, who, live, 0);
    }
}

/// The worker looks at the answer to its write; `read` is whether the server can be read.
pub(super) fn react(world: &mut World, who: usize, read: bool) {
    let Phase::Answered {
        on,
        replans,
        answer,
    } = world.controllers[who].phase
    else {
        return;
    };
    world.controllers[who].phase = Phase::Idle;
    let refusal = match answer {
        Answer::Done => return,
        Answer::Conflict => Refusal::Conflict,
        Answer::Refused => Refusal::Refused,
        Answer::Lost => Refusal::Lost,
    };
    let raise = on.raise();
    let found = world.server.map(Live::decode);
    let live = match &found {
        _ if !read => min_replicas::Live::Unread,
        None => min_replicas::Live::Gone,
        Some(deployment) => min_replicas::Live::Found {
            uid: deployment.uid(),
            resource_version: deployment.resource_version(),
            number: deployment.replicas(),
        },
    };
    match after_refusal(refusal, &raise, live, false) {
        Next::Gone | Next::Done => {}
        // A failure: the key comes back.
        Next::ReportWrite | Next::ReportRead => world.controllers[who].queued = true,
        Next::PlanAgain if replans < MAX_REPLANS => {
            if let Some(live) = world.server {
                send_if_wanted(world, who, live, replans + 1);
            }
        }
        // Too often: a failure, too.
        Next::PlanAgain => world.controllers[who].queued = true,
    }
}

fn send_if_wanted(world: &mut World, who: usize, on: Live, replans: u32) {
    let controller = &mut world.controllers[who];
    if let Some(raise) = controller.decide(on) {
        controller.phase = Phase::Waiting { on, replans };
        world.network.push(Sent {
            by: Some(who),
            on,
            to: u8::try_from(raise.to).unwrap(),
        });
    }
}
