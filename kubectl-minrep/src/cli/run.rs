use std::time::Duration;

use clap::Args;

use super::RuleArgs;
use super::count::count;
use super::duration::parse_duration;

/// `kubectl minrep run`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// What `reconcile once` takes too.
    #[command(flatten)]
    pub rule: RuleArgs,

    /// How many Deployments to raise in any 60 seconds; the rest wait for their turn. 0 is
    /// no limit
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        allow_negative_numbers = true,
        value_parser = count(0..=1_000_000_u32),
        env = "MINREP_MAX_RAISES_PER_MINUTE",
        hide_env = true
    )]
    pub max_raises_per_minute: u32,

    /// How long to wait before trying a Deployment again that failed; each further failure
    /// doubles it
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "500ms",
        allow_hyphen_values = true,
        value_parser = parse_duration,
        env = "MINREP_RETRY_BASE",
        hide_env = true
    )]
    pub retry_base: Duration,

    /// The longest wait between two tries, however often a Deployment failed
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "15m",
        allow_hyphen_values = true,
        value_parser = parse_duration,
        env = "MINREP_RETRY_MAX",
        hide_env = true
    )]
    pub retry_max: Duration,

    /// How often to look at every Deployment again without being told of a change;
    /// 0 turns this off
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "30s",
        allow_hyphen_values = true,
        value_parser = parse_duration,
        env = "MINREP_RESYNC",
        hide_env = true
    )]
    pub resync: Duration,

    /// How long to go on with what is in line after SIGTERM or Ctrl-C; a second signal
    /// ends at once
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "25s",
        allow_hyphen_values = true,
        value_parser = parse_duration,
        env = "MINREP_SHUTDOWN_GRACE_PERIOD",
        hide_env = true
    )]
    pub shutdown_grace_period: Duration,
}

const EXAMPLES: &str = "\
Examples:
  # Keep the current namespace at the minimum until Ctrl-C
  kubectl minrep run

  # Watch every namespace and say what would be raised
  kubectl minrep run -A --dry-run=client";
