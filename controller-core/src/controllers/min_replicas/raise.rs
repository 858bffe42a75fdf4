use super::deployment::Deployment;
use crate::client::ObjectKey;
use crate::watch::Object;

/// One write that a plan asks for, with everything that guards it.
///
/// It names the object that was looked at, not whatever has its name when the write
/// arrives: with another uid or resourceVersion the server answers 409 and writes
/// nothing. That is what keeps a decision made from an old cache from ever scaling down:
/// if somebody has scaled to 10 meanwhile, "set it to 2" is refused.
///
/// The fields are public to be read and shown. Make one by [`plan`](super::plan()), which
/// fills them from one and the same copy of the object; a uid from here and a version from
/// there would guard an object that never was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raise {
    /// Which Deployment.
    pub key: ObjectKey,
    /// The uid that was observed; never empty.
    pub uid: String,
    /// The resourceVersion that was observed; never empty.
    pub resource_version: String,
    /// `spec.replicas` as observed.
    pub from: i32,
    /// `spec.replicas` to write; above `from`.
    pub to: i32,
}

// === impl Raise ===

impl Raise {
    pub(super) fn new(deployment: &Deployment, to: i32) -> Self {
        Self {
            key: deployment.key(),
            uid: deployment.uid().to_owned(),
            resource_version: deployment.resource_version().to_owned(),
            from: deployment.replicas(),
            to,
        }
    }
}
