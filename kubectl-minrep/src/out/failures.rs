//! What failed, grouped: when a server refuses everything for one reason, the reason is
//! told once with a count, and not once for each object.

use controller_core::client::{ApiError, ObjectKey};
use controller_core::controllers::min_replicas::{DryRun, Failure, Verdict};

use super::counted::counted;
use super::pass::Pass;
use crate::error::{Place, from_server, grant, missing_rule};

/// How many different causes are told. Who has more reads the JSON.
const MOST_GROUPS: usize = 5;

struct Group<'a> {
    first: &'a Verdict,
    failure: &'a Failure,
    count: usize,
}

/// The lines for stderr: each cause, then what can be done about it.
pub(crate) fn failures(pass: &Pass, place: &Place) -> Vec<String> {
    let groups = grouped(&pass.verdicts);
    let mut lines: Vec<String> = groups.iter().take(MOST_GROUPS).map(Group::line).collect();
    if groups.len() > MOST_GROUPS {
        let rest = groups.len() - MOST_GROUPS;
        let causes = counted(rest, "more cause");
        lines.push(format!("and {causes}: `-o json` has them all"));
    }
    let mut hints: Vec<String> = Vec::new();
    for group in &groups {
        for hint in hints_for(group.failure, pass.dry_run, place) {
            if !hints.contains(&hint) && hints.len() < MOST_GROUPS {
                hints.push(hint);
            }
        }
    }
    lines.extend(hints);
    lines
}

/// `deployments.apps "web" not found`.
pub(super) fn not_found(key: &ObjectKey) -> String {
    format!("deployments.apps {:?} not found", key.name())
}

/// The stable token of a failure, in the manner of a Status's reason.
pub(super) fn reason_of(failure: &Failure) -> String {
    match failure.api_error().and_then(ApiError::answer) {
        Some(answer) if !answer.reason.is_empty() => answer.reason.clone(),
        Some(answer) => format!("Http{}", answer.code),
        None => failure.token().to_owned(),
    }
}

/// `500 InternalError`, `Timeout`: a failure in the cell of a table.
pub(super) fn short(failure: &Failure) -> String {
    match failure.code() {
        Some(code) if failure.api_error().is_some() => {
            let reason = reason_of(failure);
            if reason.starts_with("Http") {
                code.to_string()
            } else {
                format!("{code} {reason}")
            }
        }
        _ => reason_of(failure),
    }
}

fn grouped(verdicts: &[Verdict]) -> Vec<Group<'_>> {
    let mut groups: indexmap::IndexMap<String, Group<'_>> = indexmap::IndexMap::new();
    for verdict in verdicts {
        let Some(failure) = verdict.failure() else {
            continue;
        };
        // What differs between two objects with one cause is their name, in a sentence
        // or in a path.
        let name = verdict.key.name();
        let cause = failure
            .message()
            .replace(&format!("{name:?}"), "\"…\"")
            .replace(&format!("/{name}/"), "/…/");
        groups
            .entry(cause)
            .and_modify(|group| group.count += 1)
            .or_insert(Group {
                first: verdict,
                failure,
                count: 1,
            });
    }
    groups.into_values().collect()
}

fn hints_for(failure: &Failure, dry_run: DryRun, place: &Place) -> Vec<String> {
    let Some(error) = failure.api_error() else {
        return match failure {
            Failure::Kept { .. } => vec![
                "hint: a mutating webhook may set the number: \
                 `kubectl get mutatingwebhookconfigurations`"
                    .into(),
            ],
            Failure::MinAboveMax { .. } => vec![
                "hint: raise `spec.maxReplicas` of the HorizontalPodAutoscaler, or lower the \
                 minimum by the annotation minrep.dev/min"
                    .into(),
            ],
            _ => vec!["hint: something else changes them all the time: try again".into()],
        };
    };
    match error {
        ApiError::Forbidden(answer) if answer.message.contains("cannot ") => vec![
            missing_rule(answer, place),
            format!("hint: {}", grant(answer, place)),
        ],
        ApiError::Timeout { .. } => vec!["hint: raise `--request-timeout`".into()],
        _ if dry_run == DryRun::Server && refuses_dry_run(error) => vec![
            "hint: `--dry-run=client` asks no webhook, and does not know what one would say".into(),
        ],
        _ => Vec::new(),
    }
}

/// Whether an admission webhook cannot take part in a dry run.
fn refuses_dry_run(error: &ApiError) -> bool {
    error
        .status_message()
        .is_some_and(|message| message.contains("does not support dry run"))
}

// === impl Group ===

impl Group<'_> {
    fn line(&self) -> String {
        let cause = match self.failure.api_error().and_then(ApiError::answer) {
            Some(answer) => from_server(&answer.reason, &answer.message),
            None => format!("error: {}", super::escape_line(&self.failure.message())),
        };
        let key = &self.first.key;
        match self.count {
            1 => format!("{cause} ({key})"),
            count => format!("{cause} ({key} and {} more)", count - 1),
        }
    }
}

#[cfg(test)]
mod tests;
