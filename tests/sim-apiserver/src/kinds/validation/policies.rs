//! Leases, autoscalers and disruption budgets.

use serde_json::Value;

use super::{PERCENT, not_negative};
use crate::status::FieldError;

pub(in super::super) fn lease(lease: &Value, _: Option<&Value>) -> Vec<FieldError> {
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

pub(in super::super) fn autoscaler(autoscaler: &Value, _: Option<&Value>) -> Vec<FieldError> {
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
        let why = "must be set and greater than 0";
        errors.push(FieldError::required("spec.maxReplicas", why));
    }
    if max < min {
        let why = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid("spec.maxReplicas", max, why));
    }
    let target = &spec["scaleTargetRef"];
    for field in ["kind", "name"] {
        let at = format!("spec.scaleTargetRef.{field}");
        match target[field].as_str().unwrap_or_default() {
            "" => errors.push(FieldError::required(at, "")),
            text if text.contains('/') => {
                let why = "may not contain '/'";
                errors.push(FieldError::invalid(at, format!("{text:?}"), why));
            }
            _ => {}
        }
    }
    if target["apiVersion"].as_str().is_none_or(str::is_empty) {
        let why = "apiVersion must specify API group";
        errors.push(FieldError::invalid(
            "spec.scaleTargetRef.apiVersion",
            "\"\"",
            why,
        ));
    }
    if spec["minReplicas"] == 0 {
        let why = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(FieldError::forbidden("spec.metrics", why));
    }
    errors
}

pub(in super::super) fn disruption_budget(budget: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &budget["spec"];
    if !spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null() {
        // As Go prints the type in which the real server checks it.
        let shown = format!(
            r#"{{"MinAvailable":{},"Selector":{},"MaxUnavailable":{},"UnhealthyPodEvictionPolicy":{}}}"#,
            spec["minAvailable"],
            spec["selector"],
            spec["maxUnavailable"],
            spec["unhealthyPodEvictionPolicy"]
        );
        let why = "minAvailable and maxUnavailable cannot be both set";
        errors.push(FieldError::invalid("spec", shown, why));
    }
    for field in ["minAvailable", "maxUnavailable"] {
        let path = format!("spec.{field}");
        match &spec[field] {
            Value::String(text) => {
                let digits = text.strip_suffix('%').unwrap_or_default();
                if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
                    errors.push(FieldError::invalid(path, format!("{text:?}"), PERCENT));
                }
            }
            Value::Number(number) if number.as_i64().is_some_and(|number| number < 0) => {
                let why = "must be greater than or equal to 0";
                errors.push(FieldError::invalid(path, number, why));
            }
            _ => {}
        }
    }
    errors
}
