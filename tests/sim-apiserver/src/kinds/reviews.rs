//! Reviews: objects that are answered and not stored. Everybody may do everything here.

use serde_json::{Value, json};

use crate::{lifecycle::timestamp, status::FieldError};

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
    vec![if resource {
        let given = &spec["nonResourceAttributes"];
        // As Go prints the type in which the real server checks it.
        let shown = format!(r#"{{"Path":{},"Verb":{}}}"#, given["path"], given["verb"]);
        let why = "cannot be specified in combination with resourceAttributes";
        FieldError::invalid("spec.nonResourceAttributes", shown, why)
    } else {
        let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        FieldError::invalid("spec.resourceAttributes", "null", why)
    }]
}

pub(super) fn rules(review: &mut Value) {
    review["spec"] = json!({});
    let all = json!(["*"]);
    review["status"] = json!({
        "resourceRules": [{"verbs": all, "apiGroups": all, "resources": all}],
        "nonResourceRules": [{"verbs": all, "nonResourceURLs": all}],
        "incomplete": false,
    });
}

pub(super) fn subject(review: &mut Value) {
    review["metadata"]["creationTimestamp"] = timestamp().into();
    let groups = ["system:masters", "system:authenticated"];
    review["status"] = json!({"userInfo": {"username": USER, "groups": groups}});
}
