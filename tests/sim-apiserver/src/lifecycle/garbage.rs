//! What follows a deletion: the work of the garbage collector and of the namespace controller.

use std::sync::Arc;

use serde_json::Value;

use super::{
    delete::{DeleteOptions, FOREGROUND, Propagation, delete},
    metadata::{finalizers, is_being_deleted, set_finalizers},
};
use crate::{
    kinds::{KindId, Kinds},
    store::{Key, Object, State},
};

/// Takes an object out and lets everything follow that follows from it; returns its last state.
pub(crate) fn remove(
    state: &mut State,
    kinds: &Kinds,
    id: KindId,
    key: &Key,
) -> Option<Arc<Object>> {
    let last = state.remove(id, key)?;
    collect_dependents(state, kinds, &last);
    release_owners(state, kinds, &last);
    finish_namespace(state, kinds, last.key.namespace());
    Some(last)
}

/// An object's owners may have waited for it.
pub(crate) fn release_owners(state: &mut State, kinds: &Kinds, object: &Object) {
    for uid in &object.owners {
        if let Some((id, key)) = state.by_uid(uid) {
            release(state, kinds, id, &key);
        }
    }
}

/// Deletes what `owner` owns, and then `owner`, once nothing holds it.
pub(super) fn delete_dependents_first(state: &mut State, kinds: &Kinds, owner: &Object) {
    for (id, key) in state.dependents(&owner.uid) {
        // What owns nothing has nothing to wait for.
        let waits = state
            .get(id, &key)
            .is_some_and(|object| !state.dependents(&object.uid).is_empty());
        let propagation = if waits {
            Propagation::Foreground
        } else {
            Propagation::Background
        };
        let options = DeleteOptions {
            propagation: Some(propagation),
            ..DeleteOptions::default()
        };
        // One may be gone already, with another's.
        let _ = delete(state, kinds, id, &key, &options);
    }
    if let Some((id, key)) = state.by_uid(&owner.uid) {
        release(state, kinds, id, &key);
    }
}

/// Takes `owner` out of the owner references of what it owns.
pub(super) fn orphan_dependents(state: &mut State, owner: &Object) {
    for (id, key) in state.dependents(&owner.uid) {
        drop_owner(state, id, &key, &owner.uid);
    }
}

/// Removes a finalizer; the object goes if it was the last.
pub(super) fn drop_finalizer(
    state: &mut State,
    kinds: &Kinds,
    id: KindId,
    key: &Key,
    finalizer: &str,
) {
    let Some(object) = state.get(id, key) else {
        return;
    };
    let mut value = object.value();
    let left: Vec<String> = finalizers(&value)
        .into_iter()
        .filter(|name| name != finalizer)
        .collect();
    if left.is_empty() && is_being_deleted(&value) {
        remove(state, kinds, id, key);
    } else {
        set_finalizers(&mut value, &left);
        state.put(id, value);
    }
}

/// Deletes everything in a namespace that is being deleted.
pub(super) fn empty_namespace(state: &mut State, kinds: &Kinds, namespace: &str) {
    for id in kinds.ids().filter(|id| kinds.get(*id).namespaced) {
        let keys: Vec<Key> = state
            .table(id)
            .range(Some(namespace), None)
            .map(|object| object.key.clone())
            .collect();
        for key in keys {
            // One may be gone already, with its owner.
            let _ = delete(state, kinds, id, &key, &DeleteOptions::default());
        }
    }
    finish_namespace(state, kinds, namespace);
}

/// Lets an owner go that waits only for its dependents, if none that blocks it is left.
fn release(state: &mut State, kinds: &Kinds, id: KindId, key: &Key) {
    let Some(owner) = state.get(id, key) else {
        return;
    };
    let value = owner.value();
    if !is_being_deleted(&value)
        || !finalizers(&value)
            .iter()
            .any(|finalizer| finalizer == FOREGROUND)
    {
        return;
    }
    let blocked = state.dependents(&owner.uid).iter().any(|(id, key)| {
        state
            .get(*id, key)
            .is_some_and(|dependent| blocks(&dependent.value(), &owner.uid))
    });
    if !blocked {
        drop_finalizer(state, kinds, id, key, FOREGROUND);
    }
}

fn collect_dependents(state: &mut State, kinds: &Kinds, owner: &Object) {
    for (id, key) in state.dependents(&owner.uid) {
        let Some(dependent) = state.get(id, &key) else {
            continue;
        };
        let others = dependent
            .owners
            .iter()
            .any(|uid| **uid != *owner.uid && state.by_uid(uid).is_some());
        if others {
            drop_owner(state, id, &key, &owner.uid);
        } else {
            let options = DeleteOptions {
                propagation: Some(Propagation::Background),
                ..DeleteOptions::default()
            };
            // One may be gone already, with another's.
            let _ = delete(state, kinds, id, &key, &options);
        }
    }
}

fn drop_owner(state: &mut State, id: KindId, key: &Key, uid: &str) {
    let Some(object) = state.get(id, key) else {
        return;
    };
    let mut value = object.value();
    if let Some(owners) = value["metadata"]["ownerReferences"].as_array_mut() {
        owners.retain(|owner| owner["uid"] != uid);
        state.put(id, value);
    }
}

fn finish_namespace(state: &mut State, kinds: &Kinds, namespace: &str) {
    let Some(namespaces) = kinds.by_plural("namespaces") else {
        return;
    };
    let key = Key::new("", namespace);
    let Some(object) = state
        .get(namespaces, &key)
        .filter(|object| is_being_deleted(&object.value()))
    else {
        return;
    };
    let waits = !finalizers(&object.value()).is_empty();
    let full = kinds
        .ids()
        .filter(|id| kinds.get(*id).namespaced)
        .any(|id| {
            state
                .table(id)
                .range(Some(namespace), None)
                .next()
                .is_some()
        });
    if !full && !waits {
        remove(state, kinds, namespaces, &key);
    }
}

fn blocks(dependent: &Value, owner: &str) -> bool {
    let owners = dependent["metadata"]["ownerReferences"]
        .as_array()
        .into_iter()
        .flatten();
    owners
        .into_iter()
        .any(|reference| reference["uid"] == owner && reference["blockOwnerDeletion"] == true)
}
