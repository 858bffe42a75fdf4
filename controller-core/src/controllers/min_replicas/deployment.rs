use std::collections::BTreeMap;
use std::fmt;

use super::metadata::{Annotations, Metadata, controller};
use crate::client::{ObjectKey, ResourceType};
use crate::watch::{KeptLabels, Object};

/// Annotation: `"true"` leaves this Deployment alone while it has 0 replicas.
pub const KEEP_ZERO: &str = "minrep.dev/keep-zero";

/// What min-replicas keeps of a Deployment.
///
/// Decodes from the full API object. One without uid or resourceVersion is refused:
/// every write is guarded with them, and an empty guard would guard nothing.
///
/// The dangerous mistake is to take [`replicas`](Self::replicas) for what the server
/// holds now: it is what it held at [`resource_version`](Object::resource_version).
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "Wire")]
pub struct Deployment {
    key: ObjectKey,
    uid: Box<str>,
    resource_version: Box<str>,
    being_deleted: bool,
    labels: BTreeMap<String, String>,
    annotations: Annotations,
    controller: Option<Owner>,
    replicas: i32,
}

/// The owner that manages an object: the one whose reference says `controller: true`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its kind, such as `Rollout`.
    pub kind: String,
    /// Its name. It lives in the same namespace, or in none.
    pub name: String,
}

#[derive(serde::Deserialize)]
struct Wire {
    metadata: Metadata,
    spec: Option<WireSpec>,
}

#[derive(serde::Deserialize)]
struct WireSpec {
    replicas: Option<i32>,
}

/// Why an object is no Deployment that can be written to.
#[derive(Debug, thiserror::Error)]
#[error("metadata.{0} is missing")]
struct Missing(&'static str);

// === impl Deployment ===

impl Deployment {
    /// `deployments.apps`.
    pub const RESOURCE: ResourceType =
        ResourceType::namespaced("apps", "v1", "deployments", "Deployment");

    /// Whether `metadata.deletionTimestamp` is set: finalizers keep it, but it goes.
    pub fn is_being_deleted(&self) -> bool {
        self.being_deleted
    }

    /// All labels: which of them opts in is a setting.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// The value of one of our own annotations (`minrep.dev/…`). Others are not kept.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.get(name).map(|value| &**value)
    }

    /// The owner that manages it. Owners that are not its controller do not count: they
    /// only want it to be collected with them.
    pub fn controller(&self) -> Option<&Owner> {
        self.controller.as_ref()
    }

    /// `spec.replicas`; absent means 1, as it does for the server.
    pub fn replicas(&self) -> i32 {
        self.replicas
    }
}

impl Object for Deployment {
    const LABELS: KeptLabels = KeptLabels::All;

    fn key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn resource_version(&self) -> &str {
        &self.resource_version
    }

    fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
    }
}

impl TryFrom<Wire> for Deployment {
    type Error = Missing;

    fn try_from(wire: Wire) -> Result<Self, Missing> {
        let Wire { metadata, spec } = wire;
        let present = |value: Option<Box<str>>, field| {
            value
                .filter(|value| !value.is_empty())
                .ok_or(Missing(field))
        };
        Ok(Self {
            key: metadata.key(),
            being_deleted: metadata.is_being_deleted(),
            uid: present(metadata.uid, "uid")?,
            resource_version: present(metadata.resource_version, "resourceVersion")?,
            labels: metadata.labels.unwrap_or_default(),
            annotations: metadata.annotations,
            controller: controller(metadata.owner_references),
            replicas: spec.and_then(|spec| spec.replicas).unwrap_or(1),
        })
    }
}

// === impl Owner ===

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}
