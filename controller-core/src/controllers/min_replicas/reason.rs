use std::time::Duration;

use super::autoscaled::{Hindrance, ScaledBy};
use super::deployment::Owner;
use super::opponent::Opponent;
use super::settings::OptIn;

mod sentence;
#[cfg(test)]
mod tests;

/// Why a Deployment is raised, or left alone.
///
/// One enum for logs, events, JSON and metrics. [`name`](Self::name) is the stable token
/// for machines; [`Display`](std::fmt::Display) is the sentence that a person reads, and its
/// words may be searched for ("no longer exists", "already satisfies").
///
/// There is a reason for leaving alone as well as for raising, because "nothing happened" is
/// the outcome that people ask about. A reason is a *decision*, not what came of it: a raise
/// that the server refused is still [`Raise`](Self::Raise), and its
/// [`Verdict`](super::Verdict) has the failure.
///
/// ```
/// use controller_core::controllers::min_replicas::{Class, Reason};
///
/// let reason = Reason::Satisfied { replicas: 3, min: 2 };
/// assert_eq!(reason.to_string(), "already satisfies the minimum of 2 (3 replicas)");
/// assert_eq!((reason.name(), reason.class()), ("Satisfied", Class::Satisfied));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// `metadata.deletionTimestamp` is set.
    BeingDeleted,
    /// The opt-in label is missing, or has another value.
    NotOptedIn {
        /// What would opt in.
        opt_in: OptIn,
        /// The value that is there instead.
        found: Option<String>,
    },
    /// It is opted in, and outside of the selection that the user asked for.
    NotSelected {
        /// The selection, in its canonical form.
        selector: String,
    },
    /// Its namespace is annotated `minrep.dev/paused: "true"`.
    NamespacePaused {
        /// The namespace.
        namespace: String,
    },
    /// Its namespace is one that the settings leave out.
    NamespaceExcluded {
        /// The namespace.
        namespace: String,
    },
    /// Another controller manages it and would put its replicas back.
    Owned {
        /// That controller's object.
        owner: Owner,
    },
    /// It has 0 replicas, and that is to stay.
    ZeroKept {
        /// Who says so.
        by: ZeroKeptBy,
    },
    /// The minimum of its autoscaler is too low.
    RaiseMin {
        /// The HorizontalPodAutoscaler's name.
        autoscaler: String,
        /// `spec.minReplicas`.
        from: i32,
        /// The minimum.
        to: i32,
    },
    /// The minimum of its autoscaler is too low, and may not go above the maximum.
    MinAboveMax {
        /// The HorizontalPodAutoscaler's name.
        autoscaler: String,
        /// `spec.maxReplicas`.
        max: i32,
        /// `spec.minReplicas`.
        from: i32,
        /// The minimum.
        to: i32,
    },
    /// It has at least the minimum.
    Satisfied {
        /// `spec.replicas`.
        replicas: i32,
        /// The minimum.
        min: i32,
    },
    /// An autoscaler decides its replicas.
    Autoscaled {
        /// The autoscaler.
        by: ScaledBy,
        /// What is wrong with it, if something is.
        hindrance: Option<Hindrance>,
    },
    /// It was raised again and again and did not stay up: somebody else decides otherwise.
    Fight {
        /// Whose `minReplicas` is fought over; `None` if it is the Deployment's `replicas`.
        autoscaler: Option<String>,
        /// Who owns the number.
        opponent: Opponent,
        /// How long after the last raise the next one comes.
        wait: Duration,
    },
    /// As many were raised within the last minute as may be.
    Budget {
        /// How many raises a minute may have.
        limit: u32,
        /// When its turn comes.
        wait: Duration,
    },
    /// It is below the minimum.
    Raise {
        /// `spec.replicas`.
        from: i32,
        /// The minimum.
        to: i32,
    },
    /// The server no longer has it.
    NoLongerExists,
    /// It lives, without the opt-in label or outside of the selection.
    NoLongerOptedIn,
    /// It is not in the cache, and the server could not be asked about it.
    Unread,
}

/// Who says that 0 replicas are to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroKeptBy {
    /// The setting, for all Deployments.
    Setting,
    /// The annotation `minrep.dev/keep-zero: "true"`.
    Annotation,
}

/// The few groups that reasons fall into, for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Too low, and ours to raise.
    Raise,
    /// Too low, ours to raise, and not yet.
    Waiting,
    /// At or above the minimum.
    Satisfied,
    /// Left alone, though it may be below the minimum: the user may want to know why.
    Skipped,
    /// No longer exists, or no longer opted in.
    Gone,
    /// Could not be looked at.
    Unread,
}

// === impl Reason ===

impl Reason {
    /// The token for JSON, metrics and events. Stable: never renamed, only added to.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BeingDeleted => "BeingDeleted",
            Self::NotOptedIn { .. } => "NotOptedIn",
            Self::NotSelected { .. } => "NotSelected",
            Self::NamespacePaused { .. } => "NamespacePaused",
            Self::NamespaceExcluded { .. } => "NamespaceExcluded",
            Self::Owned { .. } => "Owned",
            Self::ZeroKept { .. } => "ZeroKept",
            Self::RaiseMin { .. } => "RaiseMin",
            Self::MinAboveMax { .. } => "MinAboveMax",
            Self::Satisfied { .. } => "Satisfied",
            Self::Autoscaled { .. } => "Autoscaled",
            Self::Fight { .. } => "Fight",
            Self::Budget { .. } => "Budget",
            Self::Raise { .. } => "Raise",
            Self::NoLongerExists => "NoLongerExists",
            Self::NoLongerOptedIn => "NoLongerOptedIn",
            Self::Unread => "Unread",
        }
    }

    /// The group that it is counted in.
    pub fn class(&self) -> Class {
        match self {
            Self::BeingDeleted
            | Self::NotOptedIn { .. }
            | Self::NotSelected { .. }
            | Self::NamespacePaused { .. }
            | Self::NamespaceExcluded { .. }
            | Self::Owned { .. }
            | Self::ZeroKept { .. }
            | Self::Autoscaled { .. } => Class::Skipped,
            Self::Satisfied { .. } => Class::Satisfied,
            Self::Raise { .. } | Self::RaiseMin { .. } | Self::MinAboveMax { .. } => Class::Raise,
            Self::Fight { .. } | Self::Budget { .. } => Class::Waiting,
            Self::NoLongerExists | Self::NoLongerOptedIn => Class::Gone,
            Self::Unread => Class::Unread,
        }
    }

    /// Whether the two are one decision: how far above the minimum a Deployment is does
    /// not change what is done about it, nor does how long it still waits for its turn.
    pub fn is_same_decision(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Satisfied { min: one, .. }, Self::Satisfied { min: two, .. }) => one == two,
            (Self::Budget { .. }, Self::Budget { .. }) => true,
            _ => self == other,
        }
    }

    /// Whether a person has to see to it, though nothing was tried and nothing failed.
    pub fn is_warning(&self) -> bool {
        match self {
            Self::Fight { .. } => true,
            Self::Autoscaled {
                hindrance: Some(hindrance),
                ..
            } => hindrance.is_lasting(),
            _ => false,
        }
    }

    /// What was, or should be, written: from, to. `None` where no raise is due.
    pub fn change(&self) -> Option<(i32, i32)> {
        match self {
            Self::Raise { from, to }
            | Self::RaiseMin { from, to, .. }
            | Self::MinAboveMax { from, to, .. } => Some((*from, *to)),
            _ => None,
        }
    }

    /// The HorizontalPodAutoscaler whose `minReplicas` it is about, `None` if it is about
    /// the Deployment's own number.
    pub fn autoscaler(&self) -> Option<&str> {
        match self {
            Self::RaiseMin { autoscaler, .. } | Self::MinAboveMax { autoscaler, .. } => {
                Some(autoscaler)
            }
            Self::Fight { autoscaler, .. } => autoscaler.as_deref(),
            _ => None,
        }
    }

    /// What its number is called: `spec.replicas`, or an autoscaler's `minReplicas`.
    pub(super) fn number(&self) -> String {
        match self.autoscaler() {
            Some(name) => format!("minReplicas of HorizontalPodAutoscaler {name}"),
            None => "spec.replicas".to_owned(),
        }
    }

    /// Whether the minimum was asked for on the way to it.
    pub(super) fn rests_on_minimum(&self) -> bool {
        match self.class() {
            Class::Raise | Class::Waiting | Class::Satisfied => true,
            Class::Skipped => matches!(self, Self::Autoscaled { .. }),
            Class::Gone | Class::Unread => false,
        }
    }
}
