//! Who owns what.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    kinds::{KindId, Kinds},
    lifecycle::{self, Part, Target, UidRule, WriteOptions},
    store::{Key, Object, State},
};

/// The kinds that the stand-in works with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workload {
    pub(super) deployments: KindId,
    pub(super) replica_sets: KindId,
    pub(super) pods: KindId,
    pub(super) namespaces: KindId,
    pub(super) service_accounts: KindId,
    pub(super) nodes: KindId,
    pub(super) events: KindId,
}

const MANAGER: &str = "kube-controller-manager";

// === impl Workload ===

impl Workload {
    pub(super) fn of(kinds: &Kinds) -> Option<Self> {
        Some(Self {
            deployments: kinds.by_plural("deployments.apps")?,
            replica_sets: kinds.by_plural("replicasets.apps")?,
            pods: kinds.by_plural("pods")?,
            namespaces: kinds.by_plural("namespaces")?,
            service_accounts: kinds.by_plural("serviceaccounts")?,
            nodes: kinds.by_plural("nodes")?,
            events: kinds.by_plural("events")?,
        })
    }
}

/// The object at a path, unless it is being deleted.
pub(super) fn living(state: &State, kind: KindId, path: &str) -> Option<(Arc<Object>, Value)> {
    let object = state.table(kind).objects.get(path)?;
    let value = object.value();
    value["metadata"]["deletionTimestamp"]
        .is_null()
        .then(|| (Arc::clone(object), value))
}

/// The objects of a kind that name `uid` as their owner.
pub(super) fn owned(state: &State, kind: KindId, uid: &str) -> Vec<(Arc<Object>, Value)> {
    let dependents = state
        .dependents(uid)
        .into_iter()
        .filter(|(dependent, _)| *dependent == kind);
    dependents
        .filter_map(|(_, key)| state.get(kind, &key))
        .map(|object| (Arc::clone(object), object.value()))
        .collect()
}

pub(super) fn owner_reference(kinds: &Kinds, kind: KindId, owner: &Value) -> Value {
    let kind = kinds.get(kind);
    json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// Changes a part of an object; nothing happens if it is gone, or stays as it is.
pub(super) fn change(
    state: &mut State,
    kinds: &Kinds,
    id: KindId,
    key: &Key,
    part: Part,
    make: impl FnOnce(&mut Value),
) {
    let target = Target {
        id,
        key: key.clone(),
        part,
        uid_rule: UidRule::Immutable,
    };
    let options = write_options(kinds, id);
    // The object may be gone, and its namespace may be going: both end its workload's life.
    let _ = lifecycle::update(state, kinds, &target, &options, |old| {
        let mut new = old.clone();
        make(&mut new);
        Ok(new)
    });
}

pub(super) fn write_options(kinds: &Kinds, id: KindId) -> WriteOptions {
    WriteOptions {
        dry_run: false,
        manager: MANAGER.to_owned(),
        api_version: kinds.get(id).api_version(),
    }
}

/// A condition list with one entry set; its transition time moves only when its status does. Says whether
/// anything about it changed.
pub(super) fn set_condition(
    conditions: &mut Value,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
) -> bool {
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let list = conditions.as_array_mut();
    let list = list.expect("invariant: it was just made one");
    let at = list.iter().position(|condition| condition["type"] == kind);
    let at = at.unwrap_or_else(|| {
        list.push(json!({"type": kind}));
        list.len() - 1
    });
    let condition = &mut list[at];
    let before = condition.clone();
    if before["status"] != status {
        condition["status"] = status.into();
        condition["lastTransitionTime"] = lifecycle::timestamp().into();
    }
    for (field, text) in [("reason", reason), ("message", message)] {
        if !text.is_empty() {
            condition[field] = text.into();
        } else if let Some(fields) = condition.as_object_mut() {
            fields.remove(field);
        }
    }
    *condition != before
}

/// Writes numbers as the real server encodes them: a zero is left out.
pub(super) fn set_counts(status: &mut Value, counts: &[(&str, i64)]) {
    for (field, count) in counts {
        if *count != 0 {
            status[*field] = (*count).into();
        } else if let Some(fields) = status.as_object_mut() {
            fields.remove(*field);
        }
    }
}

pub(super) fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}
