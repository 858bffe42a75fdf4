use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::deployment::Owner;
use super::labels::LabelText;
use crate::client::ObjectKey;

/// Annotations with this prefix are ours; all others are skipped while decoding.
pub(super) const PREFIX: &str = "minrep.dev/";

/// An object's metadata as it arrives, as far as one of our kinds looks at it. A `null`
/// is as good as an absent field everywhere.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    name: String,
    namespace: Option<String>,
    pub(super) uid: Option<Box<str>>,
    pub(super) resource_version: Option<Box<str>>,
    deletion_timestamp: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) labels: LabelText,
    #[serde(default, deserialize_with = "own_annotations")]
    pub(super) annotations: Annotations,
    pub(super) owner_references: Option<Vec<OwnerReference>>,
}

/// Annotations whose key starts with [`PREFIX`].
pub(super) type Annotations = BTreeMap<Box<str>, Box<str>>;

#[derive(Debug, serde::Deserialize)]
pub(super) struct OwnerReference {
    kind: Option<String>,
    name: Option<String>,
    controller: Option<bool>,
}

struct OwnAnnotations;

// === impl Metadata ===

impl Metadata {
    pub(super) fn key(&self) -> ObjectKey {
        match self.namespace.as_deref() {
            Some(namespace) => ObjectKey::namespaced(namespace, &self.name),
            None => ObjectKey::cluster(&self.name),
        }
    }

    pub(super) fn is_being_deleted(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

/// The owner that manages an object, among all of them.
pub(super) fn controller(owners: Option<Vec<OwnerReference>>) -> Option<Owner> {
    owners
        .into_iter()
        .flatten()
        .find(|owner| owner.controller == Some(true))
        .map(|owner| Owner {
            kind: owner.kind.unwrap_or_default(),
            name: owner.name.unwrap_or_default(),
        })
}

/// Keeps our annotations and skips the others without a copy: `last-applied-configuration`
/// alone is often larger than all else that is kept of an object.
fn own_annotations<'de, D>(deserializer: D) -> Result<Annotations, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_option(OwnAnnotations)
}

// === impl OwnAnnotations ===

impl<'de> Visitor<'de> for OwnAnnotations {
    type Value = Annotations;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of annotations")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Annotations::new())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Annotations::new())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut own = Annotations::new();
        while let Some(key) = map.next_key::<Box<str>>()? {
            if key.starts_with(PREFIX) {
                if let Some(value) = map.next_value::<Option<Box<str>>>()? {
                    own.insert(key, value);
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(own)
    }
}
