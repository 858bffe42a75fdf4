//! PUT and PATCH.

use http::StatusCode;
use serde_json::Value;

use super::{
    api::{Answer, json},
    call::Call,
    field_validation::{self, Twice, Warnings},
};
use crate::{
    lifecycle::{self, Part, Target, UidRule},
    patch::Patch,
    status::ApiStatus,
};

pub(super) fn put(call: &Call<'_>, part: Part) -> Answer {
    let view = call.view()?;
    let options = call.write_options("UpdateOptions")?;
    let mut warnings = Warnings::default();
    let mut value = call.object_body(&mut warnings)?;
    let shared = call.shared;
    let target = Target {
        id: call.served.id,
        key: call.key(),
        part,
        uid_rule: UidRule::Precondition,
    };
    let creates = part == Part::Main && call.kind.create_on_update;
    let written = shared.store.write(|state| {
        lifecycle::check_place(&target.key, &mut value)?;
        if creates && state.get(target.id, &target.key).is_none() {
            let uid = value["metadata"]["uid"].as_str().unwrap_or_default();
            if !uid.is_empty() {
                return Err(lifecycle::uid_conflict(call.kind, &target.key, uid, ""));
            }
            let mut value = value;
            if let Some(metadata) = value["metadata"].as_object_mut() {
                metadata.remove("resourceVersion");
            }
            let object = lifecycle::create(
                state,
                &shared.kinds,
                target.id,
                call.namespace(),
                value,
                &options,
            )?;
            return Ok((StatusCode::CREATED, object));
        }
        let object = lifecycle::update(state, &shared.kinds, &target, &options, |_| Ok(value))?;
        Ok((StatusCode::OK, object))
    });
    warnings.tell(
        call,
        written.map(|(code, object)| json(code, view.object(&object))),
    )
}

pub(super) fn patch(call: &Call<'_>, part: Part) -> Answer {
    let view = call.view()?;
    let built_in = call.expected().type_name().is_some();
    let patch = Patch::parse(&call.content_type(), call.body()?, built_in)?;
    let options = call.write_options("PatchOptions")?;
    let mut warnings = Warnings::default();
    let shared = call.shared;
    let target = Target {
        id: call.served.id,
        key: call.key(),
        part,
        uid_rule: UidRule::Immutable,
    };
    let object = shared.store.write(|state| {
        lifecycle::update(state, &shared.kinds, &target, &options, |old| {
            in_version(call, old, &patch, &mut warnings)
        })
    });
    warnings.tell(
        call,
        object.map(|object| json(StatusCode::OK, view.object(&object))),
    )
}

/// Patches an object in the version of the path.
fn in_version(
    call: &Call<'_>,
    old: &Value,
    patch: &Patch,
    warnings: &mut Warnings,
) -> Result<Value, ApiStatus> {
    let mut value = old.clone();
    if let Some(also) = call.served.also {
        (also.from_stored)(&mut value);
    }
    value["apiVersion"] = call.served.api_version().into();
    value["kind"] = call.kind.kind.into();
    let expected = call.expected();
    patch.apply(&mut value, expected.type_name())?;
    let shown = patch.shown(&value);
    expected
        .check_patched(&value)
        .and_then(|()| expected.conform(&mut value))
        .and_then(|()| {
            let twice = Twice::of_patch(call.body);
            field_validation::apply(call, expected.type_name(), &mut value, &twice, warnings)
        })
        .map_err(|why| ApiStatus::patch_makes_no_object(&shown, &why))?;
    if let Some(also) = call.served.also {
        (also.to_stored)(&mut value);
    }
    Ok(value)
}
