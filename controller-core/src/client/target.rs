use std::fmt;

/// What RBAC calls a request: the word that a Role must list for it to be allowed.
///
/// It is not the HTTP method: get, list and watch are all `GET`, and a Role that allows
/// one allows none of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read a collection.
    List,
    /// Follow a collection.
    Watch,
    /// Make an object.
    Create,
    /// Replace an object.
    Update,
    /// Change parts of an object.
    Patch,
    /// Remove an object.
    Delete,
}

/// What a request is about, in the words of RBAC, so that a refusal can name the rule
/// that is missing.
///
/// The server's own sentence names the resource and the user but has no field for the
/// verb, and a refusal by a webhook or a proxy names nothing: so the request remembers.
///
/// ```
/// use controller_core::client::Target;
///
/// let target = Target {
///     resource: "deployments.apps/scale".into(),
///     namespace: Some("shop".into()),
///     name: Some("web".into()),
/// };
/// assert_eq!(
///     target.to_string(),
///     r#"deployments.apps/scale "web" in namespace shop"#,
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    /// `deployments.apps`, `deployments.apps/scale`, `pods`.
    pub resource: String,
    /// The namespace, `None` for all of them and for kinds without namespaces.
    pub namespace: Option<String>,
    /// The object, `None` for a collection.
    pub name: Option<String>,
}

// === impl Verb ===

impl Verb {
    /// The verb as a Role lists it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

// === impl Target ===

impl fmt::Display for Target {
    /// `deployments.apps "web" in namespace shop`, as much of it as is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource)?;
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, " in namespace {namespace}")?;
        }
        Ok(())
    }
}
