use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::count::count;
use super::duration::parse_timeout;

/// kube-apiserver gives up on a request after one minute itself.
const LONGEST_WRITE: Duration = Duration::from_mins(1);

/// The flags that every command takes, named as kubectl names them.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Kubernetes options")]
pub struct GlobalArgs {
    /// Path to the kubeconfig file
    // No env twin: KUBECONFIG is one already, with a list of files.
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig to use
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "MINREP_CONTEXT",
        hide_env = true
    )]
    pub context: Option<String>,

    /// The namespace to act in; the context's, unless given
    #[arg(
        short,
        long,
        global = true,
        value_name = "NAME",
        env = "MINREP_NAMESPACE",
        hide_env = true
    )]
    pub namespace: Option<String>,

    /// How long to wait for one answer of the server, such as 5s or 1m; 0 waits for ever
    #[arg(
        long,
        global = true,
        value_name = "DURATION",
        default_value = "30s",
        // `-1s` is a value that is refused, and no flag.
        allow_hyphen_values = true,
        value_parser = parse_timeout,
        env = "MINREP_REQUEST_TIMEOUT",
        hide_env = true
    )]
    pub request_timeout: Duration,

    /// How much to log, 0 to 9: 2 adds progress, 4 decisions, 6 requests
    #[arg(
        short = 'v',
        long = "v",
        global = true,
        value_name = "LEVEL",
        default_value_t = 0,
        allow_negative_numbers = true,
        value_parser = count(0..=10_u8),
        env = "MINREP_V",
        hide_env = true,
        hide_default_value = true
    )]
    pub verbosity: u8,

    /// The form of what is said on stderr; json is one object a line
    #[arg(
        long,
        global = true,
        value_name = "text|json",
        default_value = "text",
        hide_possible_values = true,
        env = "MINREP_LOG_FORMAT",
        hide_env = true
    )]
    pub log_format: LogFormat,
}

/// `--log-format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Sentences and short lines, for people.
    #[default]
    Text,
    /// One object a line, for what collects logs.
    Json,
}

// === impl GlobalArgs ===

impl GlobalArgs {
    /// The deadline of one request; `None` without one.
    pub fn deadline(&self) -> Option<Duration> {
        Some(self.request_timeout).filter(|timeout| !timeout.is_zero())
    }

    /// How long writes under way are awaited when the command ends: a little longer than
    /// the deadline that ends them, and not for ever where there is none.
    pub fn write_deadline(&self) -> Duration {
        self.deadline().unwrap_or(LONGEST_WRITE) + Duration::from_secs(1)
    }

    /// The namespace that was asked for. As with kubectl, `-n ""` asks for none.
    pub fn explicit_namespace(&self) -> Option<&str> {
        self.namespace.as_deref().filter(|name| !name.is_empty())
    }
}
