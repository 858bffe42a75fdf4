use std::borrow::Cow;

use serde::Deserialize;

use super::codec::{Codec, Line};
use super::span::Members;
use super::{News, Object, Unreadable, WatchEvent};
use crate::client::{ObjectKey, ResourceType};

/// JSON, which every API server speaks for every kind.
#[derive(Clone, Debug)]
pub(super) struct Json {
    /// What the objects must be: an object that says to be of another kind, or of another
    /// group or version, is none of ours, however well it can be read.
    kind: Cow<'static, str>,
    api_version: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum LineKind {
    Added,
    Modified,
    Deleted,
    Bookmark,
    Error,
    #[serde(other)]
    Unknown,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    resource_version: Option<String>,
}

#[derive(Deserialize)]
struct Bookmark {
    metadata: BookmarkMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMeta {
    #[serde(default)]
    resource_version: Option<String>,
    #[serde(default)]
    annotations: Option<BookmarkAnnotations>,
}

#[derive(Deserialize)]
struct BookmarkAnnotations {
    #[serde(default, rename = "k8s.io/initial-events-end")]
    initial_events_end: Option<String>,
}

// === impl Json ===

impl<T: Object> Codec<T> for Json {
    fn item(&self, item: &[u8]) -> Result<T, Unreadable> {
        self.object(item, News::Listed)
    }

    fn line(&self, line: &[u8]) -> Line<T> {
        let Some((kind, object)) = whole(line) else {
            return unknown("no event of a watch".to_owned());
        };
        let event = match kind {
            LineKind::Added => self.object(object, News::Changed).map(WatchEvent::Added),
            LineKind::Modified => self.object(object, News::Changed).map(WatchEvent::Modified),
            LineKind::Deleted => self.object(object, News::Deleted).map(WatchEvent::Deleted),
            // One of another kind ends no list of ours, and says nothing about where ours is.
            LineKind::Bookmark => {
                return match self.foreign(object) {
                    Some(error) => unknown(error.to_owned()),
                    None => bookmark(object),
                };
            }
            LineKind::Error => {
                return Line::Error(serde_json::from_slice(object).unwrap_or_default());
            }
            LineKind::Unknown => return unknown("unknown type of watch event".to_owned()),
        };
        Line::Event(event.unwrap_or_else(WatchEvent::Unreadable))
    }

    fn long_item(&self, beginning: &[u8]) -> Unreadable {
        self.too_long(beginning, News::Listed)
    }

    fn long_line(&self, beginning: &[u8]) -> Unreadable {
        let during = |kind| match kind {
            LineKind::Added | LineKind::Modified => News::Changed,
            LineKind::Deleted => News::Deleted,
            _ => News::Unknown,
        };
        let (kind, object) = cut(beginning);
        self.too_long(object, during(kind))
    }
}

impl Json {
    pub(super) fn of(resource: &ResourceType) -> Self {
        Self {
            kind: resource.kind.clone(),
            api_version: api_version(resource),
        }
    }

    fn object<T: Object>(&self, json: &[u8], during: News) -> Result<T, Unreadable> {
        if let Some(error) = self.foreign(json) {
            // Its name says nothing about our object of that name.
            return Err(Unreadable {
                key: None,
                resource_version: None,
                during,
                error: error.to_owned(),
            });
        }
        let object: T =
            serde_json::from_slice(json).map_err(|error| unreadable(json, during, &error))?;
        if object.key().name().is_empty() {
            return Err(Unreadable {
                key: None,
                resource_version: None,
                during,
                error: "the object has no name".to_owned(),
            });
        }
        Ok(object)
    }

    /// Why an object is none of ours, if it says so. The items of most lists say nothing.
    ///
    /// A server answers in the version that it is asked in, whatever it has stored: another
    /// one comes from another endpoint, and one kind may have another meaning in another group.
    fn foreign(&self, json: &[u8]) -> Option<&'static str> {
        let (mut has_kind, mut has_version) = (false, false);
        for (name, value) in Members::of(json).map_while(Result::ok) {
            match name {
                b"kind" if !says(value, &self.kind) => return Some("an object of another kind"),
                b"apiVersion" if !says(value, &self.api_version) => {
                    return Some("an object of another group or version");
                }
                b"kind" => has_kind = true,
                b"apiVersion" => has_version = true,
                _ => {}
            }
            if has_kind && has_version {
                break;
            }
        }
        None
    }

    /// What the beginning of an object tells about it. Its metadata comes early.
    fn too_long(&self, beginning: &[u8], during: News) -> Unreadable {
        let metadata = match self.foreign(beginning) {
            None => metadata(beginning),
            Some(_) => Metadata::default(),
        };
        let (key, resource_version) = known(metadata);
        Unreadable {
            key,
            resource_version,
            during,
            error: "longer than 16 MiB".to_owned(),
        }
    }
}

/// The group and version as objects name them.
pub(super) fn api_version(resource: &ResourceType) -> String {
    match &*resource.group {
        "" => resource.version.to_string(),
        group => format!("{group}/{}", resource.version),
    }
}

/// Whether a member says this, or nothing.
fn says(value: &[u8], expected: &str) -> bool {
    let text = value
        .strip_prefix(b"\"")
        .and_then(|text| text.strip_suffix(b"\""));
    match text {
        None => value == b"null",
        Some(text) if text.is_empty() || text == expected.as_bytes() => true,
        // A slash may be escaped.
        Some(_) => serde_json::from_slice::<String>(value).is_ok_and(|text| text == expected),
    }
}

/// Type and object of a line.
fn whole(line: &[u8]) -> Option<(LineKind, &[u8])> {
    let (mut kind, mut object) = (None, None);
    for member in Members::of(line) {
        match member.ok()? {
            (b"type", value) => kind = serde_json::from_slice(value).ok(),
            (b"object", value) => object = Some(value),
            _ => {}
        }
    }
    kind.zip(object)
}

/// Type and object of the beginning of a line, as far as they are in it.
fn cut(line: &[u8]) -> (LineKind, &[u8]) {
    let (mut kind, mut object) = (LineKind::Unknown, &b""[..]);
    let mut members = Members::of(line);
    for (name, value) in members.by_ref().map_while(Result::ok) {
        match name {
            b"type" => kind = serde_json::from_slice(value).unwrap_or(LineKind::Unknown),
            b"object" => object = value,
            _ => {}
        }
    }
    if let Some((b"object", beginning)) = members.cut() {
        object = beginning;
    }
    (kind, object)
}

fn bookmark<T>(object: &[u8]) -> Line<T> {
    let Ok(Bookmark { metadata }) = serde_json::from_slice(object) else {
        return unknown("a bookmark that cannot be read".to_owned());
    };
    let resource_version = metadata.resource_version.unwrap_or_default();
    let end = metadata
        .annotations
        .and_then(|annotations| annotations.initial_events_end);
    // The value counts: "false" is what a server would say that has not ended yet.
    if end.as_deref() == Some("true") {
        return Line::InitialEnd { resource_version };
    }
    Line::Event(WatchEvent::Bookmark { resource_version })
}

fn unknown<T>(error: String) -> Line<T> {
    Line::Event(WatchEvent::Unreadable(Unreadable {
        key: None,
        resource_version: None,
        during: News::Unknown,
        error,
    }))
}

fn unreadable(json: &[u8], during: News, error: &serde_json::Error) -> Unreadable {
    let (key, resource_version) = known(metadata(json));
    Unreadable {
        key,
        resource_version,
        during,
        // serde_json may quote a value that did not fit; the category and the place
        // say enough, and an object may hold secrets.
        error: format!(
            "{:?} error at column {} of the object",
            error.classify(),
            error.column()
        ),
    }
}

/// The metadata of an object that cannot be read, or of the beginning of one. What is wrong
/// with the rest does not matter here.
fn metadata(json: &[u8]) -> Metadata {
    Members::of(json)
        .map_while(Result::ok)
        .filter(|(name, _)| *name == b"metadata")
        .find_map(|(_, metadata)| serde_json::from_slice(metadata).ok())
        .unwrap_or_default()
}

fn known(metadata: Metadata) -> (Option<ObjectKey>, Option<String>) {
    let name = metadata.name.filter(|name| !name.is_empty());
    let key = name
        .map(|name| ObjectKey::namespaced(metadata.namespace.as_deref().unwrap_or_default(), name));
    (key, metadata.resource_version)
}

#[cfg(test)]
mod tests;
