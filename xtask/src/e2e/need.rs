use std::fmt;

/// What a scenario may need beyond a namespace in which Deployments get Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Namespaces and other objects of the whole cluster may be made and deleted.
    ClusterScope,
    /// HorizontalPodAutoscalers are looked at every second or so.
    QuickAutoscaler,
    /// ResourceQuotas are enforced.
    Quotas,
    /// ValidatingAdmissionPolicies are enforced.
    AdmissionPolicies,
    /// Every request is written down, with its answer.
    AuditLog,
}

// === impl Need ===

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClusterScope => "objects outside of one namespace",
            Self::QuickAutoscaler => "an autoscaler that acts within a second",
            Self::Quotas => "resource quotas",
            Self::AdmissionPolicies => "admission policies",
            Self::AuditLog => "an audit log",
        })
    }
}
