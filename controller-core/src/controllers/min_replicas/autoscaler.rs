use std::fmt;

use super::metadata::Metadata;
use crate::client::{ObjectKey, ResourceType};
use crate::watch::Object;

/// What min-replicas keeps of a HorizontalPodAutoscaler: its target and its bounds.
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
    target: Target,
    min: Option<i32>,
    max: Option<i32>,
}

/// `spec.scaleTargetRef` as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Target {
    api_version: Box<str>,
    kind: Box<str>,
    name: Box<str>,
}

/// An apiVersion that names no group in which Deployments are served.
///
/// The autoscaler means a Deployment, but the server cannot find it, so it may never
/// scale anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OddApiVersion {
    /// There is none.
    Missing,
    /// `extensions/v1beta1`, or one without a group, such as `v1`.
    Other(String),
}

#[derive(serde::Deserialize)]
struct Wire {
    metadata: Metadata,
    spec: Option<WireSpec>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSpec {
    scale_target_ref: Option<WireTarget>,
    min_replicas: Option<i32>,
    max_replicas: Option<i32>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireTarget {
    api_version: Option<Box<str>>,
    kind: Option<Box<str>>,
    name: Option<Box<str>>,
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
        let is_deployment = &*self.target.kind == "Deployment"
            && matches!(self.group(), "apps" | "extensions" | "");
        let namespace = self.key.namespace()?;
        (is_deployment && !self.target.name.is_empty())
            .then(|| ObjectKey::namespaced(namespace, &self.target.name))
    }

    /// What is wrong with the target's apiVersion, if something is.
    pub fn odd_api_version(&self) -> Option<OddApiVersion> {
        match (self.group(), &*self.target.api_version) {
            ("apps", _) => None,
            (_, "") => Some(OddApiVersion::Missing),
            (_, other) => Some(OddApiVersion::Other(other.to_owned())),
        }
    }

    /// `spec.minReplicas`; absent means 1 for the server.
    pub fn min(&self) -> Option<i32> {
        self.min
    }

    /// `spec.maxReplicas`.
    pub fn max(&self) -> Option<i32> {
        self.max
    }

    fn group(&self) -> &str {
        self.target
            .api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
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
        let spec = spec.unwrap_or(WireSpec {
            scale_target_ref: None,
            min_replicas: None,
            max_replicas: None,
        });
        Self {
            key: metadata.key(),
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
            target: spec
                .scale_target_ref
                .map(|target| Target {
                    api_version: target.api_version.unwrap_or_default(),
                    kind: target.kind.unwrap_or_default(),
                    name: target.name.unwrap_or_default(),
                })
                .unwrap_or_default(),
            min: spec.min_replicas,
            max: spec.max_replicas,
        }
    }
}

// === impl OddApiVersion ===

impl fmt::Display for OddApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("no apiVersion"),
            Self::Other(version) => write!(f, "apiVersion {version:?}"),
        }
    }
}
