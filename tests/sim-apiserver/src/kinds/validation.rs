//! The refusals of the real server that a controller or a person meets, in its words.

mod core;
mod policies;
mod service;
mod workloads;

use serde_json::Value;

pub(super) use self::core::{config_map, secret};
pub(super) use policies::{autoscaler, disruption_budget, lease};
pub(super) use service::service;
pub(super) use workloads::{cron_job, daemon_set, deployment, job, pod, replica_set, stateful_set};

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

fn not_negative(errors: &mut Vec<FieldError>, spec: &Value, field: &str) {
    if let Some(number) = spec[field].as_i64().filter(|number| *number < 0) {
        let why = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(format!("spec.{field}"), number, why));
    }
}

fn is_label(text: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(alphanumeric)
        && text.ends_with(alphanumeric)
        && text.chars().all(|c| alphanumeric(c) || c == '-')
}
