//! The kind of object that a path takes.

use serde_json::Value;

use crate::{
    lifecycle::check_shape,
    openapi::{TypeName, conform, type_of},
};

/// A kind in a version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
}

/// Why a body that names its kind is not the one.
#[derive(Debug)]
pub(super) enum Mismatch {
    /// The kind, in a version that is not taken here.
    Version(String),
    /// Another kind, or none that there is.
    Kind(String),
}

/// Versions that the real server can decode, though no path takes them.
const FORMER: [&str; 7] = [
    "apps/v1beta1",
    "apps/v1beta2",
    "batch/v1beta1",
    "policy/v1beta1",
    "coordination.k8s.io/v1beta1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
];

// === impl Expected ===

impl Expected {
    pub(super) const SCALE: Self = Self {
        group: "autoscaling",
        version: "v1",
        kind: "Scale",
    };

    pub(super) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// `None` for a custom resource.
    pub(super) fn type_name(&self) -> Option<TypeName> {
        type_of(self.group, self.version, self.kind)
    }

    /// Compares it with what a body says that it is.
    pub(super) fn check(&self, api_version: &str, kind: &str) -> Result<(), Mismatch> {
        let expected = self.api_version();
        if (api_version, kind) == (expected.as_str(), self.kind) {
            return Ok(());
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let known = type_of(group, version, kind).is_some();
        let former = FORMER.contains(&api_version);
        if kind == self.kind && group == self.group && (known || former) {
            return Err(Mismatch::Version(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({expected})"
            )));
        }
        Err(Mismatch::Kind(if known {
            let internal = |group: &'static str| match group.split('.').next() {
                None | Some("") => "core",
                Some(name) => name,
            };
            format!(
                "converting ({version}.{kind}) to ({}.{}): unknown conversion",
                internal(self.group),
                self.kind
            )
        } else {
            format!(
                "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
            )
        }))
    }

    /// Compares it with what a patched object says that it is: not even another version is taken.
    pub(super) fn check_patched(&self, value: &Value) -> Result<(), String> {
        let text = |field: &str| value[field].as_str().unwrap_or_default();
        match self.check(text("apiVersion"), text("kind")) {
            Ok(()) => Ok(()),
            Err(Mismatch::Version(why) | Mismatch::Kind(why)) => Err(why),
        }
    }

    /// Checks the types of the values; the error is the sentence of the real server's decoder.
    pub(super) fn conform(&self, value: &mut Value) -> Result<(), String> {
        match self.type_name() {
            Some(kind) => conform(kind, value),
            None => check_shape(self.kind, value),
        }
    }
}
