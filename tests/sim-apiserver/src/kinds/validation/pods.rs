//! Pods, by themselves and in a template.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{LABEL, is_label};
use crate::{kinds::defaults, status::FieldError};

const POD_IS_FIXED: &str = "pod updates may not change fields other than \
    `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
    additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was \
    previously negative)";

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

const RESTART_POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];

pub(in super::super) fn pod(pod: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    containers(&mut errors, &pod["spec"], "spec");
    let policy = pod["spec"]["restartPolicy"].as_str().unwrap_or_default();
    if !RESTART_POLICIES.contains(&policy) {
        errors.push(FieldError::not_supported(
            "spec.restartPolicy",
            format!("{policy:?}"),
            &RESTART_POLICIES,
        ));
    }
    if old.is_some_and(|old| fixed_of_pod(old) != fixed_of_pod(pod)) {
        // The real server shows the difference as Go's types here.
        errors.push(FieldError::forbidden("spec", POD_IS_FIXED));
    }
    errors
}

/// What of a Pod nobody may change. A test may have left out what the server fills in.
fn fixed_of_pod(pod: &Value) -> Value {
    let mut pod = pod.clone();
    defaults::pod(&mut pod);
    let mut spec = pod["spec"].take();
    for list in ["containers", "initContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            container["image"] = Value::Null;
            // It may follow the image.
            container["imagePullPolicy"] = Value::Null;
        }
    }
    for field in [
        "activeDeadlineSeconds",
        "tolerations",
        "terminationGracePeriodSeconds",
    ] {
        spec[field] = Value::Null;
    }
    spec
}

/// Checks the containers of a Pod or a template; `path` is that of the `spec`.
pub(super) fn containers(errors: &mut Vec<FieldError>, spec: &Value, path: &str) {
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
        let at = format!("{path}.containers[{index}]");
        ports(errors, &container["ports"], &at);
        let policy = container["imagePullPolicy"].as_str().unwrap_or_default();
        if !PULL_POLICIES.contains(&policy) {
            errors.push(FieldError::not_supported(
                format!("{at}.imagePullPolicy"),
                format!("{policy:?}"),
                &PULL_POLICIES,
            ));
        }
    }
}

fn ports(errors: &mut Vec<FieldError>, ports: &Value, path: &str) {
    for (index, port) in ports.as_array().into_iter().flatten().enumerate() {
        let at = format!("{path}.ports[{index}].containerPort");
        match port["containerPort"].as_i64().unwrap_or(0) {
            0 => errors.push(FieldError::required(at, "")),
            number if !(1..=65_535).contains(&number) => {
                let why = "must be between 1 and 65535, inclusive";
                errors.push(FieldError::invalid(at, number, why));
            }
            _ => {}
        }
    }
}
