//! The three kinds of patch that the server applies.

mod strategic;

use serde_json::Value;

use crate::status::ApiStatus;

/// A decoded patch.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(json_patch::Patch),
    /// RFC 7386.
    Merge(Value),
    /// Kubernetes' own: lists of objects are merged by a key.
    Strategic(Value),
}

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

// === impl Patch ===

impl Patch {
    pub(crate) fn parse(content_type: &str, body: &[u8]) -> Result<Self, ApiStatus> {
        let undecodable =
            |why: String| ApiStatus::bad_request(format!("error decoding patch: {why}"));
        let decode = || -> Result<Value, ApiStatus> {
            serde_json::from_slice(body).map_err(|error| {
                undecodable(if error.is_eof() {
                    "unexpected end of JSON input".to_owned()
                } else {
                    error.to_string()
                })
            })
        };
        let mistyped = |value: &Value, wanted: &str| {
            let found = match value {
                Value::Array(_) => "array",
                Value::Object(_) => "object",
                Value::String(_) => "string",
                Value::Number(_) => "number",
                _ => "bool",
            };
            undecodable(format!(
                "json: cannot unmarshal {found} into Go value of type {wanted}"
            ))
        };
        let object = |value: Value| match value {
            Value::Object(_) => Ok(value),
            other => Err(mistyped(&other, "map[string]interface {}")),
        };
        match content_type {
            JSON => match decode()? {
                // An operation that there is not, or that says too little, is one that does not apply.
                list @ Value::Array(_) => serde_json::from_value(list)
                    .map(Self::Json)
                    .map_err(|_| ApiStatus::patch_does_not_apply()),
                other => Err(mistyped(&other, "[]handlers.jsonPatchOp")),
            },
            MERGE => decode().and_then(object).map(Self::Merge),
            STRATEGIC => decode().and_then(object).map(Self::Strategic),
            _ => Err(ApiStatus::unsupported_patch_type()),
        }
    }

    pub(crate) fn apply(&self, value: &mut Value) -> Result<(), ApiStatus> {
        match self {
            Self::Json(patch) => {
                json_patch::patch(value, patch).map_err(|_| ApiStatus::patch_does_not_apply())?;
                if value.is_object() {
                    Ok(())
                } else {
                    Err(ApiStatus::patch_does_not_apply())
                }
            }
            Self::Merge(patch) => {
                json_patch::merge(value, patch);
                Ok(())
            }
            Self::Strategic(patch) => strategic::merge(value, patch).map_err(ApiStatus::internal),
        }
    }

    /// What a refusal of the result quotes: the result, or for a strategic patch the patch itself as Go
    /// prints a map.
    pub(crate) fn shown(&self, result: &Value) -> String {
        match self {
            Self::Json(_) | Self::Merge(_) => result.to_string(),
            Self::Strategic(patch) => go_text(patch),
        }
    }
}

fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_text).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{key}:{}", go_text(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
        other => other.to_string(),
    }
}
