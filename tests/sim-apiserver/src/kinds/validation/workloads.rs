//! What makes Pods.

use serde_json::Value;

use super::{PERCENT, not_negative, pods::containers, selectors};
use crate::{kinds::defaults, status::FieldError};

const STATEFUL_SET_IS_FIXED: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
    'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
    'minReadySeconds' are forbidden";

pub(in super::super) fn deployment(deployment: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = workload(deployment, old, "deployment");
    let spec = &deployment["spec"];
    strategy(&mut errors, &spec["strategy"]);
    not_negative(&mut errors, spec, "revisionHistoryLimit");
    not_negative(&mut errors, spec, "progressDeadlineSeconds");
    let seconds = |field: &str| spec[field].as_i64().unwrap_or(0);
    let deadline = seconds("progressDeadlineSeconds");
    if deadline <= seconds("minReadySeconds") {
        let why = "must be greater than minReadySeconds";
        errors.push(FieldError::invalid(
            "spec.progressDeadlineSeconds",
            deadline,
            why,
        ));
    }
    errors
}

fn strategy(errors: &mut Vec<FieldError>, strategy: &Value) {
    let rolling = &strategy["rollingUpdate"];
    let field = "spec.strategy.rollingUpdate";
    match strategy["type"].as_str().unwrap_or_default() {
        "Recreate" if !rolling.is_null() => {
            let why = "may not be specified when strategy `type` is 'Recreate'";
            errors.push(FieldError::forbidden(field, why));
        }
        "Recreate" => {}
        "RollingUpdate" => {
            for part in ["maxUnavailable", "maxSurge"] {
                amount(errors, &rolling[part], &format!("{field}.{part}"));
            }
            let none = |part: &str| rolling[part] == 0 || rolling[part] == "0%";
            if none("maxUnavailable") && none("maxSurge") {
                let why = "may not be 0 when `maxSurge` is 0";
                let at = format!("{field}.maxUnavailable");
                errors.push(FieldError::invalid(at, &rolling["maxUnavailable"], why));
            }
        }
        other => {
            let shown = format!(r#"{{"Type":{other:?},"RollingUpdate":{rolling}}}"#);
            let known = ["Recreate", "RollingUpdate"];
            errors.push(FieldError::not_supported("spec.strategy", shown, &known));
        }
    }
}

/// A number that is not negative, or a share.
fn amount(errors: &mut Vec<FieldError>, value: &Value, field: &str) {
    match value {
        Value::String(text) => {
            let digits = text.strip_suffix('%').unwrap_or_default();
            if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
                errors.push(FieldError::invalid(field, format!("{text:?}"), PERCENT));
            }
        }
        Value::Number(number) if number.as_i64().is_some_and(|number| number < 0) => {
            let why = "must be greater than or equal to 0";
            errors.push(FieldError::invalid(field, number, why));
        }
        _ => {}
    }
}

pub(in super::super) fn replica_set(replica_set: &Value, old: Option<&Value>) -> Vec<FieldError> {
    workload(replica_set, old, "replicaset")
}

pub(in super::super) fn stateful_set(set: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if old.is_some_and(|old| fixed_of_stateful_set(old) != fixed_of_stateful_set(set)) {
        errors.push(FieldError::forbidden("spec", STATEFUL_SET_IS_FIXED));
    }
    let policy = set["spec"]["podManagementPolicy"]
        .as_str()
        .unwrap_or_default();
    if !matches!(policy, "OrderedReady" | "Parallel") {
        errors.push(FieldError::invalid(
            "spec.podManagementPolicy",
            format!("{policy:?}"),
            "must be 'OrderedReady' or 'Parallel'",
        ));
    }
    errors.extend(workload(set, old, "statefulset"));
    errors
}

pub(in super::super) fn daemon_set(set: &Value, old: Option<&Value>) -> Vec<FieldError> {
    workload(set, old, "daemonset")
}

pub(in super::super) fn job(job: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    job_spec(&mut errors, &job["spec"], "spec");
    errors
}

pub(in super::super) fn cron_job(cron_job: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &cron_job["spec"];
    let schedule = spec["schedule"].as_str().unwrap_or_default();
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if schedule.is_empty() {
        errors.push(FieldError::required("spec.schedule", ""));
    } else if fields.len() != 5 && !schedule.starts_with('@') {
        let found = fields.len();
        let why = format!(
            "expected exactly 5 fields, found {found}: [{}]",
            fields.join(" ")
        );
        errors.push(FieldError::invalid(
            "spec.schedule",
            format!("{schedule:?}"),
            why,
        ));
    }
    job_spec(
        &mut errors,
        &spec["jobTemplate"]["spec"],
        "spec.jobTemplate.spec",
    );
    errors
}

/// What of a StatefulSet nobody may change.
fn fixed_of_stateful_set(set: &Value) -> Value {
    let mut set = set.clone();
    defaults::stateful_set(&mut set);
    let mut spec = set["spec"].take();
    for field in [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
        // It has a refusal of its own.
        "selector",
    ] {
        spec[field] = Value::Null;
    }
    spec
}

fn job_spec(errors: &mut Vec<FieldError>, spec: &Value, path: &str) {
    for field in ["parallelism", "completions", "backoffLimit"] {
        if let Some(number) = spec[field].as_i64().filter(|number| *number < 0) {
            let why = "must be greater than or equal to 0";
            errors.push(FieldError::invalid(format!("{path}.{field}"), number, why));
        }
    }
    let template = &spec["template"]["spec"];
    let path = format!("{path}.template.spec");
    containers(errors, template, &path);
    // The default is for Pods that never end, which a Job's must.
    let why = r#"valid values: "OnFailure", "Never""#;
    match template["restartPolicy"].as_str().unwrap_or_default() {
        "OnFailure" | "Never" => {}
        "" | "Always" => errors.push(FieldError::required(format!("{path}.restartPolicy"), why)),
        other => errors.push(FieldError::not_supported(
            format!("{path}.restartPolicy"),
            format!("{other:?}"),
            &["OnFailure", "Never"],
        )),
    }
}

fn workload(object: &Value, old: Option<&Value>, kind: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &object["spec"];
    not_negative(&mut errors, spec, "replicas");
    not_negative(&mut errors, spec, "minReadySeconds");
    let selector = &spec["selector"];
    let terms = |field: &str, size: fn(&Value) -> usize| size(&selector[field]);
    let length = |value: &Value| {
        value.as_object().map_or_else(
            || value.as_array().map_or(0, Vec::len),
            serde_json::Map::len,
        )
    };
    if selector.is_null() {
        errors.push(FieldError::required("spec.selector", ""));
    } else if terms("matchLabels", length) + terms("matchExpressions", length) == 0 {
        let why = format!("empty selector is invalid for {kind}");
        errors.push(FieldError::invalid("spec.selector", selector, why));
    }
    let malformed = selectors::problems(selector);
    let well_formed = malformed.is_empty();
    errors.extend(malformed);
    let labels = &spec["template"]["metadata"]["labels"];
    if well_formed && !selectors::selects(selector, labels) {
        let shown = if labels.is_null() {
            "null".to_owned()
        } else {
            labels.to_string()
        };
        let why = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(
            "spec.template.metadata.labels",
            shown,
            why,
        ));
    }
    let template = &spec["template"]["spec"];
    containers(&mut errors, template, "spec.template.spec");
    let policy = template["restartPolicy"].as_str().unwrap_or("Always");
    if policy != "Always" {
        let path = "spec.template.spec.restartPolicy";
        errors.push(FieldError::not_supported(
            path,
            format!("{policy:?}"),
            &["Always"],
        ));
    }
    if let Some(old) = old.filter(|old| old["spec"]["selector"] != *selector)
        && !old["spec"]["selector"].is_null()
    {
        errors.push(FieldError::invalid(
            "spec.selector",
            selector,
            "field is immutable",
        ));
    }
    errors
}
