use clap::{Args, ValueEnum};

use super::RuleArgs;

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

Exit codes: 0 done, 2 usage, 3 configuration, 4 server not reached, 5 denied,
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
