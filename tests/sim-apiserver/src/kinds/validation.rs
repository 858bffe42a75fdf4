//! The refusals of the real server that a controller or a person meets, in its words.

mod core;
mod event;
mod pods;
mod policies;
mod selectors;
mod service;
mod status;
mod workloads;

use serde_json::Value;

pub(super) use self::core::{config_map, secret};
pub(super) use event::{event, new_event};
pub(super) use pods::pod;
pub(super) use policies::{autoscaler, disruption_budget, lease};
pub(super) use service::service;
pub(super) use status::{deployment_status, replica_set_status};
pub(super) use workloads::{cron_job, daemon_set, deployment, job, replica_set, stateful_set};

use super::Kind;
use crate::{
    selector::{key_problems, value_problem},
    status::FieldError,
};

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/// Names that the real server knows as finalizers though no domain stands before them.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "foregroundDeletion", "orphan"];

const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Checks an object's name.
pub(crate) fn check_name(kind: &Kind, name: &str, prefix: &str) -> Vec<FieldError> {
    let refuse = |field: &str, name: &str, why: &str| {
        FieldError::invalid(format!("metadata.{field}"), format!("{name:?}"), why)
    };
    let label = matches!(kind.kind, "Namespace" | "Service");
    let longest = match kind.kind {
        _ if label => 63,
        // A Job's name is the CronJob's with eleven characters more.
        "CronJob" => 52,
        _ => 253,
    };
    let too_long = format!("must be no more than {longest} characters");
    if prefix.len() > longest {
        return vec![refuse("generateName", prefix, &too_long)];
    }
    if name.is_empty() {
        let why = "name or generateName is required";
        return vec![FieldError::required("metadata.name", why)];
    }
    let problem = |name: &str| {
        if name.len() > longest {
            Some(too_long.as_str())
        } else if label && name.contains('.') {
            Some("must not contain dots")
        } else if label && !is_label(name) {
            Some(LABEL)
        } else if !name.split('.').all(is_label) {
            Some(SUBDOMAIN)
        } else {
            None
        }
    };
    // A dash at the end of a prefix is followed by something.
    let masked = prefix.strip_suffix('-').map(|rest| format!("{rest}a"));
    let masked = masked.as_deref().unwrap_or(prefix);
    let of_prefix = problem(masked).filter(|_| !prefix.is_empty());
    let errors = of_prefix.map(|why| refuse("generateName", prefix, why));
    let of_name = problem(name).map(|why| refuse("name", name, why));
    errors.into_iter().chain(of_name).collect()
}

/// Checks what every object's metadata has.
pub(crate) fn check_metadata(object: &Value) -> Vec<FieldError> {
    let metadata = &object["metadata"];
    let entries = |field: &str| metadata[field].as_object().into_iter().flatten();
    let mut errors = Vec::new();
    let mut refuse = |field: &str, bad: &str, why: &str| {
        let field = format!("metadata.{field}");
        errors.push(FieldError::invalid(field, format!("{bad:?}"), why));
    };
    for (key, value) in entries("labels") {
        for why in key_problems(key) {
            refuse("labels", key, why);
        }
        let value = value.as_str().unwrap_or_default();
        if let Some(why) = value_problem(value) {
            refuse("labels", value, why);
        }
    }
    for (key, _) in entries("annotations") {
        for why in key_problems(&key.to_lowercase()) {
            refuse("annotations", key, why);
        }
    }
    let size = |(key, value): (&String, &Value)| key.len() + value.as_str().map_or(0, str::len);
    if entries("annotations").map(size).sum::<usize>() > MAX_ANNOTATIONS {
        errors.push(FieldError::too_long(
            "metadata.annotations",
            MAX_ANNOTATIONS,
        ));
    }
    check_owners(&mut errors, &metadata["ownerReferences"]);
    errors
}

/// Checks the finalizers, which only an object's own check looks at, not that of a change.
pub(crate) fn check_finalizers(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut refuse = |field: String, bad: &str, why: &str| {
        errors.push(FieldError::invalid(field, format!("{bad:?}"), why));
    };
    let finalizers = object["metadata"]["finalizers"].as_array();
    let finalizers = finalizers.into_iter().flatten().filter_map(Value::as_str);
    for (index, finalizer) in finalizers.enumerate() {
        for why in key_problems(finalizer) {
            refuse("metadata.finalizers".to_owned(), finalizer, why);
        }
        if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            refuse(format!("metadata.finalizers[{index}]"), finalizer, why);
        }
    }
    errors
}

/// Fields in the order of the real server's type, which its refusals show.
fn in_order(value: &Value, order: &[&str]) -> String {
    let fields = order.iter().filter(|field| !value[**field].is_null());
    let fields: Vec<String> = fields
        .map(|field| format!("{field:?}:{}", value[*field]))
        .collect();
    format!("{{{}}}", fields.join(","))
}

fn check_owners(errors: &mut Vec<FieldError>, owners: &Value) {
    let mut controllers = Vec::new();
    for owner in owners.as_array().into_iter().flatten() {
        if owner["kind"] == "Event" && matches!(owner["apiVersion"].as_str(), Some("v1")) {
            let why = format!("{} is disallowed from being an owner", "/v1, Kind=Event");
            errors.push(FieldError::invalid("metadata.ownerReferences", owner, why));
        }
        for field in ["apiVersion", "kind", "name", "uid"] {
            if owner[field].as_str().is_none_or(str::is_empty) {
                let why = match field {
                    "apiVersion" => "version must not be empty",
                    _ => "must not be empty",
                };
                let field = format!("metadata.ownerReferences.{field}");
                errors.push(FieldError::invalid(field, "\"\"", why));
            }
        }
        if owner["controller"] == true {
            let text = |field: &str| owner[field].as_str().unwrap_or_default();
            controllers.push(format!("{}/{}", text("kind"), text("name")));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let why = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        );
        let order = [
            "apiVersion",
            "kind",
            "name",
            "uid",
            "controller",
            "blockOwnerDeletion",
        ];
        let shown = owners.as_array().into_iter().flatten();
        let shown: Vec<String> = shown.map(|owner| in_order(owner, &order)).collect();
        let shown = format!("[{}]", shown.join(","));
        errors.push(FieldError::invalid("metadata.ownerReferences", shown, why));
    }
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
