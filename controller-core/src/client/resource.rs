use std::borrow::Cow;
use std::fmt;

/// A kind of object as the API server's paths name it.
///
/// Known at compile time for built-in kinds, filled at run time for custom ones:
///
/// ```
/// use controller_core::client::{ResourceType, Scope};
///
/// const DEPLOYMENTS: ResourceType =
///     ResourceType::namespaced("apps", "v1", "deployments", "Deployment");
/// assert_eq!(
///     DEPLOYMENTS.path(&Scope::Namespace("shop".into())),
///     "/apis/apps/v1/namespaces/shop/deployments",
/// );
/// assert_eq!(DEPLOYMENTS.path(&Scope::All), "/apis/apps/v1/deployments");
/// assert_eq!(DEPLOYMENTS.to_string(), "deployments.apps");
///
/// let group = String::from("example.com"); // from a flag, or from discovery
/// let custom = ResourceType {
///     group: group.into(),
///     version: "v1alpha1".into(),
///     plural: "lamps".into(),
///     kind: "Lamp".into(),
///     namespaced: false,
/// };
/// assert_eq!(custom.path(&Scope::All), "/apis/example.com/v1alpha1/lamps");
/// ```
///
/// Nothing here asks the server. Where the kind is known only at run time, discovery tells
/// the plural and whether there are namespaces; neither follows from the kind's name. A
/// wrong one shows as [`ApiError::is_unserved`](super::ApiError::is_unserved).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceType {
    /// The API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// The version, such as `v1`.
    pub version: Cow<'static, str>,
    /// The plural name that paths and RBAC rules use, such as `deployments`.
    pub plural: Cow<'static, str>,
    /// The kind, such as `Deployment`.
    pub kind: Cow<'static, str>,
    /// Whether objects of this kind live in a namespace.
    pub namespaced: bool,
}

/// Which part of a cluster a list or watch covers.
///
/// The two need different permissions: `All` a ClusterRole with a ClusterRoleBinding, one
/// namespace no more than a Role. There is no list of several namespaces in the API; take
/// one informer each, or `All` and a filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Every namespace; also the only scope of a cluster-scoped kind.
    All,
    /// One namespace.
    Namespace(String),
}

// === impl ResourceType ===

impl ResourceType {
    /// A kind whose objects live in namespaces. `group` is empty for the core group.
    pub const fn namespaced(
        group: &'static str,
        version: &'static str,
        plural: &'static str,
        kind: &'static str,
    ) -> Self {
        Self::built_in([group, version, plural, kind], true)
    }

    /// A kind without namespaces. `group` is empty for the core group.
    pub const fn cluster(
        group: &'static str,
        version: &'static str,
        plural: &'static str,
        kind: &'static str,
    ) -> Self {
        Self::built_in([group, version, plural, kind], false)
    }

    const fn built_in(names: [&'static str; 4], namespaced: bool) -> Self {
        let [group, version, plural, kind] = names;
        Self {
            group: Cow::Borrowed(group),
            version: Cow::Borrowed(version),
            plural: Cow::Borrowed(plural),
            kind: Cow::Borrowed(kind),
            namespaced,
        }
    }

    /// The path of the collection in `scope`. A cluster-scoped kind ignores a namespace.
    pub fn path(&self, scope: &Scope) -> String {
        let root = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        match scope {
            Scope::Namespace(namespace) if self.namespaced => {
                format!("{root}/namespaces/{namespace}/{}", self.plural)
            }
            _ => format!("{root}/{}", self.plural),
        }
    }

    /// The path of one object.
    pub fn object_path(&self, key: &super::ObjectKey) -> String {
        let scope = key
            .namespace()
            .map_or(Scope::All, |namespace| Scope::Namespace(namespace.into()));
        format!("{}/{}", self.path(&scope), key.name())
    }
}

impl fmt::Display for ResourceType {
    /// As kubectl and RBAC messages name it: `deployments.apps`, `pods`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plural)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}
