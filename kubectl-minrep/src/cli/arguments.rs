use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::{Command, GlobalArgs, OnceArgs, RunArgs, UsageError, VersionArgs};

/// A command line, as typed.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-minrep",
    about = ABOUT,
    long_about = None,
    version,
    arg_required_else_help = true,
    // As kubectl's flag library does: of a flag that is repeated the last one counts.
    args_override_self = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES,
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// The flags that every command takes.
    #[command(flatten)]
    pub global: GlobalArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Watch Deployments and raise them until stopped
    Run(RunArgs),
    /// Compare Deployments with the minimum and act on the difference
    #[command(arg_required_else_help = true, disable_help_subcommand = true)]
    Reconcile {
        /// How often.
        #[command(subcommand)]
        verb: ReconcileVerb,
    },
    /// Print the version of this program and the Kubernetes versions it supports
    Version(VersionArgs),
}

/// The commands below `reconcile`.
#[derive(Debug, Subcommand)]
pub enum ReconcileVerb {
    /// Look at every opted-in Deployment once, raise what is below the minimum, and exit
    Once(OnceArgs),
}

const ABOUT: &str = "\
Keep opted-in Deployments at a minimum number of replicas.

A Deployment labelled demo/min-replicas=true with fewer replicas than the minimum is
scaled up to it. Nothing is ever scaled down.";

const EXAMPLES: &str = "\
Examples:
  # What would be changed in every namespace?
  kubectl minrep reconcile once -A --dry-run=server

  # Raise what is below 3 replicas in one namespace, and print what was done as JSON
  kubectl minrep reconcile once -n shop --min 3 -o json

  # Keep watching until Ctrl-C
  kubectl minrep run -n shop

Flags can also be set by environment: --min is MINREP_MIN, and so on.";

/// Reads a command line, `argv[0]` included.
///
/// # Errors
///
/// [`UsageError`] also carries `--help` and `--version`, which are no mistakes: its exit
/// code tells them apart.
pub fn parse(argv: &[OsString]) -> Result<(GlobalArgs, Command), UsageError> {
    let shown = argv
        .first()
        .map_or_else(String::new, |name| shown_name(name));
    let mut command = Arguments::command().bin_name(&shown);
    let matches = command
        .try_get_matches_from_mut(argv)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments =
        matches.map_err(|error| UsageError::clap(error, &verb_path(&command, shown, argv)))?;
    let meaning = Command::from_verb(arguments.verb, &arguments.global)?;
    Ok((arguments.global, meaning))
}

/// What usage lines call the program: kubectl starts a plugin by its file name, and a
/// person typed `kubectl minrep`.
fn shown_name(argv0: &OsStr) -> String {
    let base = Path::new(argv0)
        .file_stem()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    match base.strip_prefix("kubectl-") {
        Some(plugin) => format!("kubectl {plugin}"),
        None => base,
    }
}

/// `kubectl minrep reconcile once`: whose help a mistake in `argv` should point at.
fn verb_path(root: &clap::Command, shown: String, argv: &[OsString]) -> String {
    let mut path = shown;
    let mut command = root;
    for word in argv.iter().skip(1) {
        if let Some(verb) = command.find_subcommand(word) {
            path.push(' ');
            path.push_str(verb.get_name());
            command = verb;
        }
    }
    path
}

#[cfg(test)]
mod tests;
