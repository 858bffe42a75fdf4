use super::deployment::Owner;
use super::metadata::{Metadata, controller};
use super::scale_target::{OddApiVersion, ScaleTarget};
use crate::client::{ObjectKey, ResourceType};
use crate::watch::Object;

/// What min-replicas keeps of a HorizontalPodAutoscaler: its target, its bounds and who
/// manages it.
///
/// Decodes from any served version of the full API object. All fields may be missing:
/// old servers accepted such autoscalers, and one that cannot be read would be one that
/// is not seen.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(from = "Wire")]
pub struct HorizontalPodAutoscaler {
    key: ObjectKey,
    uid: Box<str>,
    resource_version: Box<str>,
    controller: Option<Owner>,
    target: ScaleTarget,
    min: Option<i32>,
    max: Option<i32>,
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
    min_replicas: Option<i32>,
    max_replicas: Option<i32>,
}

// === impl HorizontalPodAutoscaler ===

impl HorizontalPodAutoscaler {
    /// `horizontalpodautoscalers.autoscaling`.
    pub const RESOURCE: ResourceType = ResourceType::namespaced(
        "autoscaling",
        "v2",
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
    );

    /// The Deployment that it targets, if it targets one: by group and kind, whatever
    /// the version, as the autoscaling controller resolves it. No group and the long
    /// gone `extensions` count too; see [`odd_api_version`](Self::odd_api_version).
    pub fn target(&self) -> Option<ObjectKey> {
        self.target.deployment(self.key.namespace())
    }

    /// What is wrong with the target's apiVersion, if something is.
    pub fn odd_api_version(&self) -> Option<OddApiVersion> {
        self.target.odd_api_version()
    }

    /// The owner that manages it, such as KEDA's ScaledObject, and would put its bounds
    /// back.
    pub fn controller(&self) -> Option<&Owner> {
        self.controller.as_ref()
    }

    /// `spec.minReplicas`; absent means 1, as it does for the server.
    pub fn min(&self) -> i32 {
        self.min.unwrap_or(1)
    }

    /// `spec.maxReplicas`.
    pub fn max(&self) -> Option<i32> {
        self.max
    }
}

impl Object for HorizontalPodAutoscaler {
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

impl From<Wire> for HorizontalPodAutoscaler {
    fn from(wire: Wire) -> Self {
        let Wire { metadata, spec } = wire;
        let spec = spec.unwrap_or_default();
        Self {
            key: metadata.key(),
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
            controller: controller(metadata.owner_references),
            target: spec.scale_target_ref.unwrap_or_default(),
            min: spec.min_replicas,
            max: spec.max_replicas,
        }
    }
}
