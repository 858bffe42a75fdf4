//! POST.

use http::StatusCode;

use super::{
    api::{Answer, json},
    call::Call,
    field_validation::Warnings,
};
use crate::lifecycle;

pub(super) fn create(call: &Call<'_>) -> Answer {
    let view = call.view()?;
    let options = call.write_options("CreateOptions")?;
    let mut warnings = Warnings::default();
    let value = call.object_body(&mut warnings)?;
    let shared = call.shared;
    let object = shared.store.write(|state| {
        lifecycle::create(
            state,
            &shared.kinds,
            call.served.id,
            call.namespace(),
            value,
            &options,
        )
    });
    warnings.tell(
        call,
        object.map(|object| json(StatusCode::CREATED, view.object(&object))),
    )
}
