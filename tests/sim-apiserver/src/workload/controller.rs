//! The loop: what changed, what is due, who looks at it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{deployment, node, owner::Workload, pod, replica_set, service_account};
use crate::{
    config::WorkloadConfig,
    handlers::Shared,
    kinds::KindId,
    store::{Change, Key, State},
};

/// Runs until the server closes.
pub(crate) async fn run(shared: Arc<Shared>, config: WorkloadConfig) {
    let Some(workload) = Workload::of(&shared.kinds) else {
        return;
    };
    shared
        .store
        .write(|state| node::create(state, &shared.kinds, &workload));
    let mut changed = shared.store.subscribe();
    let mut controller = Controller::new(workload, config);
    loop {
        changed.borrow_and_update();
        controller.read_changes(&shared.store.read());
        if controller.work(&shared) {
            // What it wrote may be work again; others come first.
            tokio::task::yield_now().await;
            continue;
        }
        let due = controller.due();
        tokio::select! {
            () = shared.closed.cancelled() => return,
            () = until(due) => {}
            _ = wait(&mut changed) => {}
        }
    }
}

struct Controller {
    workload: Workload,
    config: WorkloadConfig,
    /// The positions in the histories of the kinds, in their order.
    positions: Option<[u64; 5]>,
    namespaces: BTreeSet<String>,
    deployments: BTreeSet<String>,
    replica_sets: BTreeSet<String>,
    /// Pods that are to become Ready, and when.
    starting: BTreeMap<String, Instant>,
}

// === impl Controller ===

impl Controller {
    fn new(workload: Workload, config: WorkloadConfig) -> Self {
        Self {
            workload,
            config,
            positions: None,
            namespaces: BTreeSet::new(),
            deployments: BTreeSet::new(),
            replica_sets: BTreeSet::new(),
            starting: BTreeMap::new(),
        }
    }

    fn kinds(&self) -> [KindId; 5] {
        [
            self.workload.namespaces,
            self.workload.service_accounts,
            self.workload.deployments,
            self.workload.replica_sets,
            self.workload.pods,
        ]
    }

    /// Notes every object that changed since the last call, and whom its change concerns.
    fn read_changes(&mut self, state: &State) {
        let kinds = self.kinds();
        let ends = kinds.map(|kind| state.table(kind).history.end());
        let positions = self.positions.replace(ends);
        for (index, kind) in kinds.into_iter().enumerate() {
            let table = state.table(kind);
            let changes =
                positions.and_then(|positions| table.history.since(positions[index], usize::MAX));
            match changes {
                Some(changes) => changes
                    .iter()
                    .for_each(|change| self.note(state, kind, change)),
                // The first time, or too far behind: look at everything.
                None => table
                    .range(None, None)
                    .for_each(|object| self.note_key(kind, &object.key)),
            }
        }
    }

    fn note(&mut self, state: &State, kind: KindId, change: &Change) {
        // A Pod starts once, when it is new.
        let starts = kind != self.workload.pods || change.old.is_none();
        for object in change.old.iter().chain(&change.new) {
            if starts {
                self.note_key(kind, &object.key);
            }
            for (owner, key) in object.owners.iter().filter_map(|uid| state.by_uid(uid)) {
                self.note_key(owner, &key);
            }
        }
    }

    fn note_key(&mut self, kind: KindId, key: &Key) {
        let path = key.as_str().to_owned();
        if kind == self.workload.deployments {
            self.deployments.insert(path);
        } else if kind == self.workload.replica_sets {
            self.replica_sets.insert(path);
        } else if kind == self.workload.namespaces {
            self.namespaces.insert(path);
        } else if kind == self.workload.service_accounts {
            self.namespaces.insert(key.namespace().to_owned());
        } else if kind == self.workload.pods {
            let ready_at = Instant::now() + self.config.pod_ready_after;
            self.starting.entry(path).or_insert(ready_at);
        }
    }

    /// Looks at everything that was noted; false if there was nothing.
    fn work(&mut self, shared: &Shared) -> bool {
        let deployments = std::mem::take(&mut self.deployments);
        let replica_sets = std::mem::take(&mut self.replica_sets);
        let ready = self.take_ready();
        let namespaces = std::mem::take(&mut self.namespaces);
        let busy = !(deployments.is_empty()
            && replica_sets.is_empty()
            && ready.is_empty()
            && namespaces.is_empty());
        for name in &namespaces {
            shared.store.write(|state| {
                service_account::reconcile(state, &shared.kinds, &self.workload, name);
            });
        }
        for key in &deployments {
            shared
                .store
                .write(|state| deployment::reconcile(state, &shared.kinds, &self.workload, key));
        }
        for key in &replica_sets {
            shared
                .store
                .write(|state| replica_set::reconcile(state, &shared.kinds, &self.workload, key));
        }
        for key in &ready {
            shared
                .store
                .write(|state| pod::make_ready(state, &shared.kinds, &self.workload, key));
        }
        busy
    }

    fn take_ready(&mut self) -> Vec<String> {
        let now = Instant::now();
        let ready: Vec<String> = self
            .starting
            .iter()
            .filter(|(_, at)| **at <= now)
            .map(|(key, _)| key.clone())
            .collect();
        for key in &ready {
            self.starting.remove(key);
        }
        ready
    }

    fn due(&self) -> Option<Instant> {
        self.starting.values().min().copied()
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// The sender lives in the store, which the caller holds.
async fn wait(changed: &mut watch::Receiver<u64>) -> bool {
    changed.changed().await.is_ok()
}
