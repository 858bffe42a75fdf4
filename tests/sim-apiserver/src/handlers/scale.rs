//! The `scale` subresource, in the shape of autoscaling/v1.

use std::sync::Arc;

use faults::Verb;
use http::StatusCode;
use serde_json::{Value, json as object};

use super::{
    api::{Answer, json},
    call::Call,
    expected::Expected,
    field_validation::{self, Twice, Warnings},
    read,
};
use crate::{
    kinds::{Kinds, selector_text},
    lifecycle::{self, Part, Target, UidRule, WriteOptions},
    patch::Patch,
    status::{ApiStatus, FieldError},
    store::Object,
    view::View,
};

pub(super) fn answer(call: &Call<'_>) -> Answer {
    let mut warnings = Warnings::default();
    let (kind, served) = Kinds::scale(call.served.id);
    let include = call.info.query("includeObject");
    let view = View::negotiate(kind, served, call.headers, include)?;
    let show = |stored: &Object| {
        let scale = Object::encode(scale_of(&stored.value()), stored.revision);
        json(StatusCode::OK, view.object(&scale))
    };
    match call.info.verb {
        Verb::Get => Ok(show(&*read::stored(call)?)),
        Verb::Update => {
            let options = call.write_options("UpdateOptions")?;
            let mut body = call.typed_body(&Expected::SCALE, &mut warnings)?;
            lifecycle::check_place(&call.key(), &mut body)?;
            let replaced = write(call, &options, UidRule::Precondition, |_| Ok(body));
            warnings.tell(call, replaced.map(|replaced| show(&replaced)))
        }
        Verb::Patch => {
            let patch = Patch::parse(&call.content_type(), call.body()?, true)?;
            let twice = Twice::of_patch(call.body);
            let options = call.write_options("PatchOptions")?;
            let patched = write(call, &options, UidRule::Immutable, |mut scale| {
                patch.apply(&mut scale, Expected::SCALE.type_name())?;
                let shown = patch.shown(&scale);
                Expected::SCALE
                    .conform(&mut scale)
                    .and_then(|()| {
                        let kind = Expected::SCALE.type_name();
                        field_validation::apply(call, kind, &mut scale, &twice, &mut warnings)
                    })
                    .map_err(|why| ApiStatus::patch_makes_no_object(&shown, &why))?;
                lifecycle::check_place(&call.key(), &mut scale)?;
                Ok(scale)
            });
            warnings.tell(call, patched.map(|patched| show(&patched)))
        }
        _ => Err(ApiStatus::method_not_allowed()),
    }
}

fn write(
    call: &Call<'_>,
    options: &WriteOptions,
    uid_rule: UidRule,
    change: impl FnOnce(Value) -> Result<Value, ApiStatus>,
) -> Result<Arc<Object>, ApiStatus> {
    let shared = call.shared;
    let target = Target {
        id: call.served.id,
        key: call.key(),
        part: Part::Scale,
        uid_rule,
    };
    shared.store.write(|state| {
        lifecycle::update(state, &shared.kinds, &target, options, |old| {
            let scale = change(scale_of(old))?;
            apply_scale(call, uid_rule, &scale, old)
        })
    })
}

/// The object with the replicas, and the resourceVersion, of a Scale.
fn apply_scale(
    call: &Call<'_>,
    uid_rule: UidRule,
    scale: &Value,
    old: &Value,
) -> Result<Value, ApiStatus> {
    let name = call.name();
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
    if replicas < 0 {
        let error = FieldError::invalid(
            "spec.replicas",
            replicas,
            "must be greater than or equal to 0",
        );
        return Err(ApiStatus::invalid("autoscaling", "Scale", name, &[error]));
    }
    let uid = scale["metadata"]["uid"].as_str().unwrap_or_default();
    let found = old["metadata"]["uid"].as_str().unwrap_or_default();
    if !uid.is_empty() && uid != found {
        if uid_rule == UidRule::Precondition {
            return Err(lifecycle::uid_conflict(call.kind, &call.key(), uid, found));
        }
        // The real server has this one from the subresource itself, and names it so.
        let resource = format!("{}/scale", call.kind.plural);
        let why =
            format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {found}");
        let details = call.kind.details_of(&resource, name);
        return Err(ApiStatus::conflict(
            &call.kind.qualified(&resource),
            details,
            name,
            &why,
        ));
    }
    let mut new = old.clone();
    new["spec"]["replicas"] = replicas.into();
    new["metadata"]["resourceVersion"] = scale["metadata"]["resourceVersion"].clone();
    Ok(new)
}

fn scale_of(stored: &Value) -> Value {
    let metadata = &stored["metadata"];
    let mut scale = object!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {},
        "spec": {},
        "status": {"replicas": stored["status"]["replicas"].as_i64().unwrap_or(0)},
    });
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        if !metadata[field].is_null() {
            scale["metadata"][field] = metadata[field].clone();
        }
    }
    // `omitempty`: the real server leaves a zero out.
    let replicas = stored["spec"]["replicas"].as_i64().unwrap_or(1);
    if replicas != 0 {
        scale["spec"]["replicas"] = replicas.into();
    }
    let selector = selector_text(&stored["spec"]["selector"]);
    if !selector.is_empty() {
        scale["status"]["selector"] = selector.into();
    }
    scale
}
