//! What was typed → what it means: every rule about flags that go together, in one place.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::error::ErrorKind;

use super::once::OutputArg;
use super::rule::parse_dry_run;
use super::target::is_dns_label;
use super::{
    DryRunArg, GlobalArgs, HpaArg, OnceArgs, ReconcileVerb, RuleArgs, RunArgs, Verb, ZeroArg,
    parse_targets,
};
use crate::error::Exit;
use crate::out::Io;

/// A command line that makes sense.
#[derive(Debug)]
pub enum Command {
    /// `run`.
    Run(Run),
    /// `reconcile once`.
    Once(Once),
    /// `version`.
    Version(OutputArg),
}

/// `kubectl minrep run`.
#[derive(Debug)]
pub struct Run {
    /// What to look at, and what to do about it.
    pub rule: Rule,
    /// `None`: no resync.
    pub resync: Option<Duration>,
    /// How long to work on after the first signal.
    pub shutdown_grace_period: Duration,
}

/// `kubectl minrep reconcile once`.
#[derive(Debug)]
pub struct Once {
    /// What to look at, and what to do about it.
    pub rule: Rule,
    /// The Deployments that were named; empty for all.
    pub names: Vec<String>,
    /// The form of the report.
    pub output: OutputArg,
}

/// A command line that was not understood, or asks for nothing: `--help`, `--version`.
#[derive(Debug)]
pub struct UsageError {
    /// What to print, without a final line end.
    pub text: String,
    /// [`Exit::Usage`], or [`Exit::Ok`] for what is no mistake and belongs on stdout.
    pub exit: Exit,
}

/// What `run` and `reconcile once` share.
#[derive(Clone, Debug)]
pub struct Rule {
    /// `-A`. Like kubectl's it wins over `-n`.
    pub all_namespaces: bool,
    /// `-l`.
    pub selector: Option<String>,
    /// `--min`.
    pub min: i32,
    /// `--opt-in-label`.
    pub opt_in: (String, String),
    /// `--zero`.
    pub zero: ZeroArg,
    /// `--hpa`.
    pub hpa: HpaArg,
    /// The namespaces that are left out.
    pub excluded: BTreeSet<String>,
    /// `--workers`.
    pub workers: usize,
    /// `--dry-run`, never [`DryRunArg::Bare`].
    pub dry_run: DryRunArg,
    /// Said on stderr before anything else.
    pub notes: Vec<String>,
}

/// Left out unless asked for: what runs there runs the cluster itself.
const SYSTEM_NAMESPACES: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];

const SEE_RUN: &str = "See 'kubectl minrep run -h' for help and examples.";
const SEE_ONCE: &str = "See 'kubectl minrep reconcile once -h' for help and examples.";

// === impl Command ===

impl Command {
    /// Checks what was typed as a whole. Every mistake is reported at once.
    pub(super) fn from_verb(verb: Verb, global: &GlobalArgs) -> Result<Self, UsageError> {
        match verb {
            Verb::Run(arguments) => run(arguments, global).map(Self::Run),
            Verb::Reconcile {
                verb: ReconcileVerb::Once(arguments),
            } => once(&arguments, global).map(Self::Once),
            Verb::Version(arguments) => Ok(Self::Version(arguments.output)),
        }
    }
}

fn run(arguments: RunArgs, global: &GlobalArgs) -> Result<Run, UsageError> {
    let mut mistakes = Vec::new();
    let rule = rule(&arguments.rule, global, &mut mistakes);
    refuse(mistakes, SEE_RUN)?;
    Ok(Run {
        rule,
        resync: Some(arguments.resync).filter(|resync| !resync.is_zero()),
        shutdown_grace_period: arguments.shutdown_grace_period,
    })
}

fn once(arguments: &OnceArgs, global: &GlobalArgs) -> Result<Once, UsageError> {
    let mut mistakes = Vec::new();
    let rule = rule(&arguments.rule, global, &mut mistakes);
    let names = parse_targets(&arguments.targets).unwrap_or_else(|error| {
        mistakes.push(match arguments.targets.first() {
            Some(word)
                if arguments.rule.dry_run == DryRunArg::Bare && parse_dry_run(word).is_ok() =>
            {
                format!("the value of --dry-run stands after an equals sign: --dry-run={word}")
            }
            _ => error.to_string(),
        });
        Vec::new()
    });
    if let Some(named) = arguments.targets.first() {
        for (given, flag) in [
            (rule.all_namespaces, "--all-namespaces (-A)"),
            (rule.selector.is_some(), "--selector (-l)"),
        ] {
            if given {
                mistakes.push(format!(
                    "{flag} cannot be combined with the argument {named}"
                ));
            }
        }
    }
    refuse(mistakes, SEE_ONCE)?;
    Ok(Once {
        rule,
        names,
        output: arguments.output,
    })
}

fn rule(arguments: &RuleArgs, global: &GlobalArgs, mistakes: &mut Vec<String>) -> Rule {
    let mut notes = Vec::new();
    if let Some(namespace) = global.explicit_namespace()
        && !is_dns_label(namespace)
    {
        mistakes.push(format!(
            "invalid namespace {namespace:?}: lower case letters, digits and '-' only"
        ));
    }
    let dry_run = match arguments.dry_run {
        DryRunArg::Bare => {
            notes.push("Warning: --dry-run without a value means --dry-run=client".to_owned());
            DryRunArg::Client
        }
        given => given,
    };
    let opt_in = match arguments.opt_in_label.split_once('=') {
        Some((key, value)) if !key.is_empty() => (key.to_owned(), value.to_owned()),
        _ => {
            mistakes.push(format!(
                "invalid --opt-in-label {:?}: must be KEY=VALUE",
                arguments.opt_in_label
            ));
            (String::new(), String::new())
        }
    };
    Rule {
        all_namespaces: arguments.all_namespaces,
        selector: arguments
            .selector
            .clone()
            .filter(|text| !text.trim().is_empty()),
        min: arguments.min,
        opt_in,
        zero: arguments.zero,
        hpa: arguments.hpa,
        excluded: excluded_namespaces(arguments, global),
        workers: usize::from(arguments.workers),
        dry_run,
        notes,
    }
}

/// `-n kube-system` names its namespace on purpose, so nothing is left out then; with
/// `-A` beside it, `-A` is what counts.
fn excluded_namespaces(arguments: &RuleArgs, global: &GlobalArgs) -> BTreeSet<String> {
    if global.explicit_namespace().is_some() && !arguments.all_namespaces {
        return BTreeSet::new();
    }
    let mut excluded: BTreeSet<String> = SYSTEM_NAMESPACES.map(str::to_owned).into();
    for value in &arguments.exclude_namespace {
        if value.is_empty() {
            excluded.clear();
        }
        let names = value
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        excluded.extend(names.map(str::to_owned));
    }
    excluded
}

fn refuse(mistakes: Vec<String>, see: &str) -> Result<(), UsageError> {
    if mistakes.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = mistakes
        .iter()
        .map(|mistake| format!("error: {mistake}"))
        .collect();
    Err(UsageError {
        text: format!("{}\n\n{see}", lines.join("\n")),
        exit: Exit::Usage,
    })
}

// === impl UsageError ===

impl UsageError {
    /// Says it where it belongs: help is data, a mistake is talk.
    pub fn print(&self, io: &Io) -> Exit {
        if self.exit == Exit::Ok {
            // A reader that closed the pipe has read enough of the help.
            drop(io.data(format_args!("{}\n", self.text)));
        } else {
            io.talk(&self.text);
        }
        self.exit
    }

    pub(super) fn clap(error: &clap::Error, bin_name: &str) -> Self {
        let text = error.render().ansi().to_string();
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Self {
                text: text.trim_end().to_owned(),
                exit: Exit::Ok,
            },
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Self {
                text: text.trim_end().to_owned(),
                exit: Exit::Usage,
            },
            _ => {
                // clap's last line names a flag; the one that follows names a command.
                let message = text
                    .split("\nFor more information")
                    .next()
                    .unwrap_or_default();
                Self {
                    text: format!(
                        "{}\n\nSee '{bin_name} -h' for help and examples.",
                        message.trim_end()
                    ),
                    exit: Exit::Usage,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
