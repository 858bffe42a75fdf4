use stateright::{Checker, HasDiscoveries, Model, Property};

use super::action::Action;
use super::world::{Left, World};

/// Every run of a world.
#[derive(Clone, Debug)]
struct Runs {
    left: Left,
    guards: bool,
}

const LOWERS: &str = "no write of ours lowers replicas";
const UNINVITED: &str = "no write of ours changes what had not opted in when it was decided on";

/// Nothing goes wrong.
const QUIET: Left = Left {
    user: 0,
    autoscaler: 0,
    losses: 0,
    refusals: 0,
    crashes: 0,
};

// === impl Runs ===

impl Model for Runs {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self.left, self.guards)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        actions.extend(Action::all(world));
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        action.take(&mut next);
        next.order();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(LOWERS, |_, world: &World| !world.wrongs.lowered),
            Property::always(UNINVITED, |_, world: &World| !world.wrongs.uninvited),
            Property::always(
                "when nothing is left to happen, it is at the minimum or above",
                |_, world: &World| !Action::all(world).is_empty() || world.is_settled(),
            ),
            // The worlds are worth exploring: what they are about happens in them.
            Property::sometimes("it is raised", |_, world: &World| world.was_raised()),
            Property::sometimes("a write is overtaken", |_, world: &World| {
                let overtaken = |revision| revision < world.revision;
                world.network.iter().any(|sent| overtaken(sent.on.revision))
            }),
        ]
    }
}

/// How many worlds there are; none of them breaks a promise.
fn explore(left: Left) -> usize {
    let runs = Runs { left, guards: true };
    let checker = runs.checker().spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count()
}

#[test]
fn two_controllers_and_a_user() {
    let worlds = explore(Left { user: 2, ..QUIET });
    println!("{worlds} worlds");
}

#[test]
fn a_server_that_refuses_and_loses() {
    let worlds = explore(Left {
        user: 1,
        losses: 1,
        refusals: 1,
        ..QUIET
    });
    println!("{worlds} worlds");
}

#[test]
fn an_autoscaler_that_comes_and_goes() {
    let worlds = explore(Left {
        user: 1,
        autoscaler: 2,
        ..QUIET
    });
    println!("{worlds} worlds");
}

#[test]
fn a_crash_with_a_write_under_way() {
    let worlds = explore(Left {
        user: 1,
        losses: 1,
        crashes: 1,
        ..QUIET
    });
    println!("{worlds} worlds");
}

/// The model is able to find what it looks for.
#[test]
fn without_the_guards_both_promises_are_broken() {
    let runs = Runs {
        left: Left { user: 2, ..QUIET },
        guards: false,
    };
    let found = HasDiscoveries::AllOf([LOWERS, UNINVITED].into());
    let checker = runs.checker().finish_when(found).spawn_bfs().join();
    checker.assert_any_discovery(LOWERS);
    checker.assert_any_discovery(UNINVITED);
}
