//! The refusals of the real server that a controller or a person meets, in its words.

use serde_json::Value;

use super::Kind;
use crate::{
    selector::{key_problem, value_problem},
    status::FieldError,
};

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// Checks an object's name.
pub(crate) fn check_name(kind: &Kind, name: &str) -> Option<FieldError> {
    let refuse = |why: &str| {
        Some(FieldError::invalid(
            "metadata.name",
            format!("{name:?}"),
            why,
        ))
    };
    if name.is_empty() {
        return Some(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    }
    if kind.kind == "Namespace" {
        return if name.len() > 63 {
            refuse("must be no more than 63 bytes")
        } else if is_label(name) {
            None
        } else {
            refuse(LABEL)
        };
    }
    if name.len() > 253 {
        return refuse("must be no more than 253 bytes");
    }
    if name.split('.').all(is_label) {
        None
    } else {
        refuse(SUBDOMAIN)
    }
}

/// Checks labels and annotations.
pub(crate) fn check_metadata(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let metadata = &object["metadata"];
    let mut refuse = |field: &str, bad: &str, why: Option<&str>| {
        errors.extend(why.map(|why| FieldError::invalid(field, format!("{bad:?}"), why)));
    };
    for (key, value) in metadata["labels"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        refuse("metadata.labels", key, key_problem(key));
        refuse("metadata.labels", value, value_problem(value));
    }
    for (key, _) in metadata["annotations"].as_object().into_iter().flatten() {
        refuse(
            "metadata.annotations",
            key,
            key_problem(&key.to_lowercase()),
        );
    }
    errors
}

pub(super) fn deployment(deployment: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = workload(deployment, old, "deployment");
    let spec = &deployment["spec"];
    not_negative(&mut errors, spec, "revisionHistoryLimit");
    not_negative(&mut errors, spec, "progressDeadlineSeconds");
    errors
}

pub(super) fn replica_set(replica_set: &Value, old: Option<&Value>) -> Vec<FieldError> {
    workload(replica_set, old, "replicaset")
}

pub(super) fn pod(pod: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    containers(&mut errors, &pod["spec"], "spec");
    errors
}

pub(super) fn lease(lease: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &lease["spec"];
    if let Some(seconds) = spec["leaseDurationSeconds"]
        .as_i64()
        .filter(|seconds| *seconds <= 0)
    {
        errors.push(FieldError::invalid(
            "spec.leaseDurationSeconds",
            seconds,
            "must be greater than 0",
        ));
    }
    not_negative(&mut errors, spec, "leaseTransitions");
    errors
}

pub(super) fn autoscaler(autoscaler: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &autoscaler["spec"];
    let min = spec["minReplicas"].as_i64().unwrap_or(1);
    let max = spec["maxReplicas"].as_i64().unwrap_or(0);
    if min < 1 {
        errors.push(FieldError::invalid(
            "spec.minReplicas",
            min,
            "must be greater than or equal to 1",
        ));
    }
    if max < 1 {
        errors.push(FieldError::invalid(
            "spec.maxReplicas",
            max,
            "must be greater than 0",
        ));
    }
    if max < min {
        let why = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid("spec.maxReplicas", max, why));
    }
    for field in ["kind", "name"] {
        if spec["scaleTargetRef"][field]
            .as_str()
            .is_none_or(str::is_empty)
        {
            errors.push(FieldError::required(
                format!("spec.scaleTargetRef.{field}"),
                "",
            ));
        }
    }
    errors
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
    let labels = &spec["template"]["metadata"]["labels"];
    if !selects(selector, labels) {
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
    containers(&mut errors, &spec["template"]["spec"], "spec.template.spec");
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
    for (index, container) in containers.into_iter().flatten().enumerate() {
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

fn not_negative(errors: &mut Vec<FieldError>, spec: &Value, field: &str) {
    if let Some(number) = spec[field].as_i64().filter(|number| *number < 0) {
        let why = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(format!("spec.{field}"), number, why));
    }
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

fn is_label(text: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(alphanumeric)
        && text.ends_with(alphanumeric)
        && text.chars().all(|c| alphanumeric(c) || c == '-')
}
