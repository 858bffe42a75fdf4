//! The fields of an object that belong to the server.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// Fields of metadata that no write by a client changes.
const SYSTEM_FIELDS: [&str; 5] = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
];

/// Paths that are objects where they are present: everything after decoding relies on it.
const OBJECTS: [&str; 10] = [
    "/metadata",
    "/metadata/labels",
    "/metadata/annotations",
    "/spec",
    "/spec/strategy",
    "/spec/strategy/rollingUpdate",
    "/spec/selector",
    "/spec/template",
    "/spec/template/spec",
    "/status",
];

const INTEGERS: [&str; 4] = [
    "/spec/replicas",
    "/spec/minReplicas",
    "/spec/maxReplicas",
    "/spec/leaseDurationSeconds",
];

/// The present moment as Kubernetes writes it.
pub(crate) fn timestamp() -> String {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second())
        .unwrap_or(now)
        .to_string()
}

/// Refuses JSON whose types a typed server could not decode; the error is the sentence of its decoder.
pub(crate) fn check_shape(kind: &str, value: &Value) -> Result<(), String> {
    let refuse = |found: &Value, path: &str, wanted: &str| {
        let found = match found {
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
            Value::Array(_) => "array",
            _ => "object",
        };
        let owner = match path.split('/').nth(1) {
            Some("metadata") if path.matches('/').count() > 1 => "ObjectMeta".to_owned(),
            Some("spec") if path.matches('/').count() > 1 => format!("{kind}Spec"),
            _ => kind.to_owned(),
        };
        let field = path.replace('/', ".");
        Err(format!(
            "json: cannot unmarshal {found} into Go struct field {owner}{field} of type {wanted}"
        ))
    };
    if !value.is_object() {
        return refuse(value, "", "map[string]interface {}");
    }
    for path in OBJECTS {
        match value.pointer(path) {
            None | Some(Value::Null | Value::Object(_)) => {}
            Some(other) => return refuse(other, path, "map[string]interface {}"),
        }
    }
    for path in INTEGERS {
        match value.pointer(path) {
            Some(other) if !other.is_null() && !other.is_i64() => {
                return refuse(other, path, "int32");
            }
            _ => {}
        }
    }
    for map in ["/metadata/labels", "/metadata/annotations"] {
        let values = value
            .pointer(map)
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let text = |value: &Value| value.is_string() || value.is_null();
        if let Some((_, other)) = values.into_iter().find(|(_, value)| !text(value)) {
            return refuse(other, map, "string");
        }
    }
    Ok(())
}

/// Drops what a typed server would not encode: nulls and empty collections.
pub(crate) fn normalise(value: &mut Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
        fields.retain(|_, value| !value.is_null());
    }
    for part in ["metadata", "spec"] {
        if let Some(part) = value.get_mut(part) {
            drop_nulls(part);
        }
    }
    if let Some(metadata) = metadata_mut(value) {
        metadata.remove("selfLink");
        metadata.retain(|field, value| match field.as_str() {
            "labels" | "annotations" => value.as_object().is_some_and(|map| !map.is_empty()),
            "finalizers" | "ownerReferences" | "managedFields" => {
                value.as_array().is_some_and(|list| !list.is_empty())
            }
            _ => true,
        });
    }
}

/// Puts the server's own fields back to what they were.
pub(crate) fn restore_system_fields(new: &mut Value, old: &Value) {
    if let Some(metadata) = metadata_mut(new) {
        for field in SYSTEM_FIELDS.into_iter().chain(["managedFields"]) {
            match &old["metadata"][field] {
                Value::Null => metadata.remove(field),
                value => metadata.insert(field.to_owned(), value.clone()),
            };
        }
    }
}

/// Whether anything but metadata and status differs: that is what a generation counts.
pub(crate) fn spec_differs(old: &Value, new: &Value) -> bool {
    let spec = |value: &Value| {
        let fields = value.as_object().into_iter().flatten();
        fields
            .filter(|(field, _)| {
                !matches!(
                    field.as_str(),
                    "metadata" | "status" | "apiVersion" | "kind"
                )
            })
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect::<Map<String, Value>>()
    };
    spec(old) != spec(new)
}

pub(crate) fn bump_generation(value: &mut Value) {
    let generation = value["metadata"]["generation"].as_i64().unwrap_or(0);
    value["metadata"]["generation"] = (generation + 1).into();
}

/// The finalizers' names.
pub(crate) fn finalizers(value: &Value) -> Vec<String> {
    let finalizers = value["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten();
    finalizers
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect()
}

pub(crate) fn set_finalizers(value: &mut Value, finalizers: &[String]) {
    if let Some(metadata) = metadata_mut(value) {
        if finalizers.is_empty() {
            metadata.remove("finalizers");
        } else {
            metadata.insert("finalizers".to_owned(), finalizers.into());
        }
    }
}

pub(crate) fn is_being_deleted(value: &Value) -> bool {
    !value["metadata"]["deletionTimestamp"].is_null()
}

/// Marks an object that cannot go yet.
pub(crate) fn mark_deleted(value: &mut Value) {
    if is_being_deleted(value) {
        return;
    }
    if value["metadata"]["generation"]
        .as_i64()
        .is_some_and(|generation| generation > 0)
    {
        bump_generation(value);
    }
    value["metadata"]["deletionTimestamp"] = timestamp().into();
    value["metadata"]["deletionGracePeriodSeconds"] = 0.into();
}

fn metadata_mut(value: &mut Value) -> Option<&mut Map<String, Value>> {
    value.get_mut("metadata")?.as_object_mut()
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
