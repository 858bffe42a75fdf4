use std::fmt;

use super::labels::Labels;
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
    /// The uid, the version and the labels in one allocation. There are as many as there are
    /// Deployments, and each allocation has an overhead.
    text: Box<str>,
    uid_end: u32,
    version_end: u32,
    /// Seldom any.
    annotations: Option<Box<Annotations>>,
    controller: Option<Box<Owner>>,
    replicas: i32,
    being_deleted: bool,
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
enum Odd {
    #[error("metadata.{0} is missing")]
    Missing(&'static str),
    #[error("metadata is too long")]
    TooLong,
}

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
    pub fn labels(&self) -> Labels<'_> {
        Labels::new(&self.text[self.version_end as usize..])
    }

    /// The value of one of our own annotations (`minrep.dev/…`). Others are not kept.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        let annotations = self.annotations.as_ref()?;
        annotations.get(name).map(|value| &**value)
    }

    /// The owner that manages it. Owners that are not its controller do not count: they
    /// only want it to be collected with them.
    pub fn controller(&self) -> Option<&Owner> {
        self.controller.as_deref()
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
        &self.text[..self.uid_end as usize]
    }

    fn resource_version(&self) -> &str {
        &self.text[self.uid_end as usize..self.version_end as usize]
    }

    fn label(&self, key: &str) -> Option<&str> {
        self.labels().get(key)
    }
}

impl TryFrom<Wire> for Deployment {
    type Error = Odd;

    fn try_from(wire: Wire) -> Result<Self, Odd> {
        let Wire { metadata, spec } = wire;
        let key = metadata.key();
        let being_deleted = metadata.is_being_deleted();
        let uid = present(metadata.uid.as_deref(), "uid")?;
        let version = present(metadata.resource_version.as_deref(), "resourceVersion")?;
        let end = |length: usize| u32::try_from(length).map_err(|_| Odd::TooLong);
        let annotations = metadata.annotations;
        Ok(Self {
            key,
            uid_end: end(uid.len())?,
            version_end: end(uid.len() + version.len())?,
            text: [uid, version, metadata.labels.as_str()].concat().into(),
            annotations: (!annotations.is_empty()).then(|| Box::new(annotations)),
            controller: controller(metadata.owner_references).map(Box::new),
            replicas: spec.and_then(|spec| spec.replicas).unwrap_or(1),
            being_deleted,
        })
    }
}

fn present<'a>(value: Option<&'a str>, field: &'static str) -> Result<&'a str, Odd> {
    let value = value.filter(|value| !value.is_empty());
    value.ok_or(Odd::Missing(field))
}

// === impl Owner ===

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}
