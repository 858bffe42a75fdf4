use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name of one object of a kind: `namespace/name`, or `name` where the kind has no
/// namespaces.
///
/// Prints and parses as client-go's `MetaNamespaceKeyFunc` and `SplitMetaNamespaceKey`
/// do: an empty namespace is no namespace, `/name` is `name`, and two slashes or more
/// are an error. A clone copies two pointers. Keys sort by namespace and then by name, those
/// without a namespace first.
///
/// It is what a queue carries. Two things are left out on purpose. There is no *uid*: a
/// reconciler looks at whatever has the name now. There is no *kind*, which leads to the one
/// dangerous mistake, a queue that serves two kinds: the Deployment `shop/web` and the
/// Service `shop/web` are one key there. Give each kind a queue of its own, as client-go's
/// controllers do, or a key type of your own that names the kind.
///
/// A name is not checked here; the server does that.
///
/// ```
/// use controller_core::client::ObjectKey;
///
/// let key: ObjectKey = "shop/web".parse()?;
/// assert_eq!(key.namespace(), Some("shop"));
/// assert_eq!(key, ObjectKey::namespaced("shop", "web"));
/// assert_eq!(ObjectKey::cluster("node-1").to_string(), "node-1");
/// assert_eq!(
///     "a/b/c".parse::<ObjectKey>().unwrap_err().to_string(),
///     r#"unexpected key format: "a/b/c""#,
/// );
/// # Ok::<(), controller_core::client::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Never `Some("")`: an empty namespace is no namespace.
    namespace: Option<Arc<str>>,
    name: Arc<str>,
}

/// A text that is no object key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected key format: {0:?}")]
pub struct KeyError(String);

// === impl ObjectKey ===

impl ObjectKey {
    /// The key of a namespaced object. An empty namespace gives a cluster-scoped key.
    pub fn namespaced(namespace: impl AsRef<str>, name: impl AsRef<str>) -> Self {
        let namespace = namespace.as_ref();
        Self {
            namespace: (!namespace.is_empty()).then(|| Arc::from(namespace)),
            name: Arc::from(name.as_ref()),
        }
    }

    /// The key of an object without a namespace.
    pub fn cluster(name: impl AsRef<str>) -> Self {
        Self {
            namespace: None,
            name: Arc::from(name.as_ref()),
        }
    }

    /// The namespace, `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The object's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for ObjectKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut parts = text.split('/');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(name), None, None) => Ok(Self::cluster(name)),
            (Some(namespace), Some(name), None) => Ok(Self::namespaced(namespace, name)),
            _ => Err(KeyError(text.to_owned())),
        }
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// ST-13.
    #[test]
    fn splits_as_client_go_does() {
        let split = |text: &str| {
            let key: ObjectKey = text.parse().unwrap();
            (
                key.namespace().unwrap_or("").to_owned(),
                key.name().to_owned(),
            )
        };
        assert_eq!(split(""), (String::new(), String::new()));
        assert_eq!(split("n"), (String::new(), "n".into()));
        assert_eq!(split("ns/n"), ("ns".into(), "n".into()));
        assert_eq!(split("/n"), (String::new(), "n".into()));
        assert_eq!(split("ns/"), ("ns".into(), String::new()));
        assert_eq!(
            "a/b/c".parse::<ObjectKey>().unwrap_err().to_string(),
            r#"unexpected key format: "a/b/c""#
        );
    }

    proptest! {
        /// ST-12: an error exactly when there are two slashes or more; a round trip
        /// loses nothing but a leading slash.
        #[test]
        fn any_text_round_trips_or_is_refused(text in "[abc/]{0,10}") {
            let slashes = text.matches('/').count();
            match text.parse::<ObjectKey>() {
                Ok(key) => {
                    prop_assert!(slashes < 2);
                    prop_assert_eq!(key.to_string(), text.strip_prefix('/').unwrap_or(&text));
                }
                Err(_) => prop_assert!(slashes >= 2),
            }
        }
    }
}
