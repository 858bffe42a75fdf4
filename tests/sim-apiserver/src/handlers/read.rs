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
    config::StreamingLists,
    status::ApiStatus,
    store::{Listing, Object},
    strconv,
    watch::{WatchRequest, WatchSession, WatchStart},
};

pub(super) fn get(call: &Call<'_>) -> Answer {
    if call
        .info
        .query("export")
        .is_some_and(|given| !given.is_empty())
    {
        let why = "the export parameter, deprecated since v1.14, is no longer supported";
        return Err(ApiStatus::bad_request(why));
    }
    let view = call.view()?.of_one()?;
    Ok(json(StatusCode::OK, view.object(&*stored(call)?)))
}

/// The object that a get is about, as the endpoint that is asked has seen it.
pub(super) fn stored(call: &Call<'_>) -> Result<Arc<Object>, ApiStatus> {
    let asked = parse_revision(call.info.query("resourceVersion").unwrap_or_default())?;
    let object = {
        let state = call.shared.store.read();
        let now = call.as_of.newest(state.revision());
        if asked > now {
            return Err(ApiStatus::too_large_resource_version(asked, now));
        }
        state.get_as_of(call.served.id, &call.key(), call.as_of)
    };
    object
        .map_err(|gone| ApiStatus::too_old_for_watch(gone.asked, gone.oldest))?
        .ok_or_else(|| ApiStatus::not_found(call.kind, call.name()))
}

pub(super) fn list(call: &Call<'_>) -> Answer {
    let view = call.view()?.of_list()?;
    let options = ListOptions::parse(call)?;
    let request = options.list_request(call.as_of)?;
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
    let mut options = ListOptions::parse(call)?;
    let config = &call.shared.config.watch;
    match config.streaming_lists {
        StreamingLists::Served => options.check_watch(true)?,
        StreamingLists::Refused => options.check_watch(false)?,
        StreamingLists::Ignored => options.forget_streaming(),
    }
    let request = WatchRequest {
        kind: call.served.id,
        start: watch_start(call, &options)?,
        filter: options.filter,
        bookmarks: options.bookmarks,
        timeout: options.timeout.unwrap_or(config.default_timeout),
        as_of: call.as_of,
    };
    let session = WatchSession::open(&call.shared.store, request, view, config);
    let content_type = HeaderValue::from_static("application/json");
    Ok(answer_with(
        StatusCode::OK,
        content_type,
        ApiBody::watch(session.into_stream()),
    ))
}

fn watch_start(call: &Call<'_>, options: &ListOptions) -> Result<WatchStart, ApiStatus> {
    let revision = parse_revision(&options.resource_version)?;
    match options.send_initial_events {
        Some(true) => {
            let present = call.shared.store.read().revision();
            let now = call.as_of.newest(present);
            // Without a version it asks for what etcd has now, and waits until the endpoint has it too.
            let asked = match options.resource_version.is_empty() {
                true => present,
                false => revision,
            };
            if asked > now {
                return Ok(WatchStart::TooNew { asked, now });
            }
            Ok(WatchStart::InitialEvents {
                end_bookmark: options.bookmarks,
            })
        }
        // A server with streaming lists turns them on for every watch from nowhere that takes bookmarks.
        None if revision == 0 => Ok(WatchStart::InitialEvents {
            end_bookmark: options.bookmarks
                && call.shared.config.watch.streaming_lists == StreamingLists::Served,
        }),
        Some(false) if revision == 0 => Ok(WatchStart::Now),
        _ => Ok(WatchStart::After(revision)),
    }
}

/// Of a get or a watch; nothing given is 0.
fn parse_revision(given: &str) -> Result<u64, ApiStatus> {
    if given.is_empty() {
        return Ok(0);
    }
    given.parse().map_err(|_| {
        // Not classified by the real server either.
        let why = strconv::refusal("ParseUint", given);
        ApiStatus::internal(format!("resourceVersion: Invalid value: {given:?}: {why}"))
    })
}
