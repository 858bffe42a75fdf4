use k8s_openapi::api::core::v1;

use crate::client::{ObjectKey, ResourceType};
use crate::watch::Object;

/// The object that an event is about, as the API writes it down.
///
/// ```
/// use controller_core::client::{ObjectKey, ResourceType};
/// use controller_core::write::events::ObjectReference;
///
/// const DEPLOYMENTS: ResourceType =
///     ResourceType::namespaced("apps", "v1", "deployments", "Deployment");
///
/// let key = ObjectKey::namespaced("shop", "web");
/// let web = ObjectReference::new(&DEPLOYMENTS, &key, "0b5e…");
/// assert_eq!(web.api_version, "apps/v1");
///
/// // From an object that was read, whatever its kind:
/// # use k8s_openapi::api::core::v1::Pod;
/// # const PODS: ResourceType = ResourceType::namespaced("", "v1", "pods", "Pod");
/// let pod: Pod = serde_json::from_str(r#"{"metadata":
///     {"name": "web-7x2", "namespace": "shop", "uid": "77aa…"}}"#)?;
/// let container = ObjectReference::of(&PODS, &pod).with_field_path("spec.containers{c}");
/// # assert_eq!((&*container.api_version, &*container.uid), ("v1", "77aa…"));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// There is no resourceVersion in it. The API has a field for it, and client-go fills it:
/// there the same event after any change of the object counts as another one, and a series
/// hardly ever comes about.
///
/// The dangerous mistake is an empty `uid`: `kubectl describe` shows only the events of the
/// uid that it looks at, so such an event is there and nobody sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ObjectReference {
    /// `apps/v1`, or `v1` for the core group.
    pub api_version: String,
    /// `Deployment`.
    pub kind: String,
    /// `None` for a kind without namespaces: its events go to the namespace `default`.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
    /// `metadata.uid`: which object of that name.
    pub uid: String,
    /// A part of the object, such as `spec.containers{web}`. Events of different parts are
    /// different events.
    pub field_path: Option<String>,
}

/// In whose words events are selected: one and the same event is served by two API groups,
/// which name its fields differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventApi {
    /// `v1`: `involvedObject`.
    Core,
    /// `events.k8s.io/v1`: `regarding`.
    Events,
}

// === impl ObjectReference ===

impl ObjectReference {
    /// A reference to the object of this kind, key and uid.
    pub fn new(resource: &ResourceType, key: &ObjectKey, uid: impl Into<String>) -> Self {
        let api_version = if resource.group.is_empty() {
            resource.version.to_string()
        } else {
            format!("{}/{}", resource.group, resource.version)
        };
        Self {
            api_version,
            kind: resource.kind.to_string(),
            namespace: key.namespace().map(str::to_owned),
            name: key.name().to_owned(),
            uid: uid.into(),
            field_path: None,
        }
    }

    /// A reference to an object that was read. The kind is not in what a list brings, so it
    /// is passed in.
    pub fn of<T: Object>(resource: &ResourceType, object: &T) -> Self {
        Self::new(resource, &object.key(), object.uid())
    }

    /// Points at a part of the object.
    #[must_use]
    pub fn with_field_path(mut self, path: impl Into<String>) -> Self {
        self.field_path = Some(path.into());
        self
    }

    /// The `fieldSelector` that finds the events of this object, client-go's
    /// `GetFieldSelector`. Fields that are empty select nothing.
    ///
    /// ```
    /// use controller_core::client::{Call, ResourceType, Scope};
    /// use controller_core::write::events::{EventApi, ObjectReference};
    ///
    /// const EVENTS: ResourceType =
    ///     ResourceType::namespaced("events.k8s.io", "v1", "events", "Event");
    ///
    /// let web = ObjectReference { name: "web".into(), uid: "0b5e".into(), ..Default::default() };
    /// let selector = web.field_selector(EventApi::Events);
    /// assert_eq!(selector, "regarding.name=web,regarding.uid=0b5e");
    /// let call = Call::list(&EVENTS, &Scope::Namespace("shop".into()))
    ///     .with_query([("fieldSelector", &*selector), ("limit", "500")]);
    /// ```
    pub fn field_selector(&self, api: EventApi) -> String {
        let prefix = match api {
            EventApi::Core => "involvedObject",
            EventApi::Events => "regarding",
        };
        let fields = [
            ("apiVersion", &self.api_version),
            ("kind", &self.kind),
            ("name", &self.name),
            ("uid", &self.uid),
        ];
        let terms = fields.iter().filter(|(_, value)| !value.is_empty());
        let terms = terms.map(|(field, value)| format!("{prefix}.{field}={}", escape(value)));
        terms.collect::<Vec<_>>().join(",")
    }
}

impl From<&ObjectReference> for v1::ObjectReference {
    fn from(reference: &ObjectReference) -> Self {
        Self {
            api_version: Some(reference.api_version.clone()),
            kind: Some(reference.kind.clone()),
            namespace: reference.namespace.clone(),
            name: Some(reference.name.clone()),
            uid: Some(reference.uid.clone()),
            field_path: reference.field_path.clone(),
            resource_version: None,
        }
    }
}

/// As apimachinery's `fields.EscapeValue`.
fn escape(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        if matches!(character, '\\' | ',' | '=') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(fields: [&str; 4]) -> ObjectReference {
        let [api_version, kind, name, uid] = fields.map(str::to_owned);
        ObjectReference {
            api_version,
            kind,
            name,
            uid,
            ..ObjectReference::default()
        }
    }

    /// EV-31.
    #[test]
    fn a_selector_names_the_fields_as_the_api_does() {
        let select = |fields, api| reference(fields).field_selector(api);
        let whole = ["apps/v1", "Deployment", "web", "u-1"];
        insta::assert_snapshot!(
            select(whole, EventApi::Events),
            @"regarding.apiVersion=apps/v1,regarding.kind=Deployment,regarding.name=web,regarding.uid=u-1"
        );
        insta::assert_snapshot!(
            select(whole, EventApi::Core),
            @"involvedObject.apiVersion=apps/v1,involvedObject.kind=Deployment,involvedObject.name=web,involvedObject.uid=u-1"
        );
        for (fields, expected) in [
            (["", "", "web", ""], "regarding.name=web"),
            (["", "", "", "u-1"], "regarding.uid=u-1"),
            (
                ["v1", "Pod", "", ""],
                "regarding.apiVersion=v1,regarding.kind=Pod",
            ),
            (["", "Pod", "", ""], "regarding.kind=Pod"),
            (["", "", "a=b,c\\", ""], "regarding.name=a\\=b\\,c\\\\"),
            (["", "", "", ""], ""),
        ] {
            assert_eq!(select(fields, EventApi::Events), expected, "{fields:?}");
        }
    }
}
