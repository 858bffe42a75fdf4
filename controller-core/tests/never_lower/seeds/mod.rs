//! Seed → a run of the real controller, in trouble.
//!
//! A user, an autoscaler, stale endpoints, lost answers, refusals, cut watches and crashes
//! are drawn from one seed. Afterwards every write that was sent is held against what the
//! server had at the revision that it was decided on, applied or not.
//!
//! ```sh
//! cargo test -p controller-core --test never_lower seeds                       # 2,000
//! NEVER_LOWER_SEEDS=10000 cargo test -p controller-core --test never_lower     # more
//! NEVER_LOWER_SEED=4711 cargo test -p controller-core --test never_lower seeds # one again
//! ```

mod controller;
mod judge;
mod stage;
mod trouble;

use std::env;

use rand::SeedableRng;
use rand::rngs::StdRng;

use stage::Stage;

/// How many seeds each of the four tests tries where nobody says otherwise. They are four so
/// that they run side by side.
const SEEDS: u64 = 500;

/// How much happens in a run.
const STEPS: usize = 25;

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}

/// Runs one seed to its end. The number of writes that were sent.
fn play(seed: u64) -> Result<usize, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut random = StdRng::seed_from_u64(seed);
        let mut stage = Stage::set(&mut random).await;
        for _ in 0..STEPS {
            trouble::strike(&mut stage, &mut random).await;
        }
        stage.calm_down().await?;
        let writes = judge::writes(&stage.server).await?;
        stage.server.shutdown().await;
        Ok(writes)
    })
}

/// Nothing is lowered, nothing is written that was not asked for, and all is raised in the
/// end.
fn try_seeds(part: u64) {
    let count = number("NEVER_LOWER_SEEDS").map_or(SEEDS, |all| all.div_ceil(4));
    let seeds = match number("NEVER_LOWER_SEED") {
        Some(seed) => seed..seed + 1,
        None => part * count..(part + 1) * count,
    };
    let mut writes = 0;
    for seed in seeds {
        match play(seed) {
            Ok(sent) => writes += sent,
            Err(why) => panic!("seed {seed} (replay it with NEVER_LOWER_SEED={seed}): {why}"),
        }
    }
    assert!(writes > 0 || count == 0, "nothing was tried");
}

#[test]
fn seeds_of_the_first_part() {
    try_seeds(0);
}

#[test]
fn seeds_of_the_second_part() {
    try_seeds(1);
}

#[test]
fn seeds_of_the_third_part() {
    try_seeds(2);
}

#[test]
fn seeds_of_the_fourth_part() {
    try_seeds(3);
}
