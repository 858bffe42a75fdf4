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
        let undecodable = |error: serde_json::Error| {
            ApiStatus::bad_request(format!("error decoding patch: {error}"))
        };
        let object = |value: Value| {
            if value.is_object() {
                return Ok(value);
            }
            let why = "error decoding patch: json: cannot unmarshal into Go value of type map[string]interface {}";
            Err(ApiStatus::bad_request(why))
        };
        match content_type {
            JSON => serde_json::from_slice(body)
                .map(Self::Json)
                .map_err(undecodable),
            MERGE => serde_json::from_slice(body)
                .map_err(undecodable)
                .and_then(object)
                .map(Self::Merge),
            STRATEGIC => serde_json::from_slice(body)
                .map_err(undecodable)
                .and_then(object)
                .map(Self::Strategic),
            _ => Err(ApiStatus::unsupported_media_type(&[JSON, MERGE, STRATEGIC])),
        }
    }

    pub(crate) fn apply(&self, value: &mut Value) -> Result<(), ApiStatus> {
        match self {
            Self::Json(patch) => {
                json_patch::patch(value, patch).map_err(|_| ApiStatus::patch_does_not_apply())
            }
            Self::Merge(patch) => {
                json_patch::merge(value, patch);
                Ok(())
            }
            Self::Strategic(patch) => {
                strategic::merge(value, patch).map_err(ApiStatus::bad_request)
            }
        }
    }
}
