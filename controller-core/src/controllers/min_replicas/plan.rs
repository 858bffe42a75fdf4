//! What is to be done about one Deployment. Pure: no client, no clock, no I/O.

use super::autoscaler::HorizontalPodAutoscaler;
use super::deployment::{Deployment, KEEP_ZERO};
use super::namespace::Namespace;
use super::raise::Raise;
use super::reason::{Reason, ZeroKeptBy};
use super::settings::{HpaPolicy, Settings, ZeroPolicy};
use crate::watch::Object;

/// Everything that a decision about one Deployment rests on.
///
/// `None` always means "there is none that is known". Whoever fills this sees to it that a
/// cache which has not synced, or must not be read, never gets so far: to the plan, an
/// autoscaler that is not here is an autoscaler that does not exist.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The Deployment, from the cache or read live.
    pub deployment: &'a Deployment,
    /// Its namespace, if namespaces may be read.
    pub namespace: Option<&'a Namespace>,
    /// The autoscaler that targets it, if there is one.
    pub autoscaler: Option<&'a HorizontalPodAutoscaler>,
}

/// What is to be done, and why. The same plan serves every command; they differ only in
/// what they do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing.
    Leave(Reason),
    /// Raise it.
    Raise(Raise),
}

// === impl Plan ===

impl Plan {
    /// The one reason that is reported.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Leave(reason) => reason.clone(),
            Self::Raise(raise) => Reason::Raise {
                from: raise.from,
                to: raise.to,
            },
        }
    }
}

/// Decides. The first reason that holds is the one reported, in this order: being
/// deleted, not opted in (or not selected), namespace paused or excluded, owned, zero
/// kept, satisfied, autoscaled, raise.
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
/// let observed = Observed { deployment: &web, namespace: None, autoscaler: None };
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
/// today and in a test. What depends on time, such as how long a failure is waited out,
/// stands around it.
pub fn plan(observed: &Observed<'_>, settings: &Settings) -> Plan {
    match left_alone(observed, settings) {
        Some(reason) => Plan::Leave(reason),
        None => Plan::Raise(Raise::new(observed.deployment, settings.min)),
    }
}

/// Whether the rule is asked to look after this Deployment at all: it is opted in, and
/// within the selection.
pub(super) fn is_selected(deployment: &Deployment, settings: &Settings) -> bool {
    not_opted_in(deployment, settings).is_none() && not_selected(deployment, settings).is_none()
}

/// The first reason to leave the Deployment alone.
fn left_alone(observed: &Observed<'_>, settings: &Settings) -> Option<Reason> {
    let deployment = observed.deployment;
    being_deleted(deployment)
        .or_else(|| not_opted_in(deployment, settings))
        .or_else(|| not_selected(deployment, settings))
        .or_else(|| namespace_closed(observed, settings))
        .or_else(|| owned(deployment))
        .or_else(|| zero_kept(deployment, settings))
        .or_else(|| satisfied(deployment, settings))
        .or_else(|| autoscaled(observed.autoscaler, settings))
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
    (found.map(String::as_str) != Some(opt_in.value())).then(|| Reason::NotOptedIn {
        opt_in: opt_in.clone(),
        found: found.cloned(),
    })
}

fn not_selected(deployment: &Deployment, settings: &Settings) -> Option<Reason> {
    let selector = settings.selector.as_ref()?;
    (!selector.matches(deployment.labels())).then(|| Reason::NotSelected {
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

fn satisfied(deployment: &Deployment, settings: &Settings) -> Option<Reason> {
    let replicas = deployment.replicas();
    (replicas >= settings.min).then_some(Reason::Satisfied {
        replicas,
        min: settings.min,
    })
}

fn autoscaled(autoscaler: Option<&HorizontalPodAutoscaler>, settings: &Settings) -> Option<Reason> {
    let autoscaler = autoscaler.filter(|_| settings.hpa == HpaPolicy::Skip)?;
    Some(Reason::Autoscaled {
        autoscaler: autoscaler.key().name().to_owned(),
        odd_api_version: autoscaler.odd_api_version(),
    })
}
