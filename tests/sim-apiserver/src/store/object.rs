//! One stored object: its JSON, encoded once, and the few facts that selection needs.

use std::{borrow::Borrow, cmp::Ordering, sync::Arc};

use bytes::Bytes;
use serde_json::Value;

/// Where an object stands: `NAMESPACE/NAME`, or `NAME` for cluster-scoped kinds.
///
/// Ordered as etcd orders its keys, byte by byte with the slash included: that is the order of lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    path: Arc<str>,
    /// Length of the namespace; 0 where there is none.
    namespace: u32,
}

/// A stored object. Immutable: an update stores another.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) key: Key,
    pub(crate) revision: u64,
    pub(crate) uid: Box<str>,
    pub(crate) labels: Box<[(Box<str>, Box<str>)]>,
    /// The uids of its owners.
    pub(crate) owners: Box<[Box<str>]>,
    /// The JSON without `apiVersion` and `kind`: `{"metadata":…}`. Lists leave both out of their items, and
    /// one object may be served in more than one version.
    pub(crate) body: Bytes,
}

// === impl Key ===

impl Key {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self {
                path: name.into(),
                namespace: 0,
            };
        }
        let path = format!("{namespace}/{name}").into();
        Self {
            path,
            namespace: u32::try_from(namespace.len()).unwrap_or(u32::MAX),
        }
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.path[..self.namespace as usize]
    }

    pub(crate) fn name(&self) -> &str {
        match self.namespace {
            0 => &self.path,
            length => &self.path[length as usize + 1..],
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.path
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.path.cmp(&other.path)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.path
    }
}

// === impl Object ===

impl AsRef<Self> for Object {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Object {
    /// Encodes an object. `apiVersion` and `kind` are dropped; `metadata.resourceVersion` is taken as it is.
    pub(crate) fn encode(mut value: Value, revision: u64) -> Self {
        if let Some(fields) = value.as_object_mut() {
            fields.remove("apiVersion");
            fields.remove("kind");
        }
        let metadata = &value["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default();
        let labels = metadata["labels"].as_object().into_iter().flatten();
        let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
        Self {
            key: Key::new(text("namespace"), text("name")),
            revision,
            uid: text("uid").into(),
            labels: labels
                .filter_map(|(k, v)| Some((k.as_str().into(), v.as_str()?.into())))
                .collect(),
            owners: owners
                .filter_map(|owner| owner["uid"].as_str().map(Into::into))
                .collect(),
            body: encode(&value),
        }
    }

    /// The object as a tree, without `apiVersion` and `kind`.
    pub(crate) fn value(&self) -> Value {
        // By `parse` for the same reason as `to_string` below.
        let text = str::from_utf8(&self.body).ok();
        text.and_then(|text| text.parse().ok())
            .expect("invariant: a stored body was encoded by this crate")
    }
}

/// Without the room that a buffer leaves for more: there may be very many objects.
///
/// By `to_string`, which serde_json compiles once and, in this workspace, always optimised.
fn encode(value: &Value) -> Bytes {
    value.to_string().into_bytes().into_boxed_slice().into()
}

/// Sets `metadata.resourceVersion`.
pub(crate) fn set_revision(value: &mut Value, revision: u64) {
    value["metadata"]["resourceVersion"] = revision.to_string().into();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_ordered_as_etcd_orders_them() {
        let mut keys = [
            Key::new("a", "x"),
            Key::new("a-b", "x"),
            Key::new("a", "a"),
            Key::new("", "b"),
        ];
        keys.sort();
        let order: Vec<_> = keys.iter().map(Key::as_str).collect();
        assert_eq!(order, ["a-b/x", "a/a", "a/x", "b"]);
        assert_eq!((keys[0].namespace(), keys[0].name()), ("a-b", "x"));
        assert_eq!((keys[3].namespace(), keys[3].name()), ("", "b"));
    }

    #[test]
    fn an_object_keeps_what_selection_needs() {
        let object = Object::encode(
            json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "shop", "uid": "u",
                "labels": {"app": "web"}, "ownerReferences": [{"uid": "o"}]}}),
            7,
        );
        assert_eq!(object.key, Key::new("shop", "p"));
        assert_eq!(&*object.owners, &["o".into()]);
        assert_eq!(&*object.labels, &[("app".into(), "web".into())]);
        assert!(object.body.starts_with(br#"{"metadata":"#));
    }
}
