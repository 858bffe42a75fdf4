use super::metadata::Metadata;
use super::scale_target::ScaleTarget;
use crate::client::{ObjectKey, ResourceType};
use crate::watch::Object;

/// What min-replicas keeps of KEDA's ScaledObject: its target.
///
/// KEDA makes a HorizontalPodAutoscaler of it, and scales between 0 and 1 by itself. A
/// paused one has no HorizontalPodAutoscaler and still holds its target where somebody
/// wants it, so it counts like any other.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(from = "Wire")]
pub struct ScaledObject {
    key: ObjectKey,
    uid: Box<str>,
    resource_version: Box<str>,
    target: ScaleTarget,
}

#[derive(serde::Deserialize)]
struct Wire {
    metadata: Metadata,
    spec: Option<WireSpec>,
}

#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSpec {
    scale_target_ref: Option<ScaleTarget>,
}

// === impl ScaledObject ===

impl ScaledObject {
    /// `scaledobjects.keda.sh`: a custom resource, which many clusters do not have.
    pub const RESOURCE: ResourceType =
        ResourceType::namespaced("keda.sh", "v1alpha1", "scaledobjects", "ScaledObject");

    /// The Deployment that it targets, if it targets one. KEDA takes a target without a
    /// kind for a Deployment.
    pub fn target(&self) -> Option<ObjectKey> {
        self.target.deployment(self.key.namespace())
    }
}

impl Object for ScaledObject {
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

impl From<Wire> for ScaledObject {
    fn from(wire: Wire) -> Self {
        let Wire { metadata, spec } = wire;
        let mut target = spec
            .unwrap_or_default()
            .scale_target_ref
            .unwrap_or_default();
        if target.kind.is_empty() {
            target.kind = "Deployment".into();
        }
        Self {
            key: metadata.key(),
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
            target,
        }
    }
}
