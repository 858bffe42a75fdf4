//! Pods, and what makes them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{LABEL, is_label, not_negative};
use crate::{
    selector::{key_problems, value_problem},
    status::FieldError,
};

pub(in super::super) fn deployment(deployment: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = workload(deployment, old, "deployment");
    let spec = &deployment["spec"];
    not_negative(&mut errors, spec, "revisionHistoryLimit");
    not_negative(&mut errors, spec, "progressDeadlineSeconds");
    errors
}

pub(in super::super) fn replica_set(replica_set: &Value, old: Option<&Value>) -> Vec<FieldError> {
    workload(replica_set, old, "replicaset")
}

pub(in super::super) fn stateful_set(set: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
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

pub(in super::super) fn pod(pod: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    containers(&mut errors, &pod["spec"], "spec");
    errors
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
    let malformed = bad_labels(&selector["matchLabels"]);
    let well_formed = malformed.is_empty();
    if !well_formed {
        errors.extend(malformed);
        let why = "invalid label selector";
        errors.push(FieldError::invalid("spec.selector", selector, why));
    }
    let labels = &spec["template"]["metadata"]["labels"];
    if well_formed && !selects(selector, labels) {
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
    if let Some(old) = old.filter(|old| old["spec"]["selector"] != *selector && !selector.is_null())
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

fn containers(errors: &mut Vec<FieldError>, spec: &Value, path: &str) {
    let containers = spec["containers"].as_array();
    if containers.is_none_or(Vec::is_empty) {
        errors.push(FieldError::required(format!("{path}.containers"), ""));
    }
    let mut seen = BTreeSet::new();
    for (index, container) in containers.into_iter().flatten().enumerate() {
        let name = container["name"].as_str().unwrap_or_default();
        let at = format!("{path}.containers[{index}].name");
        if !name.is_empty() && !is_label(name) {
            errors.push(FieldError::invalid(&at, format!("{name:?}"), LABEL));
        }
        if !name.is_empty() && !seen.insert(name) {
            errors.push(FieldError::duplicate(at, format!("{name:?}")));
        }
        for field in ["name", "image"] {
            if container[field].as_str().is_none_or(str::is_empty) {
                errors.push(FieldError::required(
                    format!("{path}.containers[{index}].{field}"),
                    "",
                ));
            }
        }
    }
}

fn bad_labels(labels: &Value) -> Vec<FieldError> {
    let refuse = |bad: &str, why: &str| {
        FieldError::invalid("spec.selector.matchLabels", format!("{bad:?}"), why)
    };
    let mut errors = Vec::new();
    for (key, value) in labels.as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        errors.extend(key_problems(key).into_iter().map(|why| refuse(key, why)));
        errors.extend(value_problem(value).map(|why| refuse(value, why)));
    }
    errors
}

/// Whether a `LabelSelector` object selects labels.
fn selects(selector: &Value, labels: &Value) -> bool {
    if selector.is_null() {
        return false;
    }
    let value = |key: &str| labels[key].as_str();
    let wanted = selector["matchLabels"].as_object().into_iter().flatten();
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    wanted
        .into_iter()
        .all(|(key, wanted)| value(key) == wanted.as_str())
        && expressions.into_iter().all(|expression| {
            let value = value(expression["key"].as_str().unwrap_or_default());
            let listed = expression["values"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|v| v.as_str() == value);
            match expression["operator"].as_str().unwrap_or_default() {
                "In" => value.is_some() && listed,
                "NotIn" => value.is_none() || !listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}
