//! The kinds that the server knows: one table entry each.

mod columns;
mod conversions;
mod defaults;
mod reviews;
mod table;
mod validation;

use parking_lot::RwLock;
use serde_json::{Value, json};

pub(crate) use columns::{Printer, selector_text};
pub(crate) use validation::{check_finalizers, check_metadata, check_name};

use crate::{openapi::type_of, status::FieldError};

/// A kind that the server serves.
///
/// The kinds of the crate's README are built in; a test adds others, such as a custom resource, with
/// [`Builder::kind`](crate::Builder::kind).
///
/// ```
/// use sim_apiserver::Kind;
///
/// const SCALED_OBJECT: Kind =
///     Kind::new("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects").short_names(&["so"]).with_status();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) singular: Option<&'static str>,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) categories: &'static [&'static str],
    pub(crate) namespaced: bool,
    pub(crate) status: bool,
    pub(crate) scale: bool,
    /// What fills in the answer of a kind that is not stored; it can only be created.
    pub(crate) review: Option<fn(&mut Value)>,
    /// Whether a status that a client creates it with is kept.
    pub(crate) created_with_status: bool,
    /// Whether a deletion answers with the object, though it is gone.
    pub(crate) returns_deleted: bool,
    /// Whether a change of it is checked as a new object, too: then a bad label is told of once more.
    pub(crate) checked_again: bool,
    /// Fields that the server fills in when an object is made without them, after it has noted who owns which.
    pub(crate) server_set: &'static [&'static str],
    /// Fields of a condition that the real server encodes though nothing is in them.
    pub(crate) condition_times: &'static [&'static str],
    /// Whether `metadata.generation` is kept.
    pub(crate) generation: bool,
    /// Whether an update may leave `metadata.resourceVersion` out.
    pub(crate) unconditional_update: bool,
    /// Whether a PUT may create.
    pub(crate) create_on_update: bool,
    pub(crate) field_labels: FieldLabels,
    /// The fields, beside metadata, that an empty typed object encodes: the real server's bookmarks have them.
    pub(crate) empty: &'static str,
    /// Further versions of the same objects.
    pub(crate) also: &'static [AlsoServed],
    pub(crate) default: fn(&mut Value),
    /// The defaults of a status that is written.
    pub(crate) default_status: fn(&mut Value),
    /// The second value is the object before an update.
    pub(crate) validate: fn(&Value, Option<&Value>) -> Vec<FieldError>,
    /// A status, and the object before; both are whole objects.
    pub(crate) validate_status: fn(&Value, &Value) -> Vec<FieldError>,
    pub(crate) printer: Printer,
}

/// Field labels beside `metadata.name` and `metadata.namespace`, with JSON pointers into the stored object; of
/// several pointers, separated by spaces, the first counts that points at something.
pub(crate) type FieldLabels = &'static [(&'static str, &'static str)];

/// Another version, or another group, in which a kind's objects are served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlsoServed {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) field_labels: FieldLabels,
    pub(crate) from_stored: fn(&mut Value),
    pub(crate) to_stored: fn(&mut Value),
    /// What it refuses of a stored object beside what the kind does.
    pub(crate) validate: fn(&Value, Option<&Value>) -> Vec<FieldError>,
}

/// A kind's place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KindId(usize);

/// A kind in one of the versions in which it is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    pub(crate) id: KindId,
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) also: Option<AlsoServed>,
}

/// The table.
#[derive(Debug)]
pub(crate) struct Kinds {
    all: Vec<Kind>,
    /// Those that are not served yet.
    absent: RwLock<Vec<KindId>>,
}

// === impl Kind ===

impl Kind {
    /// A namespaced kind without subresources. The group is empty for the core group; `plural` is the resource
    /// name in paths.
    #[must_use]
    pub const fn new(
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self {
            group,
            version,
            kind,
            plural,
            singular: None,
            short_names: &[],
            categories: &[],
            namespaced: true,
            status: false,
            scale: false,
            review: None,
            created_with_status: false,
            returns_deleted: false,
            checked_again: false,
            server_set: &[],
            condition_times: &[],
            generation: true,
            unconditional_update: false,
            create_on_update: false,
            field_labels: &[],
            empty: "",
            also: &[],
            default: |_| {},
            default_status: |_| {},
            validate: |_, _| Vec::new(),
            validate_status: |_, _| Vec::new(),
            printer: Printer::CUSTOM,
        }
    }

    /// Makes it cluster-scoped.
    #[must_use]
    pub const fn cluster_scoped(mut self) -> Self {
        self.namespaced = false;
        self
    }

    /// Adds the `status` subresource; updates of the object then leave the status alone.
    #[must_use]
    pub const fn with_status(mut self) -> Self {
        self.status = true;
        self
    }

    /// Adds the `scale` subresource over `spec.replicas` and `status.replicas`.
    #[must_use]
    pub const fn with_scale(mut self) -> Self {
        self.scale = true;
        self
    }

    /// Sets the short names for discovery.
    #[must_use]
    pub const fn short_names(mut self, names: &'static [&'static str]) -> Self {
        self.short_names = names;
        self
    }

    /// What is wrong with an object that was sent in this version.
    pub(crate) fn errors(
        &self,
        api_version: &str,
        new: &Value,
        old: Option<&Value>,
    ) -> Vec<FieldError> {
        let mut errors = (self.validate)(new, old);
        if let Some(also) = self.in_version(api_version) {
            errors.extend((also.validate)(new, old));
        }
        errors
    }

    /// How it is served in another version than the stored one.
    pub(crate) fn in_version(&self, api_version: &str) -> Option<&'static AlsoServed> {
        let named = |also: &&AlsoServed| self::api_version(also.group, also.version) == api_version;
        self.also.iter().find(named)
    }

    /// Whether the real server knows it only by a definition.
    pub(crate) fn is_custom(&self) -> bool {
        type_of(self.group, self.version, self.kind).is_none()
    }

    /// The verbs of discovery.
    pub(crate) fn verbs(&self) -> Vec<&'static str> {
        if self.review.is_some() {
            return vec!["create"];
        }
        if self.is_custom() {
            let mut verbs = vec!["delete", "deletecollection", "get", "list"];
            verbs.extend(["patch", "create", "update", "watch"]);
            return verbs;
        }
        let mut verbs = vec!["create", "delete", "deletecollection"];
        verbs.extend(["get", "list", "patch", "update", "watch"]);
        verbs.retain(|verb| *verb != "deletecollection" || !self.one_by_one());
        verbs
    }

    /// Whether a collection of it cannot be deleted at once.
    pub(crate) fn one_by_one(&self) -> bool {
        self.kind == "Namespace"
    }

    /// `GROUP/VERSION`, or `VERSION` for the core group.
    pub(crate) fn api_version(&self) -> String {
        api_version(self.group, self.version)
    }

    pub(crate) fn singular(&self) -> String {
        self.singular
            .map_or_else(|| self.kind.to_lowercase(), ToOwned::to_owned)
    }

    /// `PLURAL.GROUP`, or `PLURAL` for the core group: what messages call a resource.
    pub(crate) fn resource(&self) -> String {
        self.qualified(self.plural)
    }

    /// The same for a subresource: `deployments/scale.apps`.
    pub(crate) fn qualified(&self, resource: &str) -> String {
        if self.group.is_empty() {
            resource.to_owned()
        } else {
            format!("{resource}.{}", self.group)
        }
    }

    /// The `details` of a Status about one object.
    pub(crate) fn details(&self, name: &str) -> Value {
        self.details_of(self.plural, name)
    }

    pub(crate) fn details_of(&self, resource: &str, name: &str) -> Value {
        let mut details = json!({"kind": resource});
        if !name.is_empty() {
            details["name"] = name.into();
        }
        if !self.group.is_empty() {
            details["group"] = self.group.into();
        }
        details
    }
}

// === impl KindId ===

impl KindId {
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

// === impl Served ===

impl Served {
    pub(crate) fn field_labels(&self, kind: &Kind) -> FieldLabels {
        self.also
            .map_or(kind.field_labels, |also| also.field_labels)
    }

    pub(crate) fn api_version(&self) -> String {
        api_version(self.group, self.version)
    }
}

// === impl Kinds ===

impl Kinds {
    /// The built-in kinds.
    pub(crate) fn standard() -> Self {
        Self {
            all: table::KINDS.to_vec(),
            absent: RwLock::default(),
        }
    }

    /// The `scale` subresource of a kind, as a kind of its own.
    pub(crate) fn scale(of: KindId) -> (Kind, Served) {
        let kind = table::SCALE;
        let served = Served {
            id: of,
            group: kind.group,
            version: kind.version,
            also: None,
        };
        (kind, served)
    }

    pub(crate) fn push(&mut self, kind: Kind) {
        self.all.push(kind);
    }

    /// One that is not served before [`install`](Self::install).
    pub(crate) fn push_absent(&mut self, kind: Kind) {
        self.absent.get_mut().push(KindId(self.all.len()));
        self.all.push(kind);
    }

    /// From now on the kind is served.
    pub(crate) fn install(&self, id: KindId) {
        self.absent.write().retain(|absent| *absent != id);
    }

    pub(crate) fn get(&self, id: KindId) -> &Kind {
        &self.all[id.0]
    }

    /// Every kind in every version in which it is served.
    pub(crate) fn served(&self) -> impl Iterator<Item = (Served, &Kind)> {
        let absent = self.absent.read().clone();
        self.known()
            .filter(move |(served, _)| !absent.contains(&served.id))
    }

    /// The same with those that are not served yet.
    fn known(&self) -> impl Iterator<Item = (Served, &Kind)> {
        self.all.iter().enumerate().flat_map(|(index, kind)| {
            let id = KindId(index);
            let stored = Served {
                id,
                group: kind.group,
                version: kind.version,
                also: None,
            };
            let others = kind.also.iter().map(move |also| Served {
                id,
                group: also.group,
                version: also.version,
                also: Some(*also),
            });
            std::iter::once(stored)
                .chain(others)
                .map(move |served| (served, kind))
        })
    }

    /// The kind behind a path.
    pub(crate) fn by_resource(&self, group: &str, version: &str, plural: &str) -> Option<Served> {
        self.served()
            .find(|(served, kind)| {
                served.group == group && served.version == version && kind.plural == plural
            })
            .map(|(served, _)| served)
    }

    /// Whether anything is served in this group, whatever the version.
    pub(crate) fn serves_group(&self, group: &str) -> bool {
        self.served().any(|(served, _)| served.group == group)
    }

    /// The kind that an object says it is, served or not.
    pub(crate) fn by_kind(&self, api_version: &str, kind: &str) -> Option<Served> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.known()
            .find(|(served, known)| {
                known.kind == kind && served.group == group && served.version == version
            })
            .map(|(served, _)| served)
    }

    /// The first kind with this plural, whatever its group: for tests that name a resource.
    pub(crate) fn by_plural(&self, plural: &str) -> Option<KindId> {
        self.all
            .iter()
            .position(|kind| kind.plural == plural || kind.resource() == plural)
            .map(KindId)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = KindId> + use<> {
        (0..self.all.len()).map(KindId)
    }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}
