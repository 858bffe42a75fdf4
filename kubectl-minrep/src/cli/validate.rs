//! What was typed → what it means: every rule about flags that go together, in one place.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use controller_core::controllers::min_replicas::{
    DryRun, HpaPolicy, OptIn, SYSTEM_NAMESPACES, Settings, ZeroPolicy,
};
use controller_core::queue::LimiterError;
use controller_core::runtime::RetryDelays;
use controller_core::watch::{LabelSelector, SelectorError};

use super::rule::parse_dry_run;
use super::target::is_dns_label;
use super::{
    DryRunArg, GlobalArgs, HpaArg, OnceArgs, OutputArg, ReconcileVerb, RuleArgs, RunArgs, Verb,
    ZeroArg, parse_targets,
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
    /// `None`: no limit.
    pub max_raises_per_minute: Option<NonZeroU32>,
    /// How long what failed waits for its next try.
    pub retry: RetryDelays,
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
    /// `None`: no limit.
    pub max_changes: Option<usize>,
    /// `None`: no limit.
    pub timeout: Option<Duration>,
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
    /// What the controller is told.
    pub settings: Settings,
    /// `-A`. Like kubectl's it wins over `-n`.
    pub all_namespaces: bool,
    /// `--workers`.
    pub workers: usize,
    /// Said on stderr before anything else.
    pub notes: Vec<String>,
}

const SEE_RUN: &str = "See 'kubectl minrep run -h' for help and examples.";
const SEE_ONCE: &str = "See 'kubectl minrep reconcile once -h' for help and examples.";

// === impl Command ===

impl Command {
    /// Checks what was typed as a whole. Every mistake is reported at once.
    pub(super) fn from_verb(verb: Verb, global: &GlobalArgs) -> Result<Self, UsageError> {
        match verb {
            Verb::Run(arguments) => run(&arguments, global).map(Self::Run),
            Verb::Reconcile {
                verb: ReconcileVerb::Once(arguments),
            } => once(&arguments, global).map(Self::Once),
            Verb::Version(arguments) => Ok(Self::Version(arguments.output)),
        }
    }
}

fn run(arguments: &RunArgs, global: &GlobalArgs) -> Result<Run, UsageError> {
    let mut mistakes = Vec::new();
    let rule = rule(&arguments.rule, global, &mut mistakes);
    let retry = retry(arguments, &mut mistakes);
    refuse(&mistakes, SEE_RUN)?;
    Ok(Run {
        rule,
        max_raises_per_minute: NonZeroU32::new(arguments.max_raises_per_minute),
        retry,
        resync: Some(arguments.resync).filter(|resync| !resync.is_zero()),
        shutdown_grace_period: arguments.shutdown_grace_period,
    })
}

/// Which of the two flags is wrong nobody knows, so both are named.
fn retry(arguments: &RunArgs, mistakes: &mut Vec<String>) -> RetryDelays {
    let (base, max) = (arguments.retry_base, arguments.retry_max);
    RetryDelays::new(base, max).unwrap_or_else(|error| {
        mistakes.push(match error {
            LimiterError::MaxBelowBase { .. } => format!(
                "--retry-max ({max:?}) cannot be below --retry-base ({base:?}): the waits between \
                 two tries grow from the one to the other"
            ),
            LimiterError::BaseTooShort(_) => format!(
                "--retry-base ({base:?}) is no pause: what fails would be tried again and again \
                 at once; give 1ms or more"
            ),
            other => format!("--retry-base and --retry-max: {other}"),
        });
        RetryDelays::default()
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
            (rule.settings.selector.is_some(), "--selector (-l)"),
        ] {
            if given {
                mistakes.push(format!(
                    "{flag} cannot be combined with the argument {named}"
                ));
            }
        }
    }
    refuse(&mistakes, SEE_ONCE)?;
    Ok(Once {
        rule,
        names,
        max_changes: arguments.max_changes.map(|changes| changes as usize),
        timeout: Some(arguments.timeout).filter(|timeout| !timeout.is_zero()),
        output: arguments.output,
    })
}

fn rule(arguments: &RuleArgs, global: &GlobalArgs, mistakes: &mut Vec<String>) -> Rule {
    let mut notes = Vec::new();
    let opt_in = arguments.opt_in_label.parse().unwrap_or_else(|error| {
        mistakes.push(format!("invalid --opt-in-label: {error}"));
        OptIn::default()
    });
    let settings = Settings {
        min: arguments.min,
        max_min: arguments.max_min,
        opt_in,
        selector: selector(arguments, mistakes),
        zero: match arguments.zero {
            ZeroArg::Raise => ZeroPolicy::Raise,
            ZeroArg::Keep => ZeroPolicy::Keep,
        },
        hpa: match arguments.hpa {
            HpaArg::Skip => HpaPolicy::Skip,
            HpaArg::RaiseMin => HpaPolicy::RaiseMin,
            HpaArg::Ignore => HpaPolicy::Ignore,
        },
        excluded_namespaces: excluded_namespaces(arguments, global, mistakes),
        dry_run: match arguments.dry_run {
            DryRunArg::None => DryRun::None,
            DryRunArg::Client => DryRun::Client,
            DryRunArg::Server => DryRun::Server,
            DryRunArg::Bare => {
                notes.push("Warning: --dry-run without a value means --dry-run=client".to_owned());
                DryRun::Client
            }
        },
    };
    Rule {
        settings,
        all_namespaces: arguments.all_namespaces,
        workers: usize::from(arguments.workers),
        notes,
    }
}

/// A mistake in the selector is shown where it stands.
fn selector(arguments: &RuleArgs, mistakes: &mut Vec<String>) -> Option<LabelSelector> {
    let text = arguments.selector.as_deref()?;
    match LabelSelector::parse(text) {
        Ok(selector) => Some(selector).filter(|selector| !selector.is_everything()),
        Err(error) => {
            let SelectorError { message, column } = error;
            let caret = " ".repeat(column.saturating_sub(1));
            mistakes.push(format!(
                "invalid label selector {text:?}: {message} at column {column}\n         \
                 {text}\n         {caret}^"
            ));
            None
        }
    }
}

/// `-n kube-system` names its namespace on purpose, so nothing is left out then; with
/// `-A` beside it, `-A` is what counts.
fn excluded_namespaces(
    arguments: &RuleArgs,
    global: &GlobalArgs,
    mistakes: &mut Vec<String>,
) -> BTreeSet<String> {
    let mut excluded: BTreeSet<String> = SYSTEM_NAMESPACES.map(str::to_owned).into();
    for value in &arguments.exclude_namespace {
        if value.is_empty() {
            excluded.clear();
        }
        let names = value
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        for name in names {
            // A guard with a slip in it guards nothing, and nobody would be told.
            if name.len() > 63 || !is_dns_label(name) {
                mistakes.push(format!(
                    "invalid --exclude-namespace: {name:?} is no namespace: must be at most 63 \
                     lower-case letters, digits or '-', and begin and end with a letter or digit"
                ));
            }
            excluded.insert(name.to_owned());
        }
    }
    if global.explicit_namespace().is_some() && !arguments.all_namespaces {
        return BTreeSet::new();
    }
    excluded
}

fn refuse(mistakes: &[String], see: &str) -> Result<(), UsageError> {
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

    pub(super) fn clap(mut error: clap::Error, bin_name: &str) -> Self {
        forget_trailing_tip(&mut error);
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

/// Without "to pass '-x' as a value, use '-- -x'": no object has a name that begins like
/// a flag, so whoever follows this tip makes the next mistake.
fn forget_trailing_tip(error: &mut clap::Error) {
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value, use"));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
}

#[cfg(test)]
mod tests;
