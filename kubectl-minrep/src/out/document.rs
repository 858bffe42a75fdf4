//! The report as a document for programs. `docs/output.md` describes it; its fields are
//! never renamed or removed within one `apiVersion`, only added to.

use std::io;

use controller_core::client::ObjectKey;
use controller_core::controllers::min_replicas::{Class, DryRun, Effect, Failure, Reason, Verdict};
use serde::Serialize;

use super::failures::reason_of;
use super::pass::Pass;

const API_VERSION: &str = "minrep.dev/v1alpha1";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    api_version: &'static str,
    kind: &'static str,
    items: Vec<Item<'a>>,
    summary: Summary<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    api_version: &'static str,
    kind: &'static str,
    namespace: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    result: &'static str,
    reason: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<Change>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_replicas: Option<Change>,
    #[serde(skip_serializing_if = "Option::is_none")]
    autoscaler: Option<Autoscaler<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failed>,
}

#[derive(Clone, Copy, Serialize)]
struct Change {
    from: i32,
    to: i32,
}

#[derive(Serialize)]
struct Autoscaler<'a> {
    kind: &'static str,
    name: &'a str,
}

#[derive(Serialize)]
struct Failed {
    /// The HTTP status, where a server answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    reason: String,
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    dry_run: &'static str,
    interrupted: bool,
    timed_out: bool,
    duration_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_changes: Option<usize>,
    planned: usize,
    considered: usize,
    raised: usize,
    would_raise: usize,
    failed: usize,
    skipped: usize,
    satisfied: usize,
    not_found: usize,
    not_sent: usize,
    withheld: usize,
    not_looked_at: usize,
    unanswered: usize,
    warnings: &'a [String],
}

/// The document as JSON, with a final line end.
///
/// # Errors
///
/// None that these types can cause; the signature is serde's.
pub(crate) fn json_document(pass: &Pass) -> io::Result<String> {
    let text = serde_json::to_string_pretty(&document(pass)).map_err(io::Error::other)?;
    Ok(text + "\n")
}

/// The same document as YAML.
///
/// # Errors
///
/// As for JSON.
pub(crate) fn yaml_document(pass: &Pass) -> io::Result<String> {
    serde_saphyr::to_string(&document(pass)).map_err(io::Error::other)
}

fn document(pass: &Pass) -> Document<'_> {
    let counts = pass.counts();
    let mut items: Vec<Item<'_>> = pass.verdicts.iter().map(Item::seen).collect();
    items.extend(pass.missing.iter().map(Item::missing));
    items.sort_by_key(|item| (item.namespace, item.name));
    Document {
        api_version: API_VERSION,
        kind: "ReconcileReport",
        items,
        summary: Summary {
            dry_run: match pass.dry_run {
                DryRun::None => "none",
                DryRun::Client => "client",
                DryRun::Server => "server",
            },
            interrupted: pass.interrupted,
            timed_out: pass.timed_out.is_some(),
            duration_seconds: (pass.elapsed.as_secs_f64() * 1000.0).round() / 1000.0,
            max_changes: pass.max_changes,
            planned: pass.planned,
            considered: counts.considered,
            raised: counts.raised,
            would_raise: counts.would_raise,
            failed: counts.failed,
            skipped: counts.skipped,
            satisfied: counts.satisfied,
            not_found: counts.not_found,
            not_sent: counts.not_sent,
            withheld: counts.withheld,
            not_looked_at: pass.not_looked_at,
            unanswered: pass.unanswered,
            warnings: &pass.warnings,
        },
    }
}

// === impl Item ===

impl<'a> Item<'a> {
    fn seen(verdict: &'a Verdict) -> Self {
        let change = verdict.change().map(|(from, to)| Change { from, to });
        let of_autoscaler = verdict.reason.autoscaler().is_some();
        Self {
            api_version: "apps/v1",
            kind: "Deployment",
            namespace: verdict.key.namespace().unwrap_or_default(),
            name: verdict.key.name(),
            uid: verdict.uid.as_deref(),
            result: result(verdict),
            reason: verdict.reason.name(),
            message: verdict.to_string(),
            replicas: change.filter(|_| !of_autoscaler),
            min_replicas: change.filter(|_| of_autoscaler),
            autoscaler: Autoscaler::of(&verdict.reason),
            warning: verdict.rejected_min.as_ref().map(ToString::to_string),
            error: verdict.failure().map(Failed::from),
        }
    }

    fn missing(key: &'a ObjectKey) -> Self {
        Self {
            api_version: "apps/v1",
            kind: "Deployment",
            namespace: key.namespace().unwrap_or_default(),
            name: key.name(),
            uid: None,
            result: "NotFound",
            reason: "NotFound",
            message: super::failures::not_found(key),
            replicas: None,
            min_replicas: None,
            autoscaler: None,
            warning: None,
            error: None,
        }
    }
}

fn result(verdict: &Verdict) -> &'static str {
    match (&verdict.effect, verdict.reason.class()) {
        (Effect::Raised { .. }, _) => "Raised",
        (Effect::WouldRaise { .. }, _) => "WouldRaise",
        (Effect::Failed(_), _) => "Failed",
        (Effect::NotSent, _) => "NotSent",
        (Effect::Withheld, _) => "Withheld",
        (Effect::None, Class::Satisfied) => "Satisfied",
        (Effect::None, Class::Gone) => "NotFound",
        (Effect::None, _) => "Skipped",
    }
}

// === impl Autoscaler ===

impl<'a> Autoscaler<'a> {
    fn of(reason: &'a Reason) -> Option<Self> {
        if let Reason::Autoscaled { by, .. } = reason {
            return Some(Self {
                kind: by.kind(),
                name: by.name(),
            });
        }
        reason.autoscaler().map(|name| Self {
            kind: "HorizontalPodAutoscaler",
            name,
        })
    }
}

// === impl Failed ===

impl From<&Failure> for Failed {
    fn from(failure: &Failure) -> Self {
        Self {
            code: failure.code(),
            reason: reason_of(failure),
            message: failure.message(),
        }
    }
}

#[cfg(test)]
mod tests;
