use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use hashbrown::DefaultHashBuilder;
use smol_str::SmolStr;

mod interner;

use interner::Namespace;

/// The name of one object of a kind: `namespace/name`, or `name` where the kind has no
/// namespaces.
///
/// Prints and parses as client-go's `MetaNamespaceKeyFunc` and `SplitMetaNamespaceKey`
/// do: an empty namespace is no namespace, `/name` is `name`, and two slashes or more
/// are an error. Keys sort by namespace and then by name, those
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
///
/// It is one pointer, to a name and a namespace that all keys of the namespace share. Making
/// one costs an allocation and the hashing of its text, once for every map, queue and limiter
/// that it comes to; a clone costs a reference count. Nothing here takes a lock, except for the
/// first key of a namespace that is not that of the thread's last one.
#[derive(Clone)]
pub struct ObjectKey(Arc<Parts>);

/// A text that is no object key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected key format: {0:?}")]
pub struct KeyError(String);

struct Parts {
    /// Never `Some("")`: an empty namespace is no namespace. One copy of each in the process,
    /// so that equal ones are nearly always the same pointer.
    namespace: Option<Arc<Namespace>>,
    /// Short ones, which most are, lie here and not behind another pointer.
    name: SmolStr,
    hash: u64,
}

/// By what all keys of this process are hashed when they are made. Random, so that nobody
/// outside can choose names that share a hash.
static HASHER: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

// === impl ObjectKey ===

impl ObjectKey {
    /// The key of a namespaced object. An empty namespace gives a cluster-scoped key.
    pub fn namespaced(namespace: impl AsRef<str>, name: impl AsRef<str>) -> Self {
        let namespace = namespace.as_ref();
        let namespace = (!namespace.is_empty()).then(|| interner::namespace(namespace));
        Self::new(namespace, name.as_ref())
    }

    /// The key of an object without a namespace.
    pub fn cluster(name: impl AsRef<str>) -> Self {
        Self::new(None, name.as_ref())
    }

    /// The namespace, `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        self.0.namespace.as_ref().map(|it| it.as_str())
    }

    /// The object's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    fn new(namespace: Option<Arc<Namespace>>, name: &str) -> Self {
        let text = (namespace.as_ref().map(|it| it.as_str()), name);
        Self(Arc::new(Parts {
            hash: HASHER.hash_one(text),
            namespace,
            name: SmolStr::new(name),
        }))
    }
}

impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash
                && self.0.name == other.0.name
                && same_namespace(&self.0, &other.0))
    }
}

impl Eq for ObjectKey {}

impl Hash for ObjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        let by_namespace = if same_namespace(&self.0, &other.0) {
            Ordering::Equal
        } else {
            self.namespace().cmp(&other.namespace())
        };
        by_namespace.then_with(|| self.name().cmp(other.name()))
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
        match self.namespace() {
            Some(namespace) => write!(f, "{namespace}/{}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

fn same_namespace(a: &Parts, b: &Parts) -> bool {
    match (&a.namespace, &b.namespace) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.as_str() == b.as_str(),
        (None, None) => true,
        _ => false,
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

    #[test]
    fn a_key_is_one_pointer_and_shares_its_namespace() {
        assert_eq!(size_of::<ObjectKey>(), size_of::<usize>());
        assert_eq!(size_of::<Option<ObjectKey>>(), size_of::<usize>());
        assert_eq!(size_of::<Parts>(), 40);
        let (a, b) = (
            ObjectKey::namespaced("shop", "a"),
            ObjectKey::namespaced("shop", "b"),
        );
        let namespace = |key: &ObjectKey| key.0.namespace.clone().unwrap();
        assert!(Arc::ptr_eq(&namespace(&a), &namespace(&b)));
    }

    #[test]
    fn keys_sort_by_namespace_then_name_those_without_one_first() {
        let mut keys = ["b/a", "z", "a/z", "a", "a/b"].map(|key| key.parse::<ObjectKey>().unwrap());
        keys.sort();
        assert_eq!(
            keys.map(|key| key.to_string()),
            ["a", "z", "a/b", "a/z", "b/a"]
        );
    }

    fn parts() -> impl Strategy<Value = (Option<String>, String)> {
        // Over and under what a key stores in itself.
        let name = prop_oneof!["[ab]{0,2}", "[ab]{24,25}"];
        (proptest::option::of("[ab]{1,2}"), name)
    }

    fn key((namespace, name): &(Option<String>, String)) -> ObjectKey {
        ObjectKey::namespaced(namespace.as_deref().unwrap_or_default(), name)
    }

    proptest! {
        /// Whatever is shared, a key is its text.
        #[test]
        fn keys_compare_and_hash_as_their_texts(a in parts(), b in parts()) {
            let (left, right) = (key(&a), key(&b));
            prop_assert_eq!(left == right, a == b);
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert_eq!(&left, &left.clone());
            let hasher = hashbrown::DefaultHashBuilder::default();
            let hash = |key: &ObjectKey| std::hash::BuildHasher::hash_one(&hasher, key);
            if a == b {
                prop_assert_eq!(hash(&left), hash(&right));
            }
        }

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
