//! Media types and the short names that a script has for them.

pub(super) const JSON: &str = "application/json";

/// The type of a patch by the verb of a script.
pub(super) fn of_patch(verb: &str) -> Option<&'static str> {
    match verb {
        "MERGE" => Some("application/merge-patch+json"),
        "STRATEGIC" => Some("application/strategic-merge-patch+json"),
        "JSONPATCH" => Some("application/json-patch+json"),
        "APPLY" => Some("application/apply-patch+yaml"),
        _ => None,
    }
}
