use bytes::Bytes;
use http::Method;
use serde::Serialize;

use crate::client::{Call, Retried, Target, Verb};
use crate::controllers::min_replicas::{FIELD_MANAGER, Raise};

/// What the server compares before it changes anything: always both.
///
/// A wrong resourceVersion answers 409. A wrong uid alone answers 409 for the scale
/// subresource and 422 for the object itself, and either way nothing is written. The version
/// would do for any change of one object; the uid is for the object that was deleted and
/// made again.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Guard<'a> {
    uid: &'a str,
    resource_version: &'a str,
}

/// A merge patch whose `body` has a [`Guard`] for its metadata.
pub(super) fn guarded_patch(
    path: String,
    target: Target,
    body: &impl Serialize,
    dry_run: bool,
) -> Call {
    let body = serde_json::to_vec(body).expect("invariant: strings and a number are always JSON");
    let call = Call {
        verb: Verb::Patch,
        method: Method::PATCH,
        path_and_query: path,
        target,
        content_type: Some("application/merge-patch+json"),
        accept: "application/json",
        body: Bytes::from(body),
        stop_retrying: None,
        retried: Retried::ByClient,
    };
    let call = call.with_query([("fieldManager", FIELD_MANAGER)]);
    if dry_run {
        call.with_query([("dryRun", "All")])
    } else {
        call
    }
}

// === impl Guard ===

impl<'a> Guard<'a> {
    /// Of the object that `raise` writes to.
    pub(super) fn of(raise: &'a Raise) -> Self {
        let (uid, resource_version) = raise.guard();
        Self {
            uid,
            resource_version,
        }
    }
}
