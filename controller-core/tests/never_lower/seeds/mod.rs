//! Seed → a run of the real controller, in trouble.
//!
//! A user, an autoscaler, stale endpoints, lost answers, refusals, cut watches and crashes
//! are drawn from one seed. Afterwards every write that was sent is held against what the
//! server had at the revision that it was decided on, applied or not.
//!
//! ```sh
//! cargo test -p controller-core --test never_lower seeds                       # some hundreds
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

/// How many seeds are tried where nobody says otherwise.
const SEEDS: u64 = 300;

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

#[test]
fn nothing_is_lowered_and_all_is_raised_in_the_end() {
    let seeds = match number("NEVER_LOWER_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("NEVER_LOWER_SEEDS").unwrap_or(SEEDS),
    };
    let mut writes = 0;
    for seed in seeds.clone() {
        match play(seed) {
            Ok(sent) => writes += sent,
            Err(why) => panic!("seed {seed} (replay it with NEVER_LOWER_SEED={seed}): {why}"),
        }
    }
    println!("{writes} writes in {} runs", seeds.end - seeds.start);
    assert!(writes > 0, "nothing was tried");
}
