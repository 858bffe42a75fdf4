//! ConfigMaps and Secrets.

use serde_json::Value;

use crate::status::FieldError;

const KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// The most bytes of data that an object may hold.
const MAX_BYTES: usize = 1024 * 1024;

pub(in super::super) fn config_map(map: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = immutable(map, old, &["data", "binaryData"]);
    keys(&mut errors, map, "data");
    for (key, _) in map["data"].as_object().into_iter().flatten() {
        if !map["binaryData"][key].is_null() {
            let why = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid(
                format!("data[{key}]"),
                format!("{key:?}"),
                why,
            ));
        }
    }
    keys(&mut errors, map, "binaryData");
    if bytes(&map["data"], str::len) + bytes(&map["binaryData"], decoded) > MAX_BYTES {
        // The real server names no field here.
        errors.push(FieldError::too_long("[]", MAX_BYTES));
    }
    errors
}

pub(in super::super) fn secret(secret: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = immutable(secret, old, &["data"]);
    keys(&mut errors, secret, "data");
    if bytes(&secret["data"], decoded) > MAX_BYTES {
        errors.push(FieldError::too_long("data", MAX_BYTES));
    }
    let needed: &[&str] = match secret["type"].as_str().unwrap_or_default() {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        _ => &[],
    };
    let missing = needed.iter().filter(|key| secret["data"][**key].is_null());
    errors.extend(missing.map(|key| FieldError::required(format!("data[{key}]"), "")));
    if old.is_some_and(|old| old["type"] != secret["type"]) {
        errors.push(FieldError::invalid(
            "type",
            &secret["type"],
            "field is immutable",
        ));
    }
    errors
}

fn keys(errors: &mut Vec<FieldError>, object: &Value, field: &str) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    for (key, _) in object[field].as_object().into_iter().flatten() {
        if key.is_empty() || !key.chars().all(allowed) {
            errors.push(FieldError::invalid(
                format!("{field}[{key}]"),
                format!("{key:?}"),
                KEY,
            ));
        }
    }
}

fn immutable(new: &Value, old: Option<&Value>, fields: &[&str]) -> Vec<FieldError> {
    let Some(old) = old.filter(|old| old["immutable"] == true) else {
        return Vec::new();
    };
    let why = "field is immutable when `immutable` is set";
    let thawed = (new["immutable"] != true).then_some("immutable");
    let changed = fields
        .iter()
        .copied()
        .filter(|field| old[*field] != new[*field]);
    thawed
        .into_iter()
        .chain(changed)
        .map(|field| FieldError::forbidden(field, why))
        .collect()
}

fn bytes(map: &Value, length: fn(&str) -> usize) -> usize {
    let values = map.as_object().into_iter().flatten();
    values
        .map(|(_, value)| length(value.as_str().unwrap_or_default()))
        .sum()
}

/// How many bytes a base64 text stands for.
fn decoded(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}
