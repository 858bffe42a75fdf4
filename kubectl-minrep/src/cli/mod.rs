//! argv → [`Command`]: what was typed, then what it means.
//!
//! Two steps, so that every rule stands in one place: clap knows the words and the
//! form of each value, `validate` knows which of them go together. Nothing here reads
//! a kubeconfig or talks to a server.
mod arguments;
mod bool_flag;
mod count;
mod duration;
mod global;
mod once;
mod output;
mod rule;
mod run;
mod target;
mod validate;
mod version;

pub use arguments::{Arguments, ReconcileVerb, Verb, parse};
pub use global::{GlobalArgs, LogFormat};
pub use once::OnceArgs;
pub use output::OutputArg;
pub use rule::{DryRunArg, HpaArg, RuleArgs, ZeroArg};
pub use run::RunArgs;
pub use target::{TargetError, parse_targets};
pub use validate::{Command, Once, Rule, Run, UsageError};
pub use version::VersionArgs;
