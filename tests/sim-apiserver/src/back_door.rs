//! What a test does behind the API's back.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;
use uuid::Uuid;

use crate::{
    SimApiServer,
    kinds::{Kind, KindId},
    lifecycle,
    store::{Key, Object, RestoreError, State},
};

// === impl SimApiServer ===

impl SimApiServer {
    /// Stores an object as it is: no defaults, no validation, no check of its namespace. Watches see it.
    ///
    /// It must have `apiVersion`, `kind` and `metadata.name`. A uid and a creation time are made up where there
    /// is none; the resourceVersion is always the next one. An object of the same name is replaced. Returns it
    /// as it is stored.
    ///
    /// # Panics
    ///
    /// If the kind is not served.
    pub fn seed(&self, object: Value) -> Value {
        let (id, stored) = self.store(object);
        self.complete(id, &stored)
    }

    /// Seeds many objects, without reading any of them back.
    ///
    /// # Panics
    ///
    /// As [`seed`](Self::seed).
    pub fn seed_all(&self, objects: impl IntoIterator<Item = Value>) {
        for object in objects {
            self.store(object);
        }
    }

    /// Reads an object; `resource` is a plural, `deployments` or `deployments.apps`. The namespace of a
    /// cluster-scoped kind is empty.
    ///
    /// # Panics
    ///
    /// If the resource is not served.
    #[must_use]
    pub fn object(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let id = self.kind_id(resource);
        let stored = self
            .shared
            .store
            .read()
            .get(id, &Key::new(namespace, name))
            .cloned();
        stored.map(|object| self.complete(id, &object))
    }

    /// Reads all objects of a resource in key order.
    ///
    /// # Panics
    ///
    /// If the resource is not served.
    #[must_use]
    pub fn objects(&self, resource: &str) -> Vec<Value> {
        let id = self.kind_id(resource);
        let stored: Vec<_> = self
            .shared
            .store
            .read()
            .table(id)
            .range(None, None)
            .cloned()
            .collect();
        stored
            .iter()
            .map(|object| self.complete(id, object))
            .collect()
    }

    /// Changes an object as it is; the resourceVersion is always the next one. Returns false, and does nothing,
    /// if it is not there.
    ///
    /// # Panics
    ///
    /// If the resource is not served.
    pub fn mutate(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        change: impl FnOnce(&mut Value),
    ) -> bool {
        let id = self.kind_id(resource);
        let key = Key::new(namespace, name);
        self.shared.store.write(|state| {
            let Some(object) = state.get(id, &key) else {
                return false;
            };
            let mut value = object.value();
            change(&mut value);
            state.put(id, value);
            true
        })
    }

    /// Takes an object out as it is, finalizers or not; nothing that it owns follows. Watches see DELETED.
    /// Returns false if it is not there.
    ///
    /// # Panics
    ///
    /// If the resource is not served.
    pub fn remove(&self, resource: &str, namespace: &str, name: &str) -> bool {
        let id = self.kind_id(resource);
        self.shared
            .store
            .write(|state| state.remove(id, &Key::new(namespace, name)).is_some())
    }

    /// Takes an object out without an event: what a client sees that missed it. Returns false if it is not
    /// there.
    ///
    /// # Panics
    ///
    /// If the resource is not served.
    pub fn remove_silently(&self, resource: &str, namespace: &str, name: &str) -> bool {
        let id = self.kind_id(resource);
        self.shared.store.write(|state| {
            state
                .remove_silently(id, &Key::new(namespace, name))
                .is_some()
        })
    }

    /// Forgets all history, as etcd does when it compacts: watches and continue tokens from before answer 410.
    /// Watches that are open and have read everything stay open.
    pub fn expire_history(&self) {
        self.shared.store.write(State::expire_history);
    }

    /// Makes every kind what it was at this revision, as an etcd that was restored from its backup: what was
    /// made since is gone, what was deleted since is back with its old uid, and the next change gets the
    /// revision after this one, a number that clients have seen before. Open watches end; who lists or streams
    /// from a newer revision is told 504, who watches from one waits until the numbers have passed it, and who
    /// watches from an older one is told 410. Requests that were recorded stay.
    ///
    /// It undoes the changes that it remembers: [`Builder::history`](crate::Builder::history) says how many.
    /// What [`remove_silently`](Self::remove_silently) took out is no change, and stays away unless a change
    /// of it is undone.
    ///
    /// # Errors
    ///
    /// If the history does not reach back that far, or the revision is still to come. Nothing has happened then.
    pub fn restore(&self, revision: u64) -> Result<(), RestoreError> {
        self.shared.store.write(|state| state.restore(revision))
    }

    /// Serves a kind from now on that was [to come later](crate::Builder::kind_installed_later).
    ///
    /// # Panics
    ///
    /// If the resource is not known.
    pub fn install(&self, resource: &str) {
        self.shared.kinds.install(self.kind_id(resource));
    }

    /// The newest resourceVersion.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.shared.store.read().revision()
    }

    /// Makes the next change get this resourceVersion, if it is higher than the newest.
    pub fn set_next_revision(&self, next: u64) {
        self.shared
            .store
            .write(|state| state.set_next_revision(next));
    }

    /// Wakes at every change of an object; its value is the resourceVersion.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.store.subscribe()
    }

    /// From now on accepts these bearer tokens only; `None` asks for no token.
    pub fn set_tokens(&self, tokens: Option<Vec<String>>) {
        *self.shared.tokens.write() = tokens;
    }

    fn store(&self, mut object: Value) -> (KindId, Arc<Object>) {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let served = self.shared.kinds.by_kind(api_version, kind);
        let served = served.unwrap_or_else(|| panic!("no kind {kind} in {api_version} is served"));
        if let Some(also) = served.also {
            (also.to_stored)(&mut object);
        }
        let metadata = &mut object["metadata"];
        if metadata["uid"].is_null() {
            metadata["uid"] = Uuid::new_v4().to_string().into();
        }
        if metadata["creationTimestamp"].is_null() {
            metadata["creationTimestamp"] = lifecycle::timestamp().into();
        }
        let stored = self
            .shared
            .store
            .write(|state| state.put(served.id, object));
        (served.id, stored)
    }

    fn kind_id(&self, resource: &str) -> KindId {
        let id = self.shared.kinds.by_plural(resource);
        id.unwrap_or_else(|| panic!("no resource {resource} is served"))
    }

    fn complete(&self, id: KindId, object: &Object) -> Value {
        let kind: &Kind = self.shared.kinds.get(id);
        let mut value = object.value();
        value["apiVersion"] = json!(kind.api_version());
        value["kind"] = json!(kind.kind);
        value
    }
}
