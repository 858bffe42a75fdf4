use super::autoscaler::HorizontalPodAutoscaler;
use super::deployment::Deployment;
use super::reason::Reason;
use crate::client::ObjectKey;
use crate::watch::Object;

/// One write that a plan asks for, with everything that guards it.
///
/// It names the object that was looked at, not whatever has its name when the write
/// arrives: with another uid or resourceVersion the server refuses it and writes
/// nothing. That is what keeps a decision made from an old cache from ever scaling down:
/// if somebody has scaled to 10 meanwhile, "set it to 2" is refused.
///
/// The fields are public to be read and shown. Make one by [`plan`](super::plan()), which
/// fills them from one and the same copy of the object; a uid from here and a version from
/// there would guard an object that never was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raise {
    /// Which Deployment it is for.
    pub key: ObjectKey,
    /// The Deployment's uid as observed; never empty.
    pub uid: String,
    /// The Deployment's resourceVersion as observed; never empty.
    pub resource_version: String,
    /// The number as observed: `spec.replicas`, or the autoscaler's `spec.minReplicas`.
    pub from: i32,
    /// The number to write; above `from`.
    pub to: i32,
    /// Where it is written.
    pub through: Through,
}

/// Which object a raise writes to, by whose number the Deployment comes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Through {
    /// The Deployment's own `scale`.
    Scale,
    /// The `minReplicas` of the autoscaler that targets it.
    Autoscaler {
        /// The HorizontalPodAutoscaler's name, in the Deployment's namespace.
        name: String,
        /// Its uid as observed; never empty.
        uid: String,
        /// Its resourceVersion as observed; never empty.
        resource_version: String,
    },
}

// === impl Raise ===

impl Raise {
    pub(super) fn scale(deployment: &Deployment, to: i32) -> Self {
        Self {
            key: deployment.key(),
            uid: deployment.uid().to_owned(),
            resource_version: deployment.resource_version().to_owned(),
            from: deployment.replicas(),
            to,
            through: Through::Scale,
        }
    }

    /// `None` for an autoscaler with nothing to guard a write by.
    pub(super) fn min_replicas(
        deployment: &Deployment,
        autoscaler: &HorizontalPodAutoscaler,
        to: i32,
    ) -> Option<Self> {
        let (uid, resource_version) = (autoscaler.uid(), autoscaler.resource_version());
        if uid.is_empty() || resource_version.is_empty() {
            return None;
        }
        Some(Self {
            from: autoscaler.min(),
            through: Through::Autoscaler {
                name: autoscaler.key().name().to_owned(),
                uid: uid.to_owned(),
                resource_version: resource_version.to_owned(),
            },
            ..Self::scale(deployment, to)
        })
    }

    /// The uid and resourceVersion of the object that is written to.
    pub fn guard(&self) -> (&str, &str) {
        match &self.through {
            Through::Scale => (&self.uid, &self.resource_version),
            Through::Autoscaler {
                uid,
                resource_version,
                ..
            } => (uid, resource_version),
        }
    }

    /// The reason that is reported for it.
    pub fn reason(&self) -> Reason {
        let (from, to) = (self.from, self.to);
        match &self.through {
            Through::Scale => Reason::Raise { from, to },
            Through::Autoscaler { name, .. } => Reason::RaiseMin {
                autoscaler: name.clone(),
                from,
                to,
            },
        }
    }
}
