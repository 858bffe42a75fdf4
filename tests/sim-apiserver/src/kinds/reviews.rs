//! Reviews: objects that are answered and not stored. Everybody may do everything here.

use serde_json::{Value, json};

use crate::status::FieldError;

/// Who every client is.
const USER: &str = "admin";

pub(super) fn access(review: &mut Value) {
    review["status"] = json!({"allowed": true});
}

pub(super) fn check_access(review: &Value, _: Option<&Value>) -> Vec<FieldError> {
    let spec = &review["spec"];
    let resource = !spec["resourceAttributes"].is_null();
    if resource == spec["nonResourceAttributes"].is_null() {
        return Vec::new();
    }
    let field = "spec.resourceAttributes";
    let shown = if resource {
        "cannot be specified in combination with nonResourceAttributes"
    } else {
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"
    };
    vec![FieldError::invalid(
        field,
        &spec["resourceAttributes"],
        shown,
    )]
}

pub(super) fn rules(review: &mut Value) {
    let all = json!(["*"]);
    review["status"] = json!({
        "resourceRules": [{"verbs": all, "apiGroups": all, "resources": all}],
        "nonResourceRules": [{"verbs": all, "nonResourceURLs": all}],
        "incomplete": false,
    });
}

pub(super) fn subject(review: &mut Value) {
    let groups = ["system:masters", "system:authenticated"];
    review["status"] = json!({"userInfo": {"username": USER, "groups": groups}});
}
