use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::watch::{LabelSelector, SelectorError};

/// The namespaces that are left alone unless a user names them: raising a system
/// component changes how a cluster behaves, and some of them may run only once.
pub const SYSTEM_NAMESPACES: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];

/// What the rule is told from outside.
///
/// Plain data: the same settings and the same observation always give the same plan.
/// [`Default`] is the rule as a first user meets it; `excluded_namespaces` is empty
/// there, because whether [`SYSTEM_NAMESPACES`] apply depends on the scope, which only
/// the caller knows.
///
/// The dangerous mistake is to forget them where all namespaces are looked after. A label
/// on the wrong thing then raises a system component that may run only once:
///
/// ```
/// use controller_core::controllers::min_replicas::{SYSTEM_NAMESPACES, Settings};
///
/// // With `Scope::All`:
/// let settings = Settings {
///     min: 3,
///     excluded_namespaces: SYSTEM_NAMESPACES.map(String::from).into(),
///     ..Settings::default()
/// };
/// assert!(settings.excluded_namespaces.contains("kube-system"));
/// ```
#[derive(Clone, Debug)]
pub struct Settings {
    /// The minimum number of replicas, where a Deployment does not name its own by the
    /// annotation [`MIN`](super::MIN). Below 1 nothing is ever raised.
    pub min: i32,
    /// The highest minimum that a Deployment may ask for by itself. It bounds what one
    /// annotation can cost; it does not bound [`min`](Self::min).
    pub max_min: i32,
    /// The label, and its one value, by which a Deployment asks to be looked after.
    pub opt_in: OptIn,
    /// Narrows within the opted-in Deployments. It is checked again on a live object, so
    /// that one which left the selection in the meantime is not raised.
    pub selector: Option<LabelSelector>,
    /// What a Deployment at 0 replicas means.
    pub zero: ZeroPolicy,
    /// What an autoscaler on a Deployment means.
    pub hpa: HpaPolicy,
    /// Namespaces that are left alone.
    pub excluded_namespaces: BTreeSet<String>,
    /// How far a raise goes.
    pub dry_run: DryRun,
}

/// The label that opts a Deployment in, with the only value that does.
///
/// ```
/// use controller_core::controllers::min_replicas::OptIn;
///
/// let opt_in: OptIn = "team/keep-up=yes".parse()?;
/// assert_eq!((opt_in.key(), opt_in.value()), ("team/keep-up", "yes"));
/// assert_eq!(OptIn::default().to_string(), "demo/min-replicas=true");
/// assert!("no-value".parse::<OptIn>().is_err());
/// # Ok::<(), controller_core::controllers::min_replicas::OptInError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptIn {
    key: String,
    value: String,
}

/// A text that names no label with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptInError {
    /// There is no `=`, or nothing before it.
    #[error("expected KEY=VALUE, got {0:?}")]
    NotAPair(String),
    /// A server would refuse a label with this key or value.
    #[error("no label can be {text:?}: {why}")]
    Invalid {
        /// The text as it was given.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

/// What a Deployment at 0 replicas means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZeroPolicy {
    /// 0 is below the minimum like any other number.
    #[default]
    Raise,
    /// Somebody parked it: it is left alone.
    Keep,
}

/// What a HorizontalPodAutoscaler, or KEDA's ScaledObject, that targets a Deployment means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HpaPolicy {
    /// `spec.replicas` is the autoscaler's: the Deployment is left alone and reported.
    ///
    /// So it is too if the autoscaler's target has no apiVersion, or one of a group that
    /// is long gone. Such an autoscaler may never scale, and starts to as soon as
    /// somebody mends it: raising beside it would begin a fight on that day. The report is
    /// a warning then, and names the autoscaler and the apiVersion.
    #[default]
    Skip,
    /// The autoscaler's `minReplicas` is raised to the minimum, whatever the Deployment has
    /// just now; the autoscaler then scales the Deployment. `spec.replicas` is not written.
    ///
    /// Not if somebody manages the autoscaler, as KEDA does, if several target the
    /// Deployment, or if its target's apiVersion is odd: such a Deployment is left alone, as
    /// with [`Skip`](Self::Skip). A Deployment at 0 replicas stays there, for then its
    /// autoscaler is off.
    RaiseMin,
    /// The rule holds regardless. If the autoscaler's own minimum is lower, the two
    /// fight for ever.
    Ignore,
}

/// How far a raise goes.
///
/// `Client` shows what the rule would do. `Server` shows what would come of it: webhooks,
/// quotas and permissions have their say. It needs the permission to patch, and in a loop
/// each decision is sent once, for the server would only say the same again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DryRun {
    /// It is written.
    #[default]
    None,
    /// Nothing is sent.
    Client,
    /// It is sent with `dryRun=All`: the server judges it and stores nothing.
    Server,
}

// === impl Settings ===

impl Default for Settings {
    fn default() -> Self {
        Self {
            min: 2,
            max_min: 100,
            opt_in: OptIn::default(),
            selector: None,
            zero: ZeroPolicy::default(),
            hpa: HpaPolicy::default(),
            excluded_namespaces: BTreeSet::new(),
            dry_run: DryRun::default(),
        }
    }
}

// === impl OptIn ===

impl OptIn {
    /// The label's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The one value that opts in; any other does not.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl Default for OptIn {
    fn default() -> Self {
        Self {
            key: "demo/min-replicas".into(),
            value: "true".into(),
        }
    }
}

impl FromStr for OptIn {
    type Err = OptInError;

    fn from_str(text: &str) -> Result<Self, OptInError> {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| OptInError::NotAPair(text.to_owned()))?;
        let invalid = |error: SelectorError| OptInError::Invalid {
            text: text.to_owned(),
            why: error.message,
        };
        // Not by the selector's grammar, which is wider than one pair (`a==b`, `a=b,c=d`) and
        // whose errors are about selectors.
        LabelSelector::equals(key, value).map_err(invalid)?;
        Ok(Self {
            key: key.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl fmt::Display for OptIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_one_pair_and_refuses_the_rest() {
        let opt_in: OptIn = "example.com/keep=".parse().unwrap();
        assert_eq!((opt_in.key(), opt_in.value()), ("example.com/keep", ""));
        for text in ["", "=true", "key", "a in (b)"] {
            assert_eq!(
                text.parse::<OptIn>().unwrap_err(),
                OptInError::NotAPair(text.into()),
                "{text}"
            );
        }
    }

    #[test]
    fn refuses_what_no_label_can_be() {
        for text in ["-key=true", "a/b/c=true", "a!=b", "key=sp ace", "key=-x"] {
            assert!(text.parse::<OptIn>().is_err(), "{text}");
        }
        for (text, value) in [("a=b=c", "b=c"), ("a==b", "=b"), ("a=b,c=d", "b,c=d")] {
            let error = text.parse::<OptIn>().unwrap_err().to_string();
            let why = format!("no label can be {text:?}: invalid label value {value:?}: must be");
            assert!(error.starts_with(&why), "{error}");
        }
    }

    #[test]
    fn prints_as_it_is_written() {
        insta::assert_snapshot!(OptIn::default(), @"demo/min-replicas=true");
        insta::assert_snapshot!("key".parse::<OptIn>().unwrap_err(), @r#"expected KEY=VALUE, got "key""#);
    }
}
