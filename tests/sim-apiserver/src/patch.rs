//! The three kinds of patch that the server applies.

mod json;
mod strategic;

use serde_json::{Map, Value};

use crate::{decode::found, openapi::TypeName, status::ApiStatus};

/// A decoded patch.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// RFC 6902, with the leniencies of the real server's library; see [`json`].
    Json(json_patch::Patch),
    /// RFC 7386.
    Merge(Value),
    /// Kubernetes' own: lists of objects are merged by a key.
    Strategic(Value),
}

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
/// Server-side apply, which the real server takes and this one does not.
const APPLY: &str = "application/apply-patch+yaml";

// === impl Patch ===

impl Patch {
    /// `built_in`: a strategic patch needs types, and a custom resource has none.
    pub(crate) fn parse(
        content_type: &str,
        body: &[u8],
        built_in: bool,
    ) -> Result<Self, ApiStatus> {
        let undecodable =
            |why: String| ApiStatus::bad_request(format!("error decoding patch: {why}"));
        match content_type {
            JSON => json::parse(body).map(Self::Json),
            // The library behind it takes a null for no patch at all.
            MERGE => match object(body).map_err(undecodable)? {
                Value::Null => Err(ApiStatus::bad_request("Invalid JSON Patch")),
                patch => Ok(Self::Merge(patch)),
            },
            STRATEGIC if built_in => match object(body).map_err(ApiStatus::bad_request)? {
                Value::Null => Ok(Self::Strategic(Map::new().into())),
                patch => Ok(Self::Strategic(patch)),
            },
            STRATEGIC => Err(ApiStatus::unsupported_media_type(&[JSON, MERGE, APPLY])),
            _ => Err(ApiStatus::unsupported_patch_type()),
        }
    }

    /// `kind` is the type of the whole value; `None` for a custom resource.
    pub(crate) fn apply(&self, value: &mut Value, kind: Option<TypeName>) -> Result<(), ApiStatus> {
        match self {
            Self::Json(patch) => json::apply(value, patch),
            Self::Merge(patch) => {
                json_patch::merge(value, patch);
                Ok(())
            }
            Self::Strategic(patch) => {
                // They are merged as fields of a struct, and nobody looks at these two afterwards.
                let type_meta = ["apiVersion", "kind"].map(|field| (field, value[field].clone()));
                strategic::merge(value, patch, kind).map_err(ApiStatus::internal)?;
                for (field, was) in type_meta {
                    value[field] = was;
                }
                Ok(())
            }
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

/// An object or a null; the error is the sentence of Go's decoder.
fn object(body: &[u8]) -> Result<Value, String> {
    match decode(body)? {
        value @ (Value::Null | Value::Object(_)) => Ok(value),
        other => Err(mistyped(&other, "map[string]interface {}")),
    }
}

fn decode(body: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_eof() {
            "unexpected end of JSON input".to_owned()
        } else {
            error.to_string()
        }
    })
}

fn mistyped(value: &Value, wanted: &str) -> String {
    let found = found(value);
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
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
