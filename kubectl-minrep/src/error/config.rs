//! Why there is no client → what a person reads.

use controller_core::client::ConfigError;

use super::{Exit, Report, did_you_mean};
use crate::out::escape_line;

/// How many names a hint lists.
const MOST_NAMES: usize = 10;

/// Explains `error`. `namespace_typed`: `-n` was given, so a bad namespace is a typo and
/// not a broken file.
pub fn explain_config(error: &ConfigError, namespace_typed: bool) -> Report {
    let report = |sentence: &dyn std::fmt::Display| Report::error(Exit::Config, sentence);
    match error {
        ConfigError::NothingConfigured { looked_at } => {
            let places: Vec<String> = looked_at.iter().map(ToString::to_string).collect();
            report(error)
                .hint(format_args!("looked at {}", places.join(", ")))
                .hint("pass `--kubeconfig FILE`, or set KUBECONFIG")
        }
        ConfigError::UnknownContext { context, known, .. } => {
            let hint = match did_you_mean(context, known.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean {meant:?}? {}", contexts(known)),
                None => contexts(known),
            };
            report(error).hint(hint)
        }
        ConfigError::NoCurrentContext { known, .. } => report(error)
            .hint("pass `--context NAME`, or choose one with `kubectl config use-context NAME`")
            .hint(contexts(known)),
        ConfigError::MissingFile {
            unexpanded_tilde, ..
        } => match unexpanded_tilde {
            true => report(error).hint("the shell did not expand `~`: write it as `$HOME`"),
            false => report(error).hint("`--kubeconfig` takes one file, KUBECONFIG a list"),
        },
        // The cause is what a person needs to know, so it is not left to `-v 2`.
        ConfigError::Unreadable { source, .. } => report(&format_args!("{error}: {source}")),
        ConfigError::Unparseable { source, .. } => report(&format_args!(
            "{error}: {}",
            escape_line(&source.to_string())
        ))
        .hint("`kubectl config view` reads the same file"),
        ConfigError::MissingCluster { .. } | ConfigError::MissingUser { .. } => {
            report(error).hint("`kubectl config view` shows what there is")
        }
        ConfigError::BadNamespace { .. } if namespace_typed => Report::error(Exit::Usage, error),
        ConfigError::CredentialHelperNotFound {
            user, install_hint, ..
        } => match install_hint {
            // The words of whoever wrote the kubeconfig, unchanged.
            Some(hint) => report(error).fact(hint.trim_end()),
            None => report(error).hint(format_args!(
                "user {user:?} needs it to log in: install it, or add its directory to PATH"
            )),
        },
        ConfigError::CredentialHelperFailed {
            command, stderr, ..
        } => helper_failed(report(error), command, stderr),
        ConfigError::Credentials { .. } => {
            report(error).hint("log in again with the tool that issues them")
        }
        _ => report(error),
    }
    .caused_by(error)
}

fn helper_failed(mut report: Report, command: &str, stderr: &str) -> Report {
    let tool = command.rsplit(['/', '\\']).next().unwrap_or(command);
    for line in stderr
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MOST_NAMES)
    {
        report = report.fact(format!("  {tool}: {}", escape_line(line)));
    }
    let login = match tool {
        "aws" => " (for aws: `aws sso login`)",
        "gke-gcloud-auth-plugin" => " (for gcloud: `gcloud auth login`)",
        _ => "",
    };
    report.hint(format_args!(
        "run the login command of that tool{login}, then try again"
    ))
}

fn contexts(known: &[String]) -> String {
    match known {
        [] => "there are no contexts".to_owned(),
        _ if known.len() > MOST_NAMES => format!(
            "known contexts: {} and {} more (`kubectl config get-contexts`)",
            known[..MOST_NAMES].join(", "),
            known.len() - MOST_NAMES
        ),
        _ => format!("known contexts: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests;
