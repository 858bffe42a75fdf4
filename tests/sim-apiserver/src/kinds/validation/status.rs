//! The statuses of what makes Pods.

use serde_json::Value;

use crate::status::FieldError;

const GREATER: &str = "cannot be greater than status.replicas";

pub(in super::super) fn deployment_status(new: &Value, old: &Value) -> Vec<FieldError> {
    let parts = ["updatedReplicas", "readyReplicas", "availableReplicas"];
    let mut errors = counts(new, &parts);
    let collisions = |object: &Value| object["status"]["collisionCount"].as_i64();
    if let Some(before) = collisions(old)
        && collisions(new).is_none_or(|now| now < before)
    {
        let now = collisions(new).unwrap_or(0);
        let why = "cannot be decremented";
        errors.push(FieldError::invalid("status.collisionCount", now, why));
    }
    errors
}

pub(in super::super) fn replica_set_status(new: &Value, _: &Value) -> Vec<FieldError> {
    let parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
    counts(new, &parts)
}

/// Nothing is negative, and no part is more than all.
fn counts(object: &Value, parts: &[&str]) -> Vec<FieldError> {
    let status = &object["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let refuse =
        |field: &str, why: &str| FieldError::invalid(format!("status.{field}"), number(field), why);
    let mut errors = Vec::new();
    let others = ["unavailableReplicas", "observedGeneration"];
    let all = ["replicas"].into_iter().chain(parts.iter().copied());
    for field in all.chain(others).filter(|field| number(field) < 0) {
        errors.push(refuse(field, "must be greater than or equal to 0"));
    }
    for part in parts {
        if number(part) > number("replicas") {
            errors.push(refuse(part, GREATER));
        }
    }
    if number("availableReplicas") > number("readyReplicas") {
        let why = "cannot be greater than readyReplicas";
        errors.push(refuse("availableReplicas", why));
    }
    errors
}
