//! Deleting an object.

use std::sync::Arc;

use serde_json::json;

use super::{
    garbage,
    metadata::{finalizers, is_being_deleted, mark_deleted, set_finalizers},
};
use crate::{
    kinds::{Kind, KindId, Kinds},
    status::ApiStatus,
    store::{Key, Object, State},
};

pub(super) const FOREGROUND: &str = "foregroundDeletion";
pub(super) const ORPHAN: &str = "orphan";

/// The options of a deletion.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) propagation: Option<Propagation>,
    pub(crate) dry_run: bool,
}

/// What becomes of the objects that the deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay, without an owner.
    Orphan,
}

/// What became of the object.
#[derive(Debug)]
pub(crate) enum Deleted {
    /// It is gone.
    Gone(Arc<Object>),
    /// It waits for its finalizers.
    Pending(Arc<Object>),
}

/// Deletes an object, or marks it if something must happen first.
pub(crate) fn delete(
    state: &mut State,
    kinds: &Kinds,
    id: KindId,
    key: &Key,
    options: &DeleteOptions,
) -> Result<Deleted, ApiStatus> {
    let kind = kinds.get(id);
    let object = Arc::clone(
        state
            .get(id, key)
            .ok_or_else(|| ApiStatus::not_found(kind, key.name()))?,
    );
    check_preconditions(kind, &object, options)?;
    if kind.kind == "Namespace" {
        return Ok(delete_namespace(state, kinds, id, &object, options.dry_run));
    }
    let mut value = object.value();
    let wanted = finalizers_for(&finalizers(&value), options.propagation);
    if wanted.is_empty() {
        let last = match options.dry_run {
            true => object,
            false => garbage::remove(state, kinds, id, key).unwrap_or(object),
        };
        if kind.kind == "Pod" {
            // A kubelet has ended it: nobody is left to wait for.
            mark_deleted(&mut value);
            value["metadata"]["resourceVersion"] = last.revision.to_string().into();
            return Ok(Deleted::Gone(Arc::new(Object::encode(
                value,
                last.revision,
            ))));
        }
        return Ok(Deleted::Gone(last));
    }
    set_finalizers(&mut value, &wanted);
    mark_deleted(&mut value);
    if options.dry_run {
        return Ok(Deleted::Pending(Arc::new(Object::encode(
            value,
            object.revision,
        ))));
    }
    let marked = if value == object.value() {
        object
    } else {
        state.put(id, value)
    };
    if wanted.iter().any(|finalizer| finalizer == ORPHAN) {
        garbage::orphan_dependents(state, &marked);
        garbage::drop_finalizer(state, kinds, id, key, ORPHAN);
    }
    if wanted.iter().any(|finalizer| finalizer == FOREGROUND) {
        garbage::delete_dependents_first(state, kinds, &marked);
    }
    // Even if it is gone by now: the real server's garbage collector would only now begin.
    Ok(Deleted::Pending(marked))
}

fn check_preconditions(
    kind: &Kind,
    object: &Object,
    options: &DeleteOptions,
) -> Result<(), ApiStatus> {
    let name = object.key.name();
    if kind.kind == "Namespace" {
        return check_namespace_preconditions(kind, object, options);
    }
    // The real server names the kind here, not the resource.
    let conflict = |why: &str| {
        Err(ApiStatus::conflict(
            &kind.qualified(kind.kind),
            kind.details_of(kind.kind, name),
            name,
            why,
        ))
    };
    if let Some(uid) = options.uid.as_deref().filter(|uid| **uid != *object.uid) {
        return conflict(&format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            object.uid
        ));
    }
    let revision = object.revision.to_string();
    if let Some(wanted) = options
        .resource_version
        .as_deref()
        .filter(|wanted| *wanted != revision)
    {
        return conflict(&format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
             ({revision}). The object might have been modified"
        ));
    }
    Ok(())
}

/// The real server deletes Namespaces by code of their own, which has words of its own.
fn check_namespace_preconditions(
    kind: &Kind,
    object: &Object,
    options: &DeleteOptions,
) -> Result<(), ApiStatus> {
    let revision = object.revision.to_string();
    let checks = [
        ("UID", &options.uid, &*object.uid),
        ("ResourceVersion", &options.resource_version, &revision),
    ];
    for (field, wanted, found) in checks {
        let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != found) else {
            continue;
        };
        let why = format!(
            "Precondition failed: {field} in precondition: {wanted}, {field} in object meta: {found}"
        );
        let name = object.key.name();
        let details = kind.details(name);
        return Err(ApiStatus::conflict(&kind.resource(), details, name, &why));
    }
    Ok(())
}

fn finalizers_for(present: &[String], propagation: Option<Propagation>) -> Vec<String> {
    let own = |finalizer: &str| finalizer == FOREGROUND || finalizer == ORPHAN;
    let mut wanted: Vec<String> = match propagation {
        None => return present.to_vec(),
        Some(_) => present
            .iter()
            .filter(|finalizer| !own(finalizer))
            .cloned()
            .collect(),
    };
    match propagation {
        Some(Propagation::Foreground) => wanted.push(FOREGROUND.to_owned()),
        Some(Propagation::Orphan) => wanted.push(ORPHAN.to_owned()),
        Some(Propagation::Background) | None => {}
    }
    wanted
}

fn delete_namespace(
    state: &mut State,
    kinds: &Kinds,
    id: KindId,
    object: &Arc<Object>,
    dry_run: bool,
) -> Deleted {
    let mut value = object.value();
    let fresh = !is_being_deleted(&value);
    mark_deleted(&mut value);
    if let Some(metadata) = value["metadata"].as_object_mut() {
        // Namespaces know no grace.
        metadata.remove("deletionGracePeriodSeconds");
    }
    value["status"]["phase"] = json!("Terminating");
    if dry_run {
        return Deleted::Pending(Arc::new(Object::encode(value, object.revision)));
    }
    let marked = if fresh {
        state.put(id, value)
    } else {
        Arc::clone(object)
    };
    garbage::empty_namespace(state, kinds, object.key.name());
    Deleted::Pending(marked)
}
