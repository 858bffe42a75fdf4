use std::sync::Arc;

use controller_core::controllers::min_replicas::{
    Deployment, HorizontalPodAutoscaler, Raise, Through,
};
use controller_core::watch::Object;
use serde_json::json;

/// The Deployment of this world, as the server has it at one revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Live {
    pub(super) uid: u8,
    pub(super) revision: u8,
    pub(super) replicas: u8,
    pub(super) opted_in: bool,
    pub(super) being_deleted: bool,
}

/// The minimum.
pub(super) const MIN: u8 = 2;

// === impl Live ===

impl Live {
    /// Below the minimum, and the rule's to raise as far as it alone tells.
    pub(super) fn wants(self) -> bool {
        self.opted_in && !self.being_deleted && self.replicas < MIN
    }

    /// As a controller reads it.
    pub(super) fn decode(self) -> Deployment {
        let mut object = json!({
            "metadata": {
                "namespace": "shop",
                "name": "web",
                "uid": format!("uid-{}", self.uid),
                "resourceVersion": self.revision.to_string(),
                "labels": {"demo/min-replicas": if self.opted_in { "true" } else { "false" }},
            },
            "spec": {"replicas": self.replicas},
        });
        if self.being_deleted {
            object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        }
        serde_json::from_value(object).unwrap()
    }

    /// The write that is decided on this state.
    pub(super) fn raise(self) -> Raise {
        let deployment = self.decode();
        Raise {
            key: deployment.key(),
            uid: deployment.uid().to_owned(),
            resource_version: deployment.resource_version().to_owned(),
            from: self.replicas.into(),
            to: MIN.into(),
            through: Through::Scale,
        }
    }
}

/// An autoscaler of that Deployment.
pub(super) fn autoscaler() -> Arc<HorizontalPodAutoscaler> {
    serde_json::from_value(json!({
        "metadata": {"namespace": "shop", "name": "web", "uid": "uid-hpa", "resourceVersion": "1"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1,
            "maxReplicas": 5,
        },
    }))
    .unwrap()
}
