use super::controller::{Answer, Phase, look, react};
use super::live::Live;
use super::world::{Left, World};

/// One step that somebody takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Action {
    /// Whoever is not us stops, and nothing goes wrong any more.
    OthersStop,
    UserScales(u8),
    UserTogglesLabel,
    /// Deletes it, and something still holds it.
    UserDeletes,
    /// It is gone.
    Vanishes,
    UserRecreates,
    AutoscalerComes,
    AutoscalerGoes,
    AutoscalerScales(u8),
    /// A watch brings the newest state, and whatever was between is never seen.
    CacheSees(usize),
    CacheSeesAutoscaler(usize),
    Looks(usize),
    /// The write at this place in the network reaches the server. Writes overtake.
    Arrives {
        place: usize,
        answered: bool,
    },
    /// The server refuses it for a reason of its own: a webhook, a quota.
    Refused(usize),
    /// It never reaches the server.
    Dropped(usize),
    /// The sender gives it up, and it arrives later.
    GivenUp(usize),
    /// A worker goes on with the answer that it has.
    Reacts {
        who: usize,
        reads: bool,
    },
    /// The process dies and starts again. What it sent is under way.
    Crashes(usize),
}

impl Action {
    /// Everything that can happen next.
    pub(super) fn all(world: &World) -> Vec<Self> {
        let mut actions = Vec::new();
        others(world, &mut actions);
        for who in 0..world.controllers.len() {
            ours(world, who, &mut actions);
        }
        for (place, sent) in world.network.iter().enumerate() {
            actions.push(Self::Arrives {
                place,
                answered: true,
            });
            if sent.by.is_none() {
                continue;
            }
            if world.left.losses > 0 {
                actions.push(Self::Arrives {
                    place,
                    answered: false,
                });
                actions.push(Self::Dropped(place));
                actions.push(Self::GivenUp(place));
            }
            if world.left.refusals > 0 {
                actions.push(Self::Refused(place));
            }
        }
        actions
    }

    pub(super) fn take(self, world: &mut World) {
        match self {
            Self::OthersStop => world.left = Left::default(),
            Self::UserScales(replicas) => {
                world.left.user -= 1;
                world.store(|live| live.replicas = replicas);
            }
            Self::UserTogglesLabel => {
                world.left.user -= 1;
                world.store(|live| live.opted_in = !live.opted_in);
            }
            Self::UserDeletes => {
                world.left.user -= 1;
                world.store(|live| live.being_deleted = true);
            }
            Self::Vanishes => {
                world.left.user -= 1;
                world.revision += 1;
                world.server = None;
            }
            Self::UserRecreates => {
                world.left.user -= 1;
                world.put(Live {
                    uid: world.revision + 1,
                    revision: 0,
                    replicas: 1,
                    opted_in: true,
                    being_deleted: false,
                });
            }
            Self::AutoscalerComes | Self::AutoscalerGoes => {
                world.left.autoscaler -= 1;
                world.autoscaled = !world.autoscaled;
            }
            Self::AutoscalerScales(replicas) => {
                world.left.autoscaler -= 1;
                world.store(|live| live.replicas = replicas);
            }
            Self::CacheSees(who) => {
                world.controllers[who].cache = world.server;
                world.controllers[who].queued = true;
            }
            Self::CacheSeesAutoscaler(who) => {
                world.controllers[who].sees_autoscaler = world.autoscaled;
                world.controllers[who].queued = true;
            }
            Self::Looks(who) => look(world, who),
            Self::Arrives { place, answered } => {
                let sent = world.network.remove(place);
                let applied = world.arrive(sent);
                let answer = match (answered, applied) {
                    (false, _) => {
                        world.left.losses -= 1;
                        Answer::Lost
                    }
                    (true, true) => Answer::Done,
                    (true, false) => Answer::Conflict,
                };
                answer_to(world, sent.by, answer);
            }
            Self::Refused(place) => {
                world.left.refusals -= 1;
                let sent = world.network.remove(place);
                answer_to(world, sent.by, Answer::Refused);
            }
            Self::Dropped(place) => {
                world.left.losses -= 1;
                let sent = world.network.remove(place);
                answer_to(world, sent.by, Answer::Lost);
            }
            Self::GivenUp(place) => {
                world.left.losses -= 1;
                let by = world.network[place].by.take();
                answer_to(world, by, Answer::Lost);
            }
            Self::Reacts { who, reads } => {
                if !reads {
                    world.left.losses -= 1;
                }
                react(world, who, reads);
            }
            Self::Crashes(who) => {
                world.left.crashes -= 1;
                let (cache, autoscaled) = (world.server, world.autoscaled);
                let controller = &mut world.controllers[who];
                // It lists before it looks.
                controller.cache = cache;
                controller.sees_autoscaler = autoscaled;
                controller.queued = true;
                controller.phase = Phase::Idle;
                for sent in &mut world.network {
                    sent.by = sent.by.filter(|by| *by != who);
                }
            }
        }
    }
}

fn others(world: &World, actions: &mut Vec<Action>) {
    if world.left.any() {
        actions.push(Action::OthersStop);
    }
    if world.left.user > 0 {
        match world.server {
            Some(live) => {
                let numbers = [0, 1, 3].into_iter().filter(|n| *n != live.replicas);
                actions.extend(numbers.map(Action::UserScales));
                actions.extend([Action::UserTogglesLabel, Action::Vanishes]);
                if !live.being_deleted {
                    actions.push(Action::UserDeletes);
                }
            }
            None => actions.push(Action::UserRecreates),
        }
    }
    if world.left.autoscaler > 0 {
        if world.autoscaled {
            actions.push(Action::AutoscalerGoes);
            let replicas = world.server.map_or(0, |live| live.replicas);
            let numbers = [1, 3].into_iter().filter(|n| *n != replicas);
            actions.extend(numbers.map(Action::AutoscalerScales));
        } else {
            actions.push(Action::AutoscalerComes);
        }
    }
}

fn ours(world: &World, who: usize, actions: &mut Vec<Action>) {
    let controller = &world.controllers[who];
    if controller.cache != world.server {
        actions.push(Action::CacheSees(who));
    }
    if controller.sees_autoscaler != world.autoscaled {
        actions.push(Action::CacheSeesAutoscaler(who));
    }
    match controller.phase {
        Phase::Idle if controller.queued => actions.push(Action::Looks(who)),
        Phase::Idle | Phase::Waiting { .. } => {}
        Phase::Answered { .. } => {
            actions.push(Action::Reacts { who, reads: true });
            if world.left.losses > 0 {
                actions.push(Action::Reacts { who, reads: false });
            }
        }
    }
    if world.left.crashes > 0 {
        actions.push(Action::Crashes(who));
    }
}

/// Hands the answer to the worker, if one still waits for it.
fn answer_to(world: &mut World, by: Option<usize>, answer: Answer) {
    let Some(by) = by else {
        return;
    };
    if let Phase::Waiting { on, replans } = world.controllers[by].phase {
        world.controllers[by].phase = Phase::Answered {
            on,
            replans,
            answer,
        };
    }
}
