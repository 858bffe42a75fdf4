//! get, list and watch.

use std::sync::Arc;

use http::{HeaderValue, StatusCode};

use super::{
    api::{Answer, answer_with, json},
    call::Call,
    options::ListOptions,
};
use crate::{
    body::ApiBody,
    status::ApiStatus,
    store::Listing,
    watch::{WatchRequest, WatchSession, WatchStart},
};

pub(super) fn get(call: &Call<'_>) -> Answer {
    let view = call.view()?;
    let object = call
        .shared
        .store
        .read()
        .get(call.served.id, &call.key())
        .cloned();
    let object = object.ok_or_else(|| ApiStatus::not_found(call.kind, call.name()))?;
    Ok(json(StatusCode::OK, view.object(&object)))
}

pub(super) fn list(call: &Call<'_>) -> Answer {
    let view = call.view()?;
    let options = ListOptions::parse(call)?;
    let request = options.list_request()?;
    let listing = Listing::read(
        &call.shared.store.read(),
        call.served.id,
        &options.filter,
        &request,
    )?;
    let content_type = HeaderValue::from_static("application/json");
    Ok(answer_with(
        StatusCode::OK,
        content_type,
        view.list(listing),
    ))
}

pub(super) fn watch(call: &Call<'_>) -> Answer {
    let view = call.view()?;
    let options = ListOptions::parse(call)?;
    let config = &call.shared.config.watch;
    options.check_watch(config.streaming_lists)?;
    let request = WatchRequest {
        kind: call.served.id,
        start: watch_start(call, &options)?,
        filter: options.filter,
        bookmarks: options.bookmarks,
        timeout: options.timeout.unwrap_or(config.default_timeout),
    };
    let session = WatchSession::open(
        Arc::clone(&call.shared.store),
        request,
        view,
        config,
        call.shared.closed.clone(),
    );
    let content_type = HeaderValue::from_static("application/json");
    Ok(answer_with(
        StatusCode::OK,
        content_type,
        ApiBody::watch(session.into_stream()),
    ))
}

fn watch_start(call: &Call<'_>, options: &ListOptions) -> Result<WatchStart, ApiStatus> {
    let given = options.resource_version.as_str();
    let revision: u64 = match given {
        "" => 0,
        given => given.parse().map_err(|_| {
            // Not classified by the real server either.
            ApiStatus::internal(format!(
                "resourceVersion: Invalid value: {given:?}: strconv.ParseUint: parsing {given:?}: invalid syntax"
            ))
        })?,
    };
    match options.send_initial_events {
        Some(true) => {
            let now = call.shared.store.read().revision();
            if revision > now {
                return Ok(WatchStart::TooNew {
                    asked: revision,
                    now,
                });
            }
            Ok(WatchStart::InitialEvents {
                end_bookmark: options.bookmarks,
            })
        }
        // A server with streaming lists turns them on for every watch from nowhere that takes bookmarks.
        None if revision == 0 => Ok(WatchStart::InitialEvents {
            end_bookmark: options.bookmarks && call.shared.config.watch.streaming_lists,
        }),
        Some(false) if revision == 0 => Ok(WatchStart::Now),
        _ => Ok(WatchStart::After(revision)),
    }
}
