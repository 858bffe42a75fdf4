use std::time::Duration;

use clap::{Args, ValueEnum};

use super::count::count;
use super::duration::parse_timeout;
use super::output::parse_output;
use super::{OutputArg, RuleArgs};

/// `kubectl minrep reconcile once`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct OnceArgs {
    /// Deployments to look at; every opted-in one, unless given
    #[arg(value_name = "deployment/NAME")]
    pub targets: Vec<String>,

    /// What `run` takes too.
    #[command(flatten)]
    pub rule: RuleArgs,

    /// If more Deployments than this would be changed, change none and exit with 1; no limit,
    /// unless given
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = count(0..=1_000_000_u32),
        env = "MINREP_MAX_CHANGES",
        hide_env = true
    )]
    pub max_changes: Option<u32>,

    /// How long everything may take, such as 90s or 5m: then nothing more is sent, what was
    /// sent is awaited, and the exit code is 9; 0 is no limit
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "0",
        // `-1s` is a value that is refused, and no flag.
        allow_hyphen_values = true,
        hide_default_value = true,
        value_parser = parse_timeout,
        env = "MINREP_TIMEOUT",
        hide_env = true
    )]
    pub timeout: Duration,

    /// The form of the report on stdout
    #[arg(
        short,
        long,
        value_name = "table|wide|name|json|yaml",
        default_value = "table",
        value_parser = parse_output(OutputArg::value_variants()),
        env = "MINREP_OUTPUT",
        hide_env = true
    )]
    pub output: OutputArg,
}

const EXAMPLES: &str = "\
Examples:
  # Raise what is below the minimum in the current namespace
  kubectl minrep reconcile once

  # Look at two Deployments only
  kubectl minrep reconcile once deployment/web deployment/api -n shop

  # Have the server check every change, and make none
  kubectl minrep reconcile once -A --dry-run=server

  # Raise with 16 requests at a time, for at most 5 minutes
  kubectl minrep reconcile once -A --workers 16 --timeout 5m

Exit codes: 0 done, 1 more than --max-changes, 2 usage, 3 configuration, 4 server not reached, 5 denied,
6 not found, 7 some Deployments failed, 9 timeout, 70 bug, 130 and 143 interrupted.";
