use clap::{Args, ValueEnum};

use super::RuleArgs;
use super::count::count;

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

    /// The form of the report on stdout
    #[arg(
        short,
        long,
        value_name = "table|json",
        default_value = "table",
        value_parser = parse_output,
        env = "MINREP_OUTPUT",
        hide_env = true
    )]
    pub output: OutputArg,
}

/// `-o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputArg {
    /// For people.
    Table,
    /// For programs: `docs/output.md` describes it.
    Json,
}

const EXAMPLES: &str = "\
Examples:
  # Raise what is below the minimum in the current namespace
  kubectl minrep reconcile once

  # Look at two Deployments only
  kubectl minrep reconcile once deployment/web deployment/api -n shop

  # Have the server check every change, and make none
  kubectl minrep reconcile once -A --dry-run=server

Exit codes: 0 done, 1 more than --max-changes, 2 usage, 3 configuration, 4 server not reached, 5 denied,
6 not found, 7 some Deployments failed, 9 timeout, 70 bug, 130 and 143 interrupted.";

/// kubectl's words for a format it does not know.
pub(super) fn parse_output(text: &str) -> Result<OutputArg, String> {
    OutputArg::from_str(text, true).map_err(|_| {
        format!(
            "unable to match a printer suitable for the output format {text:?}, \
             allowed formats are: json,table"
        )
    })
}
