use std::fmt;

use crate::client::ObjectKey;

/// A `scaleTargetRef`, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(from = "Wire")]
pub(super) struct ScaleTarget {
    api_version: Box<str>,
    pub(super) kind: Box<str>,
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
#[serde(rename_all = "camelCase")]
struct Wire {
    api_version: Option<Box<str>>,
    kind: Option<Box<str>>,
    name: Option<Box<str>>,
}

// === impl ScaleTarget ===

impl ScaleTarget {
    /// The Deployment that it means, if it means one: by group and kind, whatever the
    /// version, as the autoscaling controller resolves it. No group and the long gone
    /// `extensions` count too.
    pub(super) fn deployment(&self, namespace: Option<&str>) -> Option<ObjectKey> {
        let is_deployment =
            &*self.kind == "Deployment" && matches!(self.group(), "apps" | "extensions" | "");
        let namespace = namespace?;
        (is_deployment && !self.name.is_empty())
            .then(|| ObjectKey::namespaced(namespace, &self.name))
    }

    /// What is wrong with its apiVersion, if something is.
    pub(super) fn odd_api_version(&self) -> Option<OddApiVersion> {
        match (self.group(), &*self.api_version) {
            ("apps", _) => None,
            (_, "") => Some(OddApiVersion::Missing),
            (_, other) => Some(OddApiVersion::Other(other.to_owned())),
        }
    }

    fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }
}

impl From<Wire> for ScaleTarget {
    fn from(wire: Wire) -> Self {
        Self {
            api_version: wire.api_version.unwrap_or_default(),
            kind: wire.kind.unwrap_or_default(),
            name: wire.name.unwrap_or_default(),
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
