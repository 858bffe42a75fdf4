use http::{HeaderMap, header};
use kube::core::Status;

use super::json::Json;
use super::{ListError, Unreadable, WatchEvent};
use crate::client::ResourceType;

/// How the pieces of an answer become objects.
///
/// An answer is cut into pieces first, by [`Items`](super::items::Items) and
/// [`Lines`](super::lines::Lines) for JSON, and each piece decoded by itself: whatever is
/// wrong with one harms no other. A second format is a second implementation, beside
/// [`Json`], with a reader of its framing; [`codec_of`] is where it is chosen.
pub(super) trait Codec<T>: Send + Sync {
    /// Reads an item of a list.
    fn item(&self, item: &[u8]) -> Result<T, Unreadable>;

    /// Reads a line of a watch. What cannot be read is [`WatchEvent::Unreadable`].
    fn line(&self, line: &[u8]) -> Line<T>;

    /// Explains an item that was too long by its beginning.
    fn long_item(&self, beginning: &[u8]) -> Unreadable;

    /// Explains a line that was too long by its beginning.
    fn long_line(&self, beginning: &[u8]) -> Unreadable;
}

/// One line of a watch.
#[derive(Debug)]
pub(super) enum Line<T> {
    /// News of an object, or a bookmark.
    Event(WatchEvent<T>),
    /// The bookmark that ends the list in a stream.
    InitialEnd {
        /// The version of that list.
        resource_version: String,
    },
    /// The server ends the watch with a `Status`.
    Error(Box<Status>),
}

/// The codec for an answer with these headers: what was sent counts, not what was asked for.
///
/// An answer that does not say what it is is taken for JSON. Anything else, such as the
/// login page of a gateway, is refused before it is read.
pub(super) fn codec_of(headers: &HeaderMap, resource: &ResourceType) -> Result<Json, ListError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Ok(Json::of(resource));
    };
    let value = value.to_str().unwrap_or("of no name");
    let media_type = value.split(';').next().unwrap_or_default().trim();
    let media_type = media_type.to_ascii_lowercase();
    if media_type.is_empty() || media_type.ends_with("/json") || media_type.ends_with("+json") {
        return Ok(Json::of(resource));
    }
    Err(ListError::NotJson {
        media_type: media_type.chars().take(60).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::WIDGETS;

    #[test]
    fn the_answers_own_word_decides_what_it_is_read_as() {
        let read = |value: Option<&'static str>| {
            let headers = value.map(|value| (header::CONTENT_TYPE, value.parse().unwrap()));
            codec_of(&headers.into_iter().collect(), &WIDGETS)
        };
        for json in [
            None,
            Some(""),
            Some("application/json"),
            Some("application/json;stream=watch"),
            Some("Application/JSON; charset=utf-8"),
            Some("application/vnd.example+json"),
        ] {
            assert!(read(json).is_ok(), "{json:?}");
        }
        insta::assert_snapshot!(
            read(Some("text/html; charset=utf-8")).unwrap_err(),
            @"the answer is text/html, which is not JSON"
        );
        assert!(read(Some("application/vnd.kubernetes.protobuf")).is_err());
    }
}
