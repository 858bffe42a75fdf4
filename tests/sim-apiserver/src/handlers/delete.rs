//! DELETE, of one object and of a collection.

use http::StatusCode;
use serde_json::{Value, json as object};

use super::{
    api::{Answer, answer_with, json},
    call::{Call, Refusal, check_dry_run},
    expected::Expected,
    options::ListOptions,
};
use crate::{
    lifecycle::{self, DeleteOptions, Deleted, Propagation},
    status::{ApiStatus, FieldError},
    store::{Key, ListRequest, Listing},
    strconv,
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
        Deleted::Gone(gone) if call.kind.returns_deleted => {
            json(StatusCode::OK, view.object(&gone))
        }
        Deleted::Gone(gone) => {
            let mut details = call.kind.details(call.name());
            if !call.served.group.is_empty() {
                details["group"] = call.served.group.into();
            }
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

/// The options in the body; without a body those in the query. A body makes the server deaf to the query:
/// `?dryRun=All` beside one deletes.
fn delete_options(call: &Call<'_>) -> Result<DeleteOptions, ApiStatus> {
    let options = match call.body()? {
        [] => options_query(call)?,
        _ => options_body(call)?,
    };
    let text = |pointer: &str| {
        let found = options.pointer(pointer).and_then(Value::as_str);
        found.map(ToOwned::to_owned)
    };
    let dry_run = options["dryRun"].as_array().into_iter().flatten();
    let dry_run: Vec<&str> = dry_run.filter_map(Value::as_str).collect();
    let policy = options["propagationPolicy"].as_str();
    let propagation = propagation(policy, options["orphanDependents"].as_bool());
    let errors: Vec<FieldError> = (propagation.as_ref().err().cloned().into_iter())
        .chain(check_dry_run(&dry_run))
        .collect();
    if !errors.is_empty() {
        return Err(ApiStatus::invalid_options("DeleteOptions", &errors));
    }
    Ok(DeleteOptions {
        uid: text("/preconditions/uid"),
        resource_version: text("/preconditions/resourceVersion"),
        propagation: propagation.unwrap_or_default(),
        dry_run: !dry_run.is_empty(),
    })
}

fn propagation(
    policy: Option<&str>,
    orphans: Option<bool>,
) -> Result<Option<Propagation>, FieldError> {
    Ok(match (policy, orphans) {
        (None, None) => None,
        (None, Some(true)) | (Some("Orphan"), None) => Some(Propagation::Orphan),
        (None, Some(false)) | (Some("Background"), None) => Some(Propagation::Background),
        (Some("Foreground"), None) => Some(Propagation::Foreground),
        (Some(given), Some(_)) => {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            let given = format!("{given:?}");
            return Err(FieldError::invalid("propagationPolicy", given, why));
        }
        (Some(other), None) => {
            let supported = ["Foreground", "Background", "Orphan", "nil"];
            let given = format!("{other:?}");
            return Err(FieldError::not_supported(
                "propagationPolicy",
                given,
                &supported,
            ));
        }
    })
}

/// The query, as the body that would say the same. Preconditions cannot be said in it.
fn options_query(call: &Call<'_>) -> Result<Value, ApiStatus> {
    let mut options = object!({"dryRun": call.query_values("dryRun")});
    if let Some(policy) = call.info.query("propagationPolicy") {
        options["propagationPolicy"] = policy.into();
    }
    if call.info.query("orphanDependents").is_some() {
        options["orphanDependents"] = call.info.flag("orphanDependents").into();
    }
    if let Some(seconds) = call.info.query("gracePeriodSeconds") {
        let refused = |()| ApiStatus::bad_request(strconv::refusal("ParseInt", seconds));
        let seconds: i64 = seconds.parse().map_err(|_| ()).map_err(refused)?;
        options["gracePeriodSeconds"] = seconds.into();
    }
    Ok(options)
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
