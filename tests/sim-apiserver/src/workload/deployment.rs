//! One Deployment → its ReplicaSets.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use serde_json::{Map, Value, json};

use super::{
    deployment_status::set_status,
    event::{self, Source},
    owner::{Workload, change, count, living, owned, owner_reference, write_options},
    rollout::{Size, Strategy},
};
use crate::{
    kinds::Kinds,
    lifecycle::{self, DeleteOptions, Part},
    store::{Object, State},
};

const REVISION: &str = "deployment.kubernetes.io/revision";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MOST: &str = "deployment.kubernetes.io/max-replicas";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
pub(super) const HASH: &str = "pod-template-hash";

/// A Deployment while it is looked at.
struct Rollout<'a> {
    state: &'a mut State,
    kinds: &'a Kinds,
    workload: &'a Workload,
    object: Arc<Object>,
    deployment: Value,
    hash: String,
    strategy: Strategy,
}

/// A ReplicaSet as it is stored, and decoded.
type Set = (Arc<Object>, Value);

pub(super) fn reconcile(state: &mut State, kinds: &Kinds, workload: &Workload, path: &str) {
    let Some((object, deployment)) = living(state, workload.deployments, path) else {
        return;
    };
    let hash = template_hash(&deployment["spec"]["template"]);
    let strategy = Strategy::of(&deployment);
    let mut rollout = Rollout {
        state,
        kinds,
        workload,
        object,
        deployment,
        hash,
        strategy,
    };
    if rollout.deployment["spec"]["paused"] == true {
        rollout.scale_as_it_is();
    } else {
        rollout.roll_out();
        rollout.forget_old_revisions();
    }
    let sets: Vec<Value> = rollout.sets().into_iter().map(|(_, set)| set).collect();
    let (key, hash) = (rollout.object.key.clone(), rollout.hash);
    change(
        state,
        kinds,
        workload.deployments,
        &key,
        Part::Status,
        |deployment| {
            set_status(deployment, &sets, &hash, &strategy);
        },
    );
}

// === impl Rollout ===

impl Rollout<'_> {
    fn sets(&self) -> Vec<Set> {
        owned(self.state, self.workload.replica_sets, &self.object.uid)
    }

    /// The ReplicaSet with the present template, and the others, the oldest first.
    fn split(&self) -> (Option<Set>, Vec<Set>) {
        let is_new = |set: &Value| set["metadata"]["labels"][HASH] == self.hash.as_str();
        let (mut new, mut old): (Vec<_>, Vec<_>) =
            self.sets().into_iter().partition(|(_, set)| is_new(set));
        old.sort_by_key(|(_, set)| revision_of(set));
        (new.pop(), old)
    }

    /// A paused Deployment is still scaled, as long as one ReplicaSet carries it.
    fn scale_as_it_is(&mut self) {
        let mut active = self.sets();
        active.retain(|(_, set)| count(&set["spec"]["replicas"]) > 0);
        if let [(object, set)] = active.as_slice() {
            self.scale(object, set, self.strategy.desired);
        }
    }

    fn roll_out(&mut self) {
        let (new, old) = self.split();
        let sizes: Vec<Size> = old.iter().map(|(_, set)| size_of(set)).collect();
        let newest = old
            .iter()
            .map(|(_, set)| revision_of(set))
            .max()
            .unwrap_or(0);
        let Some((object, set)) = new else {
            let size = self.strategy.next_new(Size::default(), &sizes);
            self.create(newest + 1, size);
            return;
        };
        // A template that comes back is a new revision.
        let revision = revision_of(&set).max(newest + 1);
        self.annotate(&object, revision);
        let before = size_of(&set);
        let next = self.strategy.next_new(before, &sizes);
        self.scale(&object, &set, next);
        let size = Size {
            wanted: next,
            ..before
        };
        let next_old = self.strategy.next_old(size, &sizes);
        for ((object, set), next) in old.iter().zip(next_old) {
            self.scale(object, set, next);
        }
    }

    fn create(&mut self, revision: i64, size: i64) {
        let set = self.replica_set(revision, size);
        let (kinds, id) = (self.kinds, self.workload.replica_sets);
        let options = write_options(kinds, id);
        let namespace = self.object.key.namespace();
        // A namespace that is going takes no new content.
        if let Ok(created) = lifecycle::create(self.state, kinds, id, namespace, set, &options) {
            self.tell_scaled(created.key.name(), 0, size);
            self.annotate(&created, revision);
        }
    }

    /// Keeps the annotations that a ReplicaSet has of its Deployment, and the revision of both.
    fn annotate(&mut self, set: &Object, revision: i64) {
        let mut annotations = self.own_annotations();
        annotations.insert(REVISION.to_owned(), revision.to_string().into());
        let id = self.workload.replica_sets;
        change(self.state, self.kinds, id, &set.key, Part::Main, |set| {
            for (key, value) in annotations {
                set["metadata"]["annotations"][key] = value;
            }
        });
        let (id, key) = (self.workload.deployments, self.object.key.clone());
        // With the status: otherwise it would be a new generation.
        change(
            self.state,
            self.kinds,
            id,
            &key,
            Part::Status,
            |deployment| {
                deployment["metadata"]["annotations"][REVISION] = revision.to_string().into();
            },
        );
    }

    /// What a ReplicaSet takes over, such as the cause of a change.
    fn own_annotations(&self) -> Map<String, Value> {
        let mut annotations = Map::new();
        let own = self.deployment["metadata"]["annotations"].as_object();
        for (key, value) in own.into_iter().flatten() {
            if ![REVISION, DESIRED, MOST, LAST_APPLIED].contains(&key.as_str()) {
                annotations.insert(key.clone(), value.clone());
            }
        }
        annotations
    }

    fn scale(&mut self, object: &Object, set: &Value, replicas: i64) {
        let before = count(&set["spec"]["replicas"]);
        let (desired, most) = (self.strategy.desired, self.strategy.most());
        let id = self.workload.replica_sets;
        change(self.state, self.kinds, id, &object.key, Part::Main, |set| {
            set["spec"]["replicas"] = replicas.into();
            let annotations = &mut set["metadata"]["annotations"];
            annotations[DESIRED] = desired.to_string().into();
            annotations[MOST] = most.to_string().into();
        });
        if before != replicas {
            self.tell_scaled(object.key.name(), before, replicas);
        }
    }

    fn tell_scaled(&mut self, set: &str, from: i64, to: i64) {
        if from == to {
            return;
        }
        let direction = if to > from { "up" } else { "down" };
        let message = format!("Scaled {direction} replica set {set} from {from} to {to}");
        event::record(
            self.state,
            self.kinds,
            self.workload,
            (self.workload.deployments, &self.deployment),
            Source::Deployment,
            ("ScalingReplicaSet", &message),
        );
    }

    /// Deletes what nobody can go back to any more.
    fn forget_old_revisions(&mut self) {
        let (_, mut old) = self.split();
        old.retain(|(_, set)| size_of(set) == Size::default());
        let limit = count(&self.deployment["spec"]["revisionHistoryLimit"]);
        let surplus = old
            .len()
            .saturating_sub(usize::try_from(limit).unwrap_or(0));
        for (object, _) in &old[..surplus] {
            let id = self.workload.replica_sets;
            let options = DeleteOptions::default();
            // It was there a moment ago, under the same lock.
            let _ = lifecycle::delete(self.state, self.kinds, id, &object.key, &options);
        }
    }

    fn replica_set(&self, revision: i64, size: i64) -> Value {
        let spec = &self.deployment["spec"];
        let mut template = spec["template"].clone();
        template["metadata"]["labels"][HASH] = self.hash.as_str().into();
        let mut selector = spec["selector"].clone();
        selector["matchLabels"][HASH] = self.hash.as_str().into();
        let name = self.object.key.name();
        let mut annotations = self.own_annotations();
        for (key, number) in [
            (REVISION, revision),
            (DESIRED, self.strategy.desired),
            (MOST, self.strategy.most()),
        ] {
            annotations.insert(key.to_owned(), number.to_string().into());
        }
        let owner = owner_reference(self.kinds, self.workload.deployments, &self.deployment);
        json!({
            "metadata": {
                "name": format!("{name}-{}", self.hash),
                "labels": template["metadata"]["labels"],
                "annotations": annotations,
                "ownerReferences": [owner],
            },
            "spec": {
                "replicas": size,
                "minReadySeconds": spec["minReadySeconds"],
                "selector": selector,
                "template": template,
            },
        })
    }
}

fn size_of(set: &Value) -> Size {
    Size {
        wanted: count(&set["spec"]["replicas"]),
        there: count(&set["status"]["replicas"]),
        available: count(&set["status"]["availableReplicas"]),
    }
}

fn revision_of(object: &Value) -> i64 {
    object["metadata"]["annotations"][REVISION]
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// A name for a template: the same for the same template, within one run.
fn template_hash(template: &Value) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hasher = DefaultHasher::new();
    template.to_string().hash(&mut hasher);
    let mut rest = hasher.finish();
    let base = ALPHABET.len() as u64;
    (0..10)
        .map(|_| {
            let digit = usize::try_from(rest % base).unwrap_or(0);
            rest /= base;
            char::from(ALPHABET[digit])
        })
        .collect()
}
