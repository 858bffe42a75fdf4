use std::fmt;

use super::deployment::Owner;
use super::scale_target::OddApiVersion;

/// What decides the replicas of a Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScaledBy {
    /// A HorizontalPodAutoscaler of this name.
    HorizontalPodAutoscaler(String),
    /// KEDA's ScaledObject of this name.
    ScaledObject(String),
}

/// Why an autoscaler cannot be relied upon, or its minimum not be raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hindrance {
    /// Its target has an apiVersion with which it may never scale anything.
    OddApiVersion(OddApiVersion),
    /// Somebody manages it, and would put its minimum back.
    Owned(Owner),
    /// These target the Deployment as well, and nothing says whose minimum is to count.
    /// The autoscaling controller itself scales none of them.
    Several(Vec<String>),
}

// === impl ScaledBy ===

impl ScaledBy {
    /// The kind, as in a manifest.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::HorizontalPodAutoscaler(_) => "HorizontalPodAutoscaler",
            Self::ScaledObject(_) => "ScaledObject",
        }
    }

    /// The object's name, in the Deployment's namespace.
    pub fn name(&self) -> &str {
        match self {
            Self::HorizontalPodAutoscaler(name) | Self::ScaledObject(name) => name,
        }
    }
}

impl fmt::Display for ScaledBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

// === impl Hindrance ===

impl Hindrance {
    /// Whether the Deployment stays below the minimum until a person mends something:
    /// worth a warning.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::OddApiVersion(_) | Self::Several(_))
    }
}
