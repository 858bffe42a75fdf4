//! JSON.

use serde_json::Value;

use super::duplicates;

/// What the real server decodes first, as its decoder calls it.
const TYPE_META: &str = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

pub(super) fn read(body: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(body).map_err(|error| {
        let why = if error.is_eof() {
            "unexpected end of JSON input".to_owned()
        } else {
            error.to_string()
        };
        format!("couldn't get version/kind; json parse error: {why}")
    })
}

/// The fields that a JSON text has twice, as a warning tells of them.
pub(crate) fn duplicate_fields(body: &[u8]) -> Vec<String> {
    let fields = duplicates::duplicate_fields(body).into_iter();
    fields
        .map(|field| format!("duplicate field {field:?}"))
        .collect()
}

/// `apiVersion` and `kind`.
pub(super) fn type_meta(value: &Value) -> Result<[String; 2], String> {
    let mistyped = |value: &Value, target: &str| {
        let found = found(value);
        Err(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go {target}"
        ))
    };
    if !value.is_object() && !value.is_null() {
        return mistyped(value, &format!("value of type {TYPE_META}"));
    }
    let mut read = [String::new(), String::new()];
    for (field, text) in ["apiVersion", "kind"].into_iter().zip(&mut read) {
        match &value[field] {
            Value::Null => {}
            Value::String(given) => text.clone_from(given),
            other => return mistyped(other, &format!("struct field .{field} of type string")),
        }
    }
    Ok(read)
}

/// What Go calls a JSON value that it did not expect.
pub(crate) fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
