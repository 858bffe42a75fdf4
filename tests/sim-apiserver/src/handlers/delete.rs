//! DELETE, of one object and of a collection.

use http::StatusCode;
use serde_json::{Value, json as object};

use super::{
    api::{Answer, answer_with, json},
    call::{Call, Refusal},
    expected::Expected,
    options::ListOptions,
};
use crate::{
    lifecycle::{self, DeleteOptions, Deleted, Propagation},
    status::{ApiStatus, FieldError},
    store::{Key, ListRequest, Listing},
};

const OPTIONS: Expected = Expected {
    group: "meta",
    version: "v1",
    kind: "DeleteOptions",
};

pub(super) fn delete_one(call: &Call<'_>) -> Answer {
    let view = call.view()?;
    let options = delete_options(call)?;
    let shared = call.shared;
    let deleted = shared.store.write(|state| {
        lifecycle::delete(state, &shared.kinds, call.served.id, &call.key(), &options)
    })?;
    Ok(match deleted {
        Deleted::Pending(pending) => json(StatusCode::OK, view.object(&pending)),
        Deleted::Gone(gone) => {
            let mut details = call.kind.details(call.name());
            details["uid"] = gone.uid.as_ref().into();
            let status = object!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                "details": details});
            json(StatusCode::OK, status.to_string())
        }
    })
}

pub(super) fn delete_collection(call: &Call<'_>) -> Answer {
    let view = call.view()?;
    let list = ListOptions::parse(call)?;
    let options = delete_options(call)?;
    let shared = call.shared;
    let listing = shared.store.write(|state| {
        let listing = Listing::read(state, call.served.id, &list.filter, &ListRequest::default())?;
        let keys: Vec<Key> = listing
            .items
            .iter()
            .map(|object| object.key.clone())
            .collect();
        for key in keys {
            // One may be gone already, with its owner.
            if state.get(call.served.id, &key).is_some() {
                lifecycle::delete(state, &shared.kinds, call.served.id, &key, &options)?;
            }
        }
        Ok(listing)
    })?;
    let content_type = http::HeaderValue::from_static("application/json");
    Ok(answer_with(
        StatusCode::OK,
        content_type,
        view.list(listing),
    ))
}

/// The options in the body, or those in the query.
fn delete_options(call: &Call<'_>) -> Result<DeleteOptions, ApiStatus> {
    let dry_run = call.write_options("DeleteOptions")?.dry_run;
    let body = match call.body()? {
        [] => Value::Null,
        _ => options_body(call)?,
    };
    let text = |pointer: &str| {
        body.pointer(pointer)
            .and_then(Value::as_str)
            .map(ToOwned::to_owned)
    };
    let propagation = text("/propagationPolicy")
        .or_else(|| call.info.query("propagationPolicy").map(ToOwned::to_owned));
    let orphans = body["orphanDependents"].as_bool();
    let propagation = match (propagation.as_deref(), orphans) {
        (None | Some(""), None) => None,
        (None | Some(""), Some(true)) | (Some("Orphan"), None) => Some(Propagation::Orphan),
        (None | Some(""), Some(false)) | (Some("Background"), None) => {
            Some(Propagation::Background)
        }
        (Some("Foreground"), None) => Some(Propagation::Foreground),
        (Some(given), Some(_)) => {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            let error = FieldError::invalid("propagationPolicy", format!("{given:?}"), why);
            return Err(ApiStatus::invalid_options("DeleteOptions", &[error]));
        }
        (Some(other), None) => {
            let supported = ["Foreground", "Background", "Orphan", "nil"];
            let given = format!("{other:?}");
            let error = FieldError::not_supported("propagationPolicy", given, &supported);
            return Err(ApiStatus::invalid_options("DeleteOptions", &[error]));
        }
    };
    let in_body: Vec<&str> = body["dryRun"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(other) = in_body.iter().find(|value| **value != "All") {
        let error = FieldError::not_supported("dryRun", format!("[{other:?}]"), &["All"]);
        return Err(ApiStatus::invalid_options("DeleteOptions", &[error]));
    }
    Ok(DeleteOptions {
        uid: text("/preconditions/uid"),
        resource_version: text("/preconditions/resourceVersion"),
        propagation,
        dry_run: dry_run || !in_body.is_empty(),
    })
}

fn options_body(call: &Call<'_>) -> Result<Value, ApiStatus> {
    let document = call.document(&OPTIONS).map_err(|refusal| match refusal {
        Refusal::Status(status) => status,
        Refusal::Undecodable(why) => ApiStatus::bad_request(why),
    })?;
    // Every group has DeleteOptions: its version is not looked at.
    if !matches!(document.kind.as_str(), "" | "DeleteOptions") {
        let (kind, version) = (document.kind, document.api_version);
        let scheme = r#"in scheme "pkg/runtime/scheme.go:111""#;
        let why = format!("no kind {kind:?} is registered for version {version:?} {scheme}");
        return Err(ApiStatus::bad_request(why));
    }
    let mut options = document
        .object(OPTIONS.type_name())
        .map_err(ApiStatus::bad_request)?;
    OPTIONS
        .conform(&mut options)
        .map_err(ApiStatus::bad_request)?;
    Ok(options)
}
