use super::metadata::Metadata;
use crate::client::{ObjectKey, ResourceType};
use crate::watch::Object;

/// Annotation on a Namespace: `"true"` leaves all its Deployments alone.
pub const PAUSED: &str = "minrep.dev/paused";

/// What min-replicas keeps of a Namespace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(from = "Wire")]
pub struct Namespace {
    key: ObjectKey,
    uid: Box<str>,
    resource_version: Box<str>,
    paused: bool,
    terminating: bool,
}

#[derive(serde::Deserialize)]
struct Wire {
    metadata: Metadata,
}

// === impl Namespace ===

impl Namespace {
    /// `namespaces`, of the core group.
    pub const RESOURCE: ResourceType = ResourceType::cluster("", "v1", "namespaces", "Namespace");

    /// Whether [`PAUSED`] is exactly `"true"`.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether it is being deleted: nothing new can be created in it, events included.
    pub fn is_terminating(&self) -> bool {
        self.terminating
    }
}

impl Object for Namespace {
    fn key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn uid(&self) -> &str {
        &self.uid
    }

    fn resource_version(&self) -> &str {
        &self.resource_version
    }
}

impl From<Wire> for Namespace {
    fn from(wire: Wire) -> Self {
        let metadata = wire.metadata;
        Self {
            key: metadata.key(),
            terminating: metadata.is_being_deleted(),
            paused: metadata
                .annotations
                .get(PAUSED)
                .is_some_and(|value| &**value == "true"),
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
        }
    }
}
