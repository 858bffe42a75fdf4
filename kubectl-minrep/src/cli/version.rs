use clap::Args;

use super::OutputArg;
use super::output::parse_output;

/// `kubectl minrep version`.
#[derive(Args, Clone, Debug)]
pub struct VersionArgs {
    /// The form of the answer on stdout
    #[arg(
        short,
        long,
        value_name = "table|json|yaml",
        default_value = "table",
        hide_default_value = true,
        value_parser = parse_output(&[OutputArg::Json, OutputArg::Table, OutputArg::Yaml])
    )]
    pub output: OutputArg,
}
