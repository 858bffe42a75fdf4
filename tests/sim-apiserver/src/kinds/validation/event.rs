//! Events, whose second group asks for more.

use serde_json::Value;

use crate::{selector::key_problems, status::FieldError};

/// The longest action, reason and reporting instance.
const LONGEST: usize = 128;
/// The longest message.
const LONGEST_NOTE: usize = 1024;

/// What both groups ask for.
pub(in super::super) fn event(event: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let own = event["metadata"]["namespace"].as_str().unwrap_or_default();
    let about = event["involvedObject"]["namespace"].as_str();
    let about = about.unwrap_or_default();
    let modern = !event["eventTime"].is_null();
    let elsewhere = match about {
        "" => !matches!(own, "" | "default"),
        // In the new form it may be about something elsewhere.
        about => !modern && about != own,
    };
    if elsewhere {
        let why = "does not match event.namespace";
        let field = "involvedObject.namespace";
        errors.push(FieldError::invalid(field, format!("{about:?}"), why));
    }
    if modern {
        new_form(&mut errors, event);
    }
    if !event["series"].is_null() {
        if event["series"]["count"].as_i64().unwrap_or(0) < 2 {
            let why = "should be at least 2";
            errors.push(FieldError::invalid("series.count", "\"\"", why));
        }
        if event["series"]["lastObservedTime"].is_null() {
            errors.push(FieldError::required("series.lastObservedTime", ""));
        }
    }
    errors
}

/// What events.k8s.io asks for on top of it.
pub(in super::super) fn new_event(event: &Value, old: Option<&Value>) -> Vec<FieldError> {
    match old {
        Some(old) => immutable(event, old),
        None => of_new(event),
    }
}

fn new_form(errors: &mut Vec<FieldError>, event: &Value) {
    let text = |field: &str| event[field].as_str().unwrap_or_default();
    let controller = text("reportingComponent");
    if controller.is_empty() {
        errors.push(FieldError::required("reportingController", ""));
    }
    for why in key_problems(controller) {
        let shown = format!("{controller:?}");
        errors.push(FieldError::invalid("reportingController", shown, why));
    }
    for (field, longest) in [
        ("reportingInstance", LONGEST),
        ("action", LONGEST),
        ("reason", LONGEST),
        ("message", LONGEST_NOTE),
    ] {
        if text(field).is_empty() && field != "message" {
            errors.push(FieldError::required(field, ""));
        }
        if text(field).len() > longest {
            let why = format!("can have at most {longest} characters");
            errors.push(FieldError::invalid(field, "\"\"", why));
        }
    }
}

fn of_new(event: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if event["eventTime"].is_null() {
        errors.push(FieldError::required("eventTime", ""));
    }
    let kind = event["type"].as_str().unwrap_or_default();
    if !matches!(kind, "Normal" | "Warning") {
        let why = format!("has invalid value: {kind}");
        errors.push(FieldError::invalid("type", "\"\"", why));
    }
    let set = |field: &str| match &event[field] {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(number) => number.as_i64() != Some(0),
        _ => true,
    };
    let old_fields = ["firstTimestamp", "lastTimestamp", "count", "source"];
    for field in old_fields.into_iter().filter(|field| set(field)) {
        errors.push(FieldError::invalid(field, "\"\"", "needs to be unset"));
    }
    errors
}

fn immutable(new: &Value, old: &Value) -> Vec<FieldError> {
    // The real server looks at the reason twice.
    let fields = [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "reason",
        "type",
        "eventTime",
        "action",
        "related",
        "reportingComponent",
        "reportingInstance",
    ];
    let changed = fields
        .into_iter()
        .filter(|field| new[*field] != old[*field]);
    let refuse = |field: &str| FieldError::invalid(field, &new[field], "field is immutable");
    changed.map(refuse).collect()
}
