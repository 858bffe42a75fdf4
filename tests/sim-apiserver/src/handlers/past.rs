//! What a fault rule asks of the server itself: an answer out of its past, or a return to it.

use bytes::Bytes;
use faults::{Past, ServerFaults};
use http::Request;

use super::api::Shared;
use crate::{
    status::ApiStatus,
    store::{AsOf, State},
};

/// Restores the server if the request is to find it restored, and says which state answers it.
pub(super) fn carry_out(shared: &Shared, request: &Request<Bytes>) -> Result<AsOf, ApiStatus> {
    let Some(faults) = request.extensions().get::<ServerFaults>() else {
        return Ok(AsOf::Present);
    };
    if let Some(past) = faults.restore {
        let restored = shared.store.write(|state| {
            let revision = revision(past, state);
            state.restore(revision)
        });
        restored.map_err(|error| ApiStatus::internal(format!("a fault rule: {error}")))?;
    }
    Ok(match faults.answer_from {
        None => AsOf::Present,
        Some(past) => AsOf::Revision(revision(past, &shared.store.read())),
    })
}

fn revision(past: Past, state: &State) -> u64 {
    match past {
        Past::Revision(revision) => revision,
        Past::Behind(revisions) => state.revision().saturating_sub(revisions).max(1),
    }
}
