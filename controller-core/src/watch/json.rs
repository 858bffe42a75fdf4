use std::borrow::Cow;

use serde::Deserialize;

use super::codec::{Codec, Line};
use super::span::Members;
use super::{News, Object, Unreadable, WatchEvent};
use crate::client::ObjectKey;

/// JSON, which every API server speaks for every kind.
#[derive(Clone, Debug)]
pub(super) struct Json {
    /// What the objects must be: an object that says to be of another kind is none of ours,
    /// however well it can be read.
    pub(super) kind: Cow<'static, str>,
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
            LineKind::Bookmark => return bookmark(object),
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
    fn object<T: Object>(&self, json: &[u8], during: News) -> Result<T, Unreadable> {
        if !self.is_of_our_kind(json) {
            // Its name says nothing about our object of that name.
            return Err(Unreadable {
                key: None,
                resource_version: None,
                during,
                error: "an object of another kind".to_owned(),
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

    /// Of our kind, or not saying of which: the items of most lists do not.
    fn is_of_our_kind(&self, json: &[u8]) -> bool {
        let mut members = Members::of(json).map_while(Result::ok);
        let Some((_, kind)) = members.find(|(name, _)| *name == b"kind") else {
            return true;
        };
        if kind == b"null" {
            return true;
        }
        let kind = kind
            .strip_prefix(b"\"")
            .and_then(|kind| kind.strip_suffix(b"\""));
        kind.is_some_and(|kind| kind.is_empty() || kind == self.kind.as_bytes())
    }

    /// What the beginning of an object tells about it. Its metadata comes early.
    fn too_long(&self, beginning: &[u8], during: News) -> Unreadable {
        let metadata = self.is_of_our_kind(beginning).then(|| metadata(beginning));
        let (key, resource_version) = known(metadata.unwrap_or_default());
        Unreadable {
            key,
            resource_version,
            during,
            error: "longer than 16 MiB".to_owned(),
        }
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
