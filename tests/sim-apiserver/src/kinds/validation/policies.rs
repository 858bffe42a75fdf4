//! Leases, autoscalers and disruption budgets.

use serde_json::{Value, json};

use super::not_negative;
use crate::status::FieldError;

const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

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

pub(in super::super) fn disruption_budget(budget: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &budget["spec"];
    if !spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null() {
        // As Go prints the type in which the real server checks it.
        let shown = json!({"MinAvailable": spec["minAvailable"], "Selector": spec["selector"],
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec["unhealthyPodEvictionPolicy"]});
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
