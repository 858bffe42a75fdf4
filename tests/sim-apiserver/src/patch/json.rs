//! JSON patches, with the leniencies of the library that the real server uses (evanphx/json-patch v4).
//!
//! A member of an object that is not there is a null to it: it can be replaced, copied and tested for null. An
//! operation without a value has a null. Only an object that is not there is an error, and a place in a list.

use json_patch::{
    AddOperation, CopyOperation, Patch, PatchOperation, ReplaceOperation, TestOperation,
    jsonptr::Pointer,
};
use serde_json::Value;

use super::{decode, found, mistyped};
use crate::status::ApiStatus;

pub(super) fn parse(body: &[u8]) -> Result<Patch, ApiStatus> {
    let undecodable = |why: String| ApiStatus::bad_request(format!("error decoding patch: {why}"));
    match decode(body).map_err(undecodable)? {
        Value::Null => Ok(Patch(Vec::new())),
        Value::Array(given) => {
            let operations: Result<_, _> = given.into_iter().map(operation).collect();
            operations.map(Patch)
        }
        other => Err(undecodable(mistyped(&other, "[]handlers.jsonPatchOp"))),
    }
}

/// One operation. One that there is not, or that says too little, is one that does not apply.
fn operation(mut given: Value) -> Result<PatchOperation, ApiStatus> {
    let undecodable = |why: String| ApiStatus::bad_request(format!("error decoding patch: {why}"));
    match &mut given {
        Value::Object(fields) => {
            for field in ["op", "path", "from"] {
                if let Some(other) = fields.get(field).filter(|value| !value.is_string()) {
                    let found = found(other);
                    return Err(undecodable(format!(
                        "json: cannot unmarshal {found} into Go struct field jsonPatchOp.{field} of type string"
                    )));
                }
            }
            fields.entry("value").or_insert(Value::Null);
        }
        Value::Null => {}
        other => return Err(undecodable(mistyped(other, "handlers.jsonPatchOp"))),
    }
    serde_json::from_value(given).map_err(|_| ApiStatus::patch_does_not_apply())
}

/// On an error the value is left half patched.
pub(super) fn apply(value: &mut Value, patch: &Patch) -> Result<(), ApiStatus> {
    for operation in &patch.0 {
        let Some(operation) = lenient(value, operation) else {
            continue;
        };
        json_patch::patch(value, &[operation]).map_err(|_| ApiStatus::patch_does_not_apply())?;
    }
    if value.as_object().is_some_and(|fields| !fields.is_empty()) {
        Ok(())
    } else {
        Err(ApiStatus::patch_does_not_apply())
    }
}

/// What the operation comes to on this value; `None` is nothing at all.
fn lenient(value: &Value, operation: &PatchOperation) -> Option<PatchOperation> {
    match operation {
        PatchOperation::Replace(ReplaceOperation { path, value: new })
            if is_absent(value, path) =>
        {
            let (path, value) = (path.clone(), new.clone());
            Some(PatchOperation::Add(AddOperation { path, value }))
        }
        PatchOperation::Copy(CopyOperation { from, path }) if is_absent(value, from) => {
            let (path, value) = (path.clone(), Value::Null);
            Some(PatchOperation::Add(AddOperation { path, value }))
        }
        PatchOperation::Test(TestOperation {
            path,
            value: Value::Null,
        }) if is_absent(value, path) => None,
        other => Some(other.clone()),
    }
}

/// Whether a path leads to a member that its object does not have.
fn is_absent(value: &Value, path: &Pointer) -> bool {
    let Some((parent, last)) = path.split_back() else {
        return false;
    };
    let parent = parent.resolve(value).ok().and_then(Value::as_object);
    parent.is_some_and(|fields| !fields.contains_key(last.decoded().as_ref()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(operations: &Value) -> Result<Value, String> {
        let mut value = json!({"data": {"a": "1"}, "list": ["x"]});
        let patch = parse(operations.to_string().as_bytes());
        patch
            .and_then(|patch| apply(&mut value, &patch))
            .map(|()| value)
            .map_err(|status| status.to_string())
    }

    /// Each as a real kube-apiserver 1.36.1 takes it.
    #[test]
    fn an_absent_member_is_a_null() {
        for (operations, data) in [
            (json!(null), json!({"a": "1"})),
            (json!([]), json!({"a": "1"})),
            (
                json!([{"op": "test", "path": "/data/none", "value": null}]),
                json!({"a": "1"}),
            ),
            (
                json!([{"op": "test", "path": "/data/none"}]),
                json!({"a": "1"}),
            ),
            (
                json!([{"op": "add", "path": "/data/b"}]),
                json!({"a": "1", "b": null}),
            ),
            (
                json!([{"op": "replace", "path": "/data/b", "value": "2"}]),
                json!({"a": "1", "b": "2"}),
            ),
            (
                json!([{"op": "copy", "from": "/none", "path": "/data/b"}]),
                json!({"a": "1", "b": null}),
            ),
            (
                json!([{"op": "replace", "path": "/data/a~1b", "value": "2"}]),
                json!({"a": "1", "a/b": "2"}),
            ),
        ] {
            assert_eq!(patched(&operations).unwrap()["data"], data, "{operations}");
        }
    }

    #[test]
    fn what_does_not_apply_is_refused() {
        let refusal = "422 Invalid: the server rejected our request due to an error in our request";
        for operations in [
            json!([null]),
            json!([{}]),
            json!([{"op": "add"}]),
            json!([{"op": "explode", "path": "/data"}]),
            json!([{"op": "remove", "path": "/data/none"}]),
            json!([{"op": "remove", "path": ""}]),
            json!([{"op": "add", "path": "data", "value": 1}]),
            json!([{"op": "add", "path": "", "value": {}}]),
            json!([{"op": "add", "path": "/x/y", "value": 1}]),
            json!([{"op": "replace", "path": "/x/y", "value": 1}]),
            json!([{"op": "test", "path": "/x/y", "value": null}]),
            json!([{"op": "test", "path": "/data/a"}]),
            json!([{"op": "replace", "path": "/list/1", "value": "y"}]),
            json!([{"op": "move", "from": "/none", "path": "/data/b"}]),
        ] {
            assert_eq!(patched(&operations).unwrap_err(), refusal, "{operations}");
        }
    }

    #[test]
    fn what_is_no_operation_is_undecodable() {
        let refusal = |operations: Value| patched(&operations).unwrap_err();
        insta::assert_snapshot!(refusal(json!({})), @"400 BadRequest: error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp");
        insta::assert_snapshot!(refusal(json!([1])), @"400 BadRequest: error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp");
        insta::assert_snapshot!(refusal(json!([[]])), @"400 BadRequest: error decoding patch: json: cannot unmarshal array into Go value of type handlers.jsonPatchOp");
        insta::assert_snapshot!(refusal(json!([{"op": 1}])), @"400 BadRequest: error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string");
        insta::assert_snapshot!(refusal(json!([{"op": "add", "path": 5}])), @"400 BadRequest: error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string");
    }
}
