//! POST of what is answered and not stored.

use http::StatusCode;
use serde_json::json as object;

use super::{
    api::{Answer, json},
    call::Call,
    field_validation::Warnings,
};
use crate::status::ApiStatus;

pub(super) fn answer(call: &Call<'_>, decide: fn(&mut serde_json::Value)) -> Answer {
    // Nothing else is in the path of a review, so that it is no view but the object itself.
    call.view()?;
    call.write_options("CreateOptions")?;
    let mut warnings = Warnings::default();
    let mut review = call.object_body(&mut warnings)?;
    if review["metadata"].is_null() {
        review["metadata"] = object!({});
    }
    let errors = (call.kind.validate)(&review, None);
    if !errors.is_empty() {
        let kind = call.kind;
        // The real server names no kind here.
        return Err(ApiStatus::invalid(kind.group, "", "", &errors));
    }
    decide(&mut review);
    review["apiVersion"] = call.served.api_version().into();
    review["kind"] = call.kind.kind.into();
    warnings.tell(call, Ok(json(StatusCode::CREATED, review.to_string())))
}
