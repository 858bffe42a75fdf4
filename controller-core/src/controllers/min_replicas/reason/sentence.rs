//! The words of each reason.

use std::fmt;
use std::time::Duration;

use super::{Reason, ZeroKeptBy};
use crate::controllers::min_replicas::autoscaled::{Hindrance, ScaledBy};
use crate::controllers::min_replicas::deployment::KEEP_ZERO;
use crate::controllers::min_replicas::namespace::PAUSED;
use crate::controllers::min_replicas::opponent::Opponent;

/// `1 replica`, `2 replicas`.
struct Replicas(i32);

/// `32m`, `1h`: holds are whole minutes.
struct Minutes(Duration);

// === impl Reason ===

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
            Self::RaiseMin { from, to, .. } => {
                write!(f, "{} is {from}, below the minimum of {to}", self.number())
            }
            Self::MinAboveMax { from, to, .. } => {
                write!(f, "{} cannot be raised from {from} to {to}", self.number())
            }
            Self::Satisfied { replicas, min } => write!(
                f,
                "already satisfies the minimum of {min} ({})",
                Replicas(*replicas)
            ),
            Self::Autoscaled { by, hindrance } => autoscaled(f, by, hindrance.as_ref()),
            Self::Fight { opponent, wait, .. } => {
                let number = self.number();
                f.write_str("in a fight: raised again and again and still below the minimum; ")?;
                match opponent {
                    Opponent::Manager(name) => write!(f, "field manager {name:?} owns {number}")?,
                    Opponent::Nobody => write!(f, "no other field manager owns {number}")?,
                    Opponent::Unknown => write!(f, "who owns {number} could not be looked up")?,
                }
                write!(f, "; the next raise waits {}", Minutes(*wait))
            }
            Self::Budget { limit, .. } => {
                let plural = if *limit == 1 { "" } else { "s" };
                write!(
                    f,
                    "waits for its turn: at most {limit} raise{plural} a minute"
                )
            }
            Self::Raise { from, to } => {
                write!(f, "below the minimum of {to} ({})", Replicas(*from))
            }
            Self::NoLongerExists => f.write_str("no longer exists"),
            Self::NoLongerOptedIn => f.write_str("no longer opted in"),
            Self::Unread => f.write_str("could not be read"),
        }
    }
}

fn autoscaled(
    f: &mut fmt::Formatter<'_>,
    by: &ScaledBy,
    hindrance: Option<&Hindrance>,
) -> fmt::Result {
    match hindrance {
        None => write!(f, "autoscaled by {by}"),
        Some(Hindrance::OddApiVersion(odd)) => write!(
            f,
            "targeted by {by}, which may never scale it: its target has {odd} where \
             \"apps/v1\" is needed"
        ),
        Some(Hindrance::Owned(owner)) => {
            write!(f, "autoscaled by {by}, whose minimum {owner} decides")
        }
        Some(Hindrance::Several(others)) => write!(
            f,
            "autoscaled by {by} and {} at once, so it is not clear whose minimum to raise",
            others.join(" and ")
        ),
    }
}

// === impl Replicas ===

impl fmt::Display for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} replica{plural}", self.0)
    }
}

// === impl Minutes ===

impl fmt::Display for Minutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs() / 60 {
            60 => f.write_str("1h"),
            minutes => write!(f, "{minutes}m"),
        }
    }
}
