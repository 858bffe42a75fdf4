//! Changing an object that exists.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    WriteOptions, garbage, managed_fields,
    metadata::{
        bump_generation, finalizers, is_being_deleted, normalise, restore_system_fields,
        spec_differs,
    },
    service,
};
use crate::{
    kinds::{Kind, KindId, Kinds, check_finalizers, check_metadata},
    status::{ApiStatus, FieldError},
    store::{Key, Object, State},
};

/// Which object, and which part of it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) id: KindId,
    pub(crate) key: Key,
    pub(crate) part: Part,
    pub(crate) uid_rule: UidRule,
}

/// The part of an object that a path writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The object; its status stays, if it has a status subresource.
    Main,
    /// The status; everything else stays.
    Status,
    /// `spec.replicas`, through the `scale` subresource.
    Scale,
}

/// What another uid in the body means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UidRule {
    /// A precondition that does not hold: 409. So it is for PUT.
    Precondition,
    /// An attempt to change a field that cannot be changed: 422. So it is for PATCH.
    Immutable,
}

const IMMUTABLE: &str = "field is immutable";

/// Changes an object; `make` turns the present state into the wanted one.
///
/// A write that changes nothing stores nothing.
pub(crate) fn update(
    state: &mut State,
    kinds: &Kinds,
    target: &Target,
    options: &WriteOptions,
    make: impl FnOnce(&Value) -> Result<Value, ApiStatus>,
) -> Result<Arc<Object>, ApiStatus> {
    let kind = kinds.get(target.id);
    let name = target.key.name();
    let existing = Arc::clone(
        state
            .get(target.id, &target.key)
            .ok_or_else(|| ApiStatus::not_found(kind, name))?,
    );
    let old = existing.value();
    let mut new = make(&old)?;
    check_place(&target.key, &mut new)?;
    let mut immutable = check_preconditions(kind, target, &old, &new)?;
    immutable.extend(deletion_set_by_hand(&old, &new));
    let mut errors = Vec::new();
    let forget_managers = managed_fields::are_reset(&new);

    restore_system_fields(&mut new, &old);
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
    normalise(&mut new);
    match target.part {
        Part::Main | Part::Scale if kind.status => keep(&mut new, &old, "status"),
        Part::Main | Part::Scale => {}
        Part::Status => {
            let (status, metadata) = (new["status"].take(), new["metadata"].take());
            new = old.clone();
            new["metadata"] = metadata_with_status(kind, metadata, &old);
            new["status"] = if status.is_null() { json!({}) } else { status };
            if let Some(conditions) = new["status"].get_mut("conditions") {
                complete_conditions(kind, conditions);
            }
            (kind.default_status)(&mut new);
            errors.extend((kind.validate_status)(&new, &old));
        }
    }
    if target.part != Part::Status {
        if kind.kind == "Service" {
            service::keep_allocated(&old, &mut new);
        }
        (kind.default)(&mut new);
    }
    immutable.extend(new_finalizers_during_deletion(&old, &new));
    errors.extend(check_finalizers(&new));
    let metadata = check_metadata(&new);
    let mut fields = Vec::new();
    if target.part != Part::Status {
        fields.extend(kind.errors(&options.api_version, &new, Some(&old)));
    }
    // The real server looks at metadata as an object's, as a change's, and once more with its kind.
    let change = [immutable, metadata.clone()].concat();
    let again = match kind.checked_again && target.part != Part::Status {
        true => [metadata.clone(), check_finalizers(&new)].concat(),
        false => Vec::new(),
    };
    errors.splice(0..0, metadata);
    errors.extend([change.clone(), change, again, fields].concat());
    if errors.is_empty() && kind.kind == "Service" && target.part == Part::Main {
        errors.extend(service::allocate(state, target.id, &mut new));
    }
    if !errors.is_empty() {
        return Err(ApiStatus::invalid(kind.group, kind.kind, name, &errors));
    }
    if forget_managers && let Some(metadata) = new["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    if new == old {
        return Ok(existing);
    }
    // Of a Deployment, the annotations count as well: its controller copies them to its ReplicaSets.
    let annotated = kind.kind == "Deployment"
        && old["metadata"]["annotations"] != new["metadata"]["annotations"];
    let counts = target.part != Part::Status && (spec_differs(&old, &new) || annotated);
    if kind.generation && counts {
        bump_generation(&mut new);
    }
    let subresource = match target.part {
        Part::Main => None,
        Part::Status => Some("status"),
        Part::Scale => Some("scale"),
    };
    if !forget_managers {
        let unowned: &[&str] = match target.part {
            Part::Main if kind.status => &["status"],
            _ => &[],
        };
        managed_fields::record(kind, &old, &mut new, options, subresource, unowned);
    }
    Ok(commit(
        state,
        kinds,
        target.id,
        &existing,
        new,
        options.dry_run,
    ))
}

/// Stores the new state, or takes the object out if its last finalizer went.
fn commit(
    state: &mut State,
    kinds: &Kinds,
    id: KindId,
    existing: &Arc<Object>,
    new: Value,
    dry_run: bool,
) -> Arc<Object> {
    let finalized =
        is_being_deleted(&new) && finalizers(&new).is_empty() && kinds.get(id).kind != "Namespace";
    if dry_run {
        return Arc::new(Object::encode(new, existing.revision));
    }
    if finalized {
        // The answer is the object as it was written, though it is gone.
        let last = Arc::new(Object::encode(new, existing.revision));
        garbage::remove(state, kinds, id, &existing.key);
        return last;
    }
    let stored = state.put(id, new);
    if stored.owners != existing.owners {
        garbage::release_owners(state, kinds, existing);
    }
    stored
}

/// An object's name and namespace are those of its path; the namespace may be left out.
pub(crate) fn check_place(key: &Key, new: &mut Value) -> Result<(), ApiStatus> {
    let text = |field: &str| new["metadata"][field].as_str().unwrap_or_default();
    match text("namespace") {
        "" => {}
        given if given == key.namespace() => {}
        _ => {
            return Err(ApiStatus::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    }
    let expected = key.name();
    match text("name") {
        "" => Err(ApiStatus::bad_request(format!(
            "the name of the object ({expected} based on URL) was undeterminable: name must be provided"
        ))),
        given if given != expected => Err(ApiStatus::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({expected})"
        ))),
        _ => {
            if !key.namespace().is_empty() {
                new["metadata"]["namespace"] = key.namespace().into();
            }
            Ok(())
        }
    }
}

/// What does not hold is a conflict; what cannot be changed is returned with the other field errors.
fn check_preconditions(
    kind: &Kind,
    target: &Target,
    old: &Value,
    new: &Value,
) -> Result<Vec<FieldError>, ApiStatus> {
    let name = target.key.name();
    let text = |value: &Value, field: &str| {
        value["metadata"][field]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let (old_uid, new_uid) = (text(old, "uid"), text(new, "uid"));
    let other_uid = !new_uid.is_empty() && new_uid != old_uid;
    if other_uid && target.uid_rule == UidRule::Precondition {
        return Err(uid_conflict(kind, &target.key, &new_uid, &old_uid));
    }
    match text(new, "resourceVersion") {
        revision if revision.is_empty() && kind.unconditional_update => {}
        revision if revision.is_empty() => {
            let error = FieldError::invalid(
                "metadata.resourceVersion",
                0,
                "must be specified for an update",
            );
            return Err(ApiStatus::invalid(kind.group, kind.plural, name, &[error]));
        }
        revision if revision.parse::<u64>().is_err() => {
            return Err(ApiStatus::internal(format!(
                "strconv.ParseUint: parsing {revision:?}: invalid syntax"
            )));
        }
        revision if revision != text(old, "resourceVersion") => {
            return Err(ApiStatus::modified(kind, name));
        }
        _ => {}
    }
    let immutable = || FieldError::invalid("metadata.uid", format!("{new_uid:?}"), IMMUTABLE);
    Ok(other_uid.then(immutable).into_iter().collect())
}

/// The real server's storage layer says it in its own words.
pub(crate) fn uid_conflict(kind: &Kind, key: &Key, wanted: &str, found: &str) -> ApiStatus {
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{}/{}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}",
        kind.plural,
        key.as_str()
    );
    ApiStatus::conflict(&kind.resource(), kind.details(key.name()), key.name(), &why)
}

/// Only a DELETE marks an object as being deleted. Who leaves the mark out keeps it.
fn deletion_set_by_hand(old: &Value, new: &Value) -> Vec<FieldError> {
    let changed = |field: &&str| {
        let (old, new) = (&old["metadata"][*field], &new["metadata"][*field]);
        !new.is_null() && new != old
    };
    if is_being_deleted(old) {
        // What is set stays, whatever is sent.
        return Vec::new();
    }
    let fields = ["deletionTimestamp", "deletionGracePeriodSeconds"];
    let changed = fields.iter().filter(|field| changed(field));
    changed
        .map(|field| {
            let given = &new["metadata"][*field];
            FieldError::invalid(format!("metadata.{field}"), given, IMMUTABLE)
        })
        .collect()
}

fn new_finalizers_during_deletion(old: &Value, new: &Value) -> Option<FieldError> {
    let before = finalizers(old);
    let added: Vec<String> = finalizers(new)
        .into_iter()
        .filter(|finalizer| !before.contains(finalizer))
        .collect();
    if !is_being_deleted(old) || added.is_empty() {
        return None;
    }
    let list = added
        .iter()
        .map(|finalizer| format!("{finalizer:?}"))
        .collect::<Vec<_>>()
        .join(", ");
    Some(FieldError::forbidden(
        "metadata.finalizers",
        format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"
        ),
    ))
}

/// What the metadata is after a write of the status: the real server leaves alone only what a kind's own code
/// puts back. A controller annotates by this without making a new generation.
fn metadata_with_status(kind: &Kind, mut new: Value, old: &Value) -> Value {
    let fixed: &[&str] = match kind.kind {
        _ if kind.is_custom() => return old["metadata"].clone(),
        "Deployment" => &["labels"],
        "Pod" => &["ownerReferences"],
        _ => &[],
    };
    for field in fixed {
        keep(&mut new, &old["metadata"], field);
    }
    new
}

/// Times that nobody has set are told as null.
fn complete_conditions(kind: &Kind, conditions: &mut Value) {
    for condition in conditions.as_array_mut().into_iter().flatten() {
        for time in kind.condition_times {
            if condition.is_object() && condition[*time].is_null() {
                condition[*time] = Value::Null;
            }
        }
    }
}

fn keep(new: &mut Value, old: &Value, field: &str) {
    if let Some(fields) = new.as_object_mut() {
        match &old[field] {
            Value::Null => fields.remove(field),
            value => fields.insert(field.to_owned(), value.clone()),
        };
    }
}
