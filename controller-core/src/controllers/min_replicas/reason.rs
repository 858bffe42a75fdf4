use std::fmt;

use super::autoscaler::OddApiVersion;
use super::deployment::{KEEP_ZERO, Owner};
use super::namespace::PAUSED;
use super::settings::OptIn;

/// Why a Deployment is raised, or left alone.
///
/// One enum for logs, events, JSON and metrics. [`name`](Self::name) is the stable token
/// for machines; [`Display`](fmt::Display) is the sentence that a person reads, and its
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
    /// It has at least the minimum.
    Satisfied {
        /// `spec.replicas`.
        replicas: i32,
        /// The minimum.
        min: i32,
    },
    /// An autoscaler decides its replicas.
    Autoscaled {
        /// The HorizontalPodAutoscaler's name.
        autoscaler: String,
        /// Set if the autoscaler's target has an apiVersion with which it may never
        /// scale anything: worth a warning, for the Deployment stays below the minimum.
        odd_api_version: Option<OddApiVersion>,
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
    /// Below the minimum, and ours to raise.
    Raise,
    /// At or above the minimum.
    Satisfied,
    /// Left alone, though it may be below the minimum: the user may want to know why.
    Skipped,
    /// No longer exists, or no longer opted in.
    Gone,
    /// Could not be looked at.
    Unread,
}

/// `1 replica`, `2 replicas`.
struct Replicas(i32);

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
            Self::Satisfied { .. } => "Satisfied",
            Self::Autoscaled { .. } => "Autoscaled",
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
            Self::Raise { .. } => Class::Raise,
            Self::NoLongerExists | Self::NoLongerOptedIn => Class::Gone,
            Self::Unread => Class::Unread,
        }
    }

    /// Whether the two are one decision: how far above the minimum a Deployment is does
    /// not change what is done about it.
    pub fn is_same_decision(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Satisfied { min: one, .. }, Self::Satisfied { min: two, .. }) => one == two,
            _ => self == other,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeingDeleted => f.write_str("being deleted"),
            Self::NotOptedIn { opt_in, found } => match found {
                Some(found) => write!(
                    f,
                    "not opted in: label {} is {found:?}, not {:?}",
                    opt_in.key(),
                    opt_in.value(),
                ),
                None => write!(f, "not opted in: label {} is not set", opt_in.key()),
            },
            Self::NotSelected { selector } => write!(f, "does not match the selector {selector}"),
            Self::NamespacePaused { namespace } => {
                write!(f, "namespace {namespace} is paused (annotation {PAUSED})")
            }
            Self::NamespaceExcluded { namespace } => write!(f, "namespace {namespace} is excluded"),
            Self::Owned { owner } => write!(f, "owned by {owner}, which decides its replicas"),
            Self::ZeroKept { by } => match by {
                ZeroKeptBy::Setting => f.write_str("kept at 0 replicas"),
                ZeroKeptBy::Annotation => write!(f, "kept at 0 replicas (annotation {KEEP_ZERO})"),
            },
            Self::Satisfied { replicas, min } => write!(
                f,
                "already satisfies the minimum of {min} ({})",
                Replicas(*replicas)
            ),
            Self::Autoscaled {
                autoscaler,
                odd_api_version: None,
            } => write!(f, "autoscaled by HorizontalPodAutoscaler {autoscaler}"),
            Self::Autoscaled {
                autoscaler,
                odd_api_version: Some(odd),
            } => write!(
                f,
                "targeted by HorizontalPodAutoscaler {autoscaler}, which may never scale it: \
                 its target has {odd} where \"apps/v1\" is needed"
            ),
            Self::Raise { from, to } => {
                write!(f, "below the minimum of {to} ({})", Replicas(*from))
            }
            Self::NoLongerExists => f.write_str("no longer exists"),
            Self::NoLongerOptedIn => f.write_str("no longer opted in"),
            Self::Unread => f.write_str("could not be read"),
        }
    }
}

// === impl Replicas ===

impl fmt::Display for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} replica{plural}", self.0)
    }
}
