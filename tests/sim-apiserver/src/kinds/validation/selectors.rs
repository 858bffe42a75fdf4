//! The label selectors in objects.

use serde_json::Value;

use super::in_order;
use crate::{
    selector::{key_problems, value_problem},
    status::FieldError,
};

/// What is wrong with a selector, and at the end the selector itself.
pub(super) fn problems(selector: &Value) -> Vec<FieldError> {
    let mut errors = bad_labels(&selector["matchLabels"]);
    errors.extend(bad_expressions(&selector["matchExpressions"]));
    if !errors.is_empty() {
        let why = "invalid label selector";
        let shown = in_order(selector, &["matchLabels", "matchExpressions"]);
        errors.push(FieldError::invalid("spec.selector", shown, why));
    }
    errors
}

fn bad_expressions(expressions: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, expression) in expressions.as_array().into_iter().flatten().enumerate() {
        let at = |field: &str| format!("spec.selector.matchExpressions[{index}].{field}");
        let values = expression["values"].as_array().map_or(0, Vec::len);
        match expression["operator"].as_str().unwrap_or_default() {
            "In" | "NotIn" if values == 0 => errors.push(FieldError::required(
                at("values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            )),
            "Exists" | "DoesNotExist" if values > 0 => errors.push(FieldError::forbidden(
                at("values"),
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.push(FieldError::invalid(
                at("operator"),
                format!("{other:?}"),
                "not a valid selector operator",
            )),
        }
        let key = expression["key"].as_str().unwrap_or_default();
        let refuse = |why: String| FieldError::invalid(at("key"), format!("{key:?}"), why);
        errors.extend(
            key_problems(key)
                .into_iter()
                .map(|why| refuse(why.to_string())),
        );
    }
    errors
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
pub(super) fn selects(selector: &Value, labels: &Value) -> bool {
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
