//! What is to be done about one Deployment. Pure: no client, no clock, no I/O.

use std::sync::Arc;

use super::autoscaled::{Hindrance, ScaledBy};
use super::autoscaler::HorizontalPodAutoscaler;
use super::budget::Turn;
use super::deployment::{Deployment, KEEP_ZERO};
use super::fight::Hold;
use super::minimum::minimum;
use super::namespace::Namespace;
use super::raise::Raise;
use super::reason::{Reason, ZeroKeptBy};
use super::scaled_object::ScaledObject;
use super::settings::{HpaPolicy, Settings, ZeroPolicy};
use crate::watch::Object;

/// Everything that a decision about one Deployment rests on.
///
/// `None`, and an empty slice, always mean "there is none that is known". Whoever fills this
/// sees to it that a cache which has not synced, or must not be read, never gets so far: to
/// the plan, an autoscaler that is not here is an autoscaler that does not exist.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The Deployment, from the cache or read live.
    pub deployment: &'a Deployment,
    /// Its namespace, if namespaces may be read.
    pub namespace: Option<&'a Namespace>,
    /// All autoscalers that target it.
    pub autoscalers: &'a [Arc<HorizontalPodAutoscaler>],
    /// All ScaledObjects that target it.
    pub scaled_objects: &'a [Arc<ScaledObject>],
    /// Set while a fight over it is waited out.
    pub fight: Option<&'a Hold>,
    /// Set while as many were raised as may be.
    pub budget: Option<Turn>,
}

/// What is to be done, and why. The same plan serves every command; they differ only in
/// what they do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing.
    Leave(Reason),
    /// Nothing, though something is too low: it cannot be raised until somebody changes an
    /// object. This is a failure, and not worth a try.
    Blocked(Reason),
    /// Raise it.
    Raise(Raise),
}

// === impl Observed ===

impl<'a> Observed<'a> {
    /// The Deployment, and nothing else that is known.
    pub fn new(deployment: &'a Deployment) -> Self {
        Self {
            deployment,
            namespace: None,
            autoscalers: &[],
            scaled_objects: &[],
            fight: None,
            budget: None,
        }
    }
}

// === impl Plan ===

impl Plan {
    /// The one reason that is reported.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Leave(reason) | Self::Blocked(reason) => reason.clone(),
            Self::Raise(raise) => raise.reason(),
        }
    }
}

/// Decides. The first reason that holds is the one reported, in this order: being
/// deleted, not opted in (or not selected), namespace paused or excluded, owned, zero
/// kept, the minimum of its autoscaler (if the settings ask for that), satisfied,
/// autoscaled, fight, budget, raise.
///
/// It only ever raises: a plan to raise always has `to` above what was observed.
///
/// ```
/// use controller_core::controllers::min_replicas::{
///     Deployment, Observed, Plan, Reason, Settings, plan,
/// };
///
/// let web: Deployment = serde_json::from_str(r#"{
///     "metadata": {"namespace": "shop", "name": "web", "uid": "u1", "resourceVersion": "7",
///                  "labels": {"demo/min-replicas": "true"}},
///     "spec": {"replicas": 1}
/// }"#)?;
/// let observed = Observed::new(&web);
///
/// let Plan::Raise(raise) = plan(&observed, &Settings::default()) else {
///     panic!("1 is below the minimum of 2")
/// };
/// assert_eq!((raise.from, raise.to, &*raise.resource_version), (1, 2, "7"));
///
/// let content_with_one = Settings { min: 1, ..Settings::default() };
/// let plan = plan(&observed, &content_with_one);
/// assert_eq!(plan, Plan::Leave(Reason::Satisfied { replicas: 1, min: 1 }));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// No clock, no client, no randomness, no state: the same arguments give the same plan,
/// today and in a test. What depends on time, such as how long a fight is waited out, is
/// passed in as a value.
pub fn plan(observed: &Observed<'_>, settings: &Settings) -> Plan {
    if let Some(reason) = not_ours(observed, settings) {
        return Plan::Leave(reason);
    }
    let deployment = observed.deployment;
    let min = minimum(deployment, settings).replicas;
    if let Some(plan) = raise_min(observed, settings, min) {
        return plan;
    }
    let left = satisfied(deployment, min).or_else(|| autoscaled(observed, settings));
    match left {
        Some(reason) => Plan::Leave(reason),
        None => unless_held(observed, Raise::scale(deployment, min)),
    }
}

/// Whether the rule is asked to look after this Deployment at all: it is opted in, and
/// within the selection.
pub(super) fn is_selected(deployment: &Deployment, settings: &Settings) -> bool {
    not_opted_in(deployment, settings).is_none() && not_selected(deployment, settings).is_none()
}

/// The first reason for which its numbers are none of our business.
fn not_ours(observed: &Observed<'_>, settings: &Settings) -> Option<Reason> {
    let deployment = observed.deployment;
    being_deleted(deployment)
        .or_else(|| not_opted_in(deployment, settings))
        .or_else(|| not_selected(deployment, settings))
        .or_else(|| namespace_closed(observed, settings))
        .or_else(|| owned(deployment))
        .or_else(|| zero_kept(deployment, settings))
}

fn being_deleted(deployment: &Deployment) -> Option<Reason> {
    deployment
        .is_being_deleted()
        .then_some(Reason::BeingDeleted)
}

fn not_opted_in(deployment: &Deployment, settings: &Settings) -> Option<Reason> {
    let opt_in = &settings.opt_in;
    let found = deployment.labels().get(opt_in.key());
    // Exactly this value: whoever wrote `True` is told so instead of being guessed at.
    (found != Some(opt_in.value())).then(|| Reason::NotOptedIn {
        opt_in: opt_in.clone(),
        found: found.map(str::to_owned),
    })
}

fn not_selected(deployment: &Deployment, settings: &Settings) -> Option<Reason> {
    let selector = settings.selector.as_ref()?;
    (!selector.matches_with(|key| deployment.label(key))).then(|| Reason::NotSelected {
        selector: selector.to_string(),
    })
}

fn namespace_closed(observed: &Observed<'_>, settings: &Settings) -> Option<Reason> {
    let key = observed.deployment.key();
    let namespace = key.namespace()?;
    if observed.namespace.is_some_and(Namespace::is_paused) {
        Some(Reason::NamespacePaused {
            namespace: namespace.to_owned(),
        })
    } else if settings.excluded_namespaces.contains(namespace) {
        Some(Reason::NamespaceExcluded {
            namespace: namespace.to_owned(),
        })
    } else {
        None
    }
}

fn owned(deployment: &Deployment) -> Option<Reason> {
    let owner = deployment.controller()?;
    Some(Reason::Owned {
        owner: owner.clone(),
    })
}

fn zero_kept(deployment: &Deployment, settings: &Settings) -> Option<Reason> {
    if deployment.replicas() != 0 {
        return None;
    }
    // The annotation is named first: it is the closer of the two to the object.
    let by = if deployment.annotation(KEEP_ZERO) == Some("true") {
        ZeroKeptBy::Annotation
    } else if settings.zero == ZeroPolicy::Keep {
        ZeroKeptBy::Setting
    } else {
        return None;
    };
    Some(Reason::ZeroKept { by })
}

/// What is to be done about the autoscaler's own minimum, if that is ours to raise and too
/// low, whatever the Deployment has just now: the autoscaler may lower it at any time.
fn raise_min(observed: &Observed<'_>, settings: &Settings, min: i32) -> Option<Plan> {
    // With several the answer is not clear, with a ScaledObject or an owner it is not ours.
    let [autoscaler] = observed.autoscalers else {
        return None;
    };
    if settings.hpa != HpaPolicy::RaiseMin
        || !observed.scaled_objects.is_empty()
        || hindrance(autoscaler, &[], settings).is_some()
        || autoscaler.min() >= min
    {
        return None;
    }
    if let Some(max) = autoscaler.max().filter(|max| *max < min) {
        return Some(Plan::Blocked(Reason::MinAboveMax {
            autoscaler: autoscaler.key().name().to_owned(),
            max,
            from: autoscaler.min(),
            to: min,
        }));
    }
    let raise = Raise::min_replicas(observed.deployment, autoscaler, min)?;
    Some(unless_held(observed, raise))
}

fn satisfied(deployment: &Deployment, min: i32) -> Option<Reason> {
    let replicas = deployment.replicas();
    (replicas >= min).then_some(Reason::Satisfied { replicas, min })
}

fn autoscaled(observed: &Observed<'_>, settings: &Settings) -> Option<Reason> {
    if settings.hpa == HpaPolicy::Ignore {
        return None;
    }
    // The ScaledObject is what a person wrote; its HorizontalPodAutoscaler is made of it.
    if let Some(scaled_object) = observed.scaled_objects.iter().min_by_key(|it| it.key()) {
        return Some(Reason::Autoscaled {
            by: ScaledBy::ScaledObject(scaled_object.key().name().to_owned()),
            hindrance: None,
        });
    }
    // Always the same one is named, and one that works before one that may not.
    let mut all: Vec<_> = observed.autoscalers.iter().collect();
    all.sort_by_key(|it| (it.odd_api_version().is_some(), it.key()));
    let (first, others) = all.split_first()?;
    Some(Reason::Autoscaled {
        by: ScaledBy::HorizontalPodAutoscaler(first.key().name().to_owned()),
        hindrance: hindrance(first, others, settings),
    })
}

/// What is wrong with this autoscaler, as far as the settings care.
fn hindrance(
    autoscaler: &HorizontalPodAutoscaler,
    others: &[&Arc<HorizontalPodAutoscaler>],
    settings: &Settings,
) -> Option<Hindrance> {
    let raises = settings.hpa == HpaPolicy::RaiseMin;
    if let Some(odd) = autoscaler.odd_api_version() {
        Some(Hindrance::OddApiVersion(odd))
    } else if raises && !others.is_empty() {
        let names = others.iter().map(|other| other.key().name().to_owned());
        Some(Hindrance::Several(names.collect()))
    } else {
        let owner = autoscaler.controller().filter(|_| raises)?;
        Some(Hindrance::Owned(owner.clone()))
    }
}

/// The raise, unless now is not the time for it.
fn unless_held(observed: &Observed<'_>, raise: Raise) -> Plan {
    if let Some(hold) = observed.fight {
        let reason = raise.reason();
        Plan::Leave(Reason::Fight {
            autoscaler: reason.autoscaler().map(str::to_owned),
            opponent: hold.opponent.clone(),
            wait: hold.wait,
        })
    } else if let Some(Turn { limit, wait }) = observed.budget {
        Plan::Leave(Reason::Budget { limit, wait })
    } else {
        Plan::Raise(raise)
    }
}
