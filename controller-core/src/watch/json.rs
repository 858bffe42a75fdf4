use std::borrow::Cow;

use kube::core::Status;
use serde::{Deserialize, de};
use serde_json::value::RawValue;

use super::{News, Object, Unreadable, WatchEvent};
use crate::client::ObjectKey;

/// One page of a list, item by item.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<Result<T, Unreadable>>,
    pub(crate) resource_version: String,
    pub(crate) next: Option<String>,
}

/// One line of a watch.
#[derive(Debug)]
pub(crate) enum Line<T> {
    /// News of an object or a bookmark.
    Event(WatchEvent<T>),
    /// The server ends the watch with a `Status`.
    Error(Box<Status>),
}

#[derive(Deserialize)]
struct RawList<'a> {
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    metadata: ListMeta,
    /// `null` is a list without items; no `items` at all is no list. (Serde would take a
    /// missing `Option` for `null`, were it not told how to read it.)
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMeta {
    resource_version: String,
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct RawLine<'a> {
    #[serde(rename = "type")]
    kind: LineKind,
    #[serde(borrow)]
    object: &'a RawValue,
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

#[derive(Deserialize)]
struct OnlyMetadata {
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    resource_version: Option<String>,
}

/// Reads one page. Fails only if the page as a whole is no list: a `Table`, a `Status`, or
/// whatever else a gateway answers, would otherwise be a list in which everything is gone.
pub(crate) fn decode_page<T: Object>(body: &[u8]) -> Result<Page<T>, serde_json::Error> {
    let list: RawList<'_> = serde_json::from_slice(body)?;
    if let Some(kind) = list.kind.filter(|kind| !kind.ends_with("List")) {
        return Err(de::Error::custom(format_args!("a {kind} is no list")));
    }
    let items = list.items.unwrap_or_default();
    Ok(Page {
        items: items
            .into_iter()
            .map(|item| decode_object(item.get(), News::Listed))
            .collect(),
        resource_version: list.metadata.resource_version,
        next: list.metadata.next.filter(|token| !token.is_empty()),
    })
}

/// Reads one line. What cannot be read becomes [`WatchEvent::Unreadable`].
pub(crate) fn decode_line<T: Object>(line: &[u8]) -> Line<T> {
    let raw: RawLine<'_> = match serde_json::from_slice(line) {
        Ok(raw) => raw,
        Err(error) => {
            return Line::Event(WatchEvent::Unreadable(unreadable(
                None,
                News::Unknown,
                &error,
            )));
        }
    };
    let object = raw.object.get();
    let event = match raw.kind {
        LineKind::Added => decode_object(object, News::Changed).map(WatchEvent::Added),
        LineKind::Modified => decode_object(object, News::Changed).map(WatchEvent::Modified),
        LineKind::Deleted => decode_object(object, News::Deleted).map(WatchEvent::Deleted),
        LineKind::Bookmark => serde_json::from_str::<OnlyMetadata>(object)
            .map_err(|error| unreadable(None, News::Unknown, &error))
            .map(|bookmark| WatchEvent::Bookmark {
                resource_version: bookmark.metadata.resource_version.unwrap_or_default(),
            }),
        LineKind::Error => return Line::Error(serde_json::from_str(object).unwrap_or_default()),
        LineKind::Unknown => Err(Unreadable {
            key: None,
            resource_version: None,
            during: News::Unknown,
            error: "unknown type of watch event".to_owned(),
        }),
    };
    Line::Event(event.unwrap_or_else(WatchEvent::Unreadable))
}

fn decode_object<T: Object>(json: &str, during: News) -> Result<T, Unreadable> {
    let object: T =
        serde_json::from_str(json).map_err(|error| unreadable(Some(json), during, &error))?;
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

fn unreadable(json: Option<&str>, during: News, error: &serde_json::Error) -> Unreadable {
    let metadata = json
        .and_then(|json| serde_json::from_str::<OnlyMetadata>(json).ok())
        .map(|object| object.metadata)
        .unwrap_or_default();
    Unreadable {
        key: metadata.name.filter(|name| !name.is_empty()).map(|name| {
            ObjectKey::namespaced(metadata.namespace.as_deref().unwrap_or_default(), name)
        }),
        resource_version: metadata.resource_version,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::watch::testing::Widget;

    fn line(value: &serde_json::Value) -> Line<Widget> {
        decode_line(value.to_string().as_bytes())
    }

    #[test]
    fn one_bad_item_leaves_the_rest_of_the_page_readable() {
        let body = json!({
            "metadata": {"resourceVersion": "9", "continue": ""},
            "items": [
                Widget::json("a", "1", 1),
                {"metadata": {"name": "b", "namespace": "shop", "resourceVersion": "2"},
                 "spec": {"size": "sensitive"}},
                Widget::json("c", "3", 3),
            ]
        })
        .to_string();
        let page = decode_page::<Widget>(body.as_bytes()).unwrap();
        assert_eq!(page.resource_version, "9");
        assert_eq!(page.next, None);
        let [Ok(_), Err(bad), Ok(_)] = &page.items[..] else {
            panic!("{:?}", page.items)
        };
        assert_eq!(bad.key, Some(ObjectKey::namespaced("shop", "b")));
        assert_eq!(bad.resource_version.as_deref(), Some("2"));
        assert!(!bad.error.contains("sensitive"), "{}", bad.error);
    }

    #[test]
    fn a_list_without_items_is_empty() {
        let page =
            decode_page::<Widget>(br#"{"metadata":{"resourceVersion":"1"},"items":null}"#).unwrap();
        assert!(page.items.is_empty());
    }

    /// RF-35, and its whole kind: taken for an empty list, each of them would delete
    /// everything.
    #[test]
    fn what_is_no_list_is_not_an_empty_one() {
        let table = json!({"kind": "Table", "metadata": {"resourceVersion": "20"}, "rows": []});
        let with_items =
            json!({"kind": "Table", "metadata": {"resourceVersion": "20"}, "items": []});
        for body in [table, with_items, Widget::json("a", "1", 1), json!({})] {
            let page = decode_page::<Widget>(body.to_string().as_bytes());
            assert!(page.is_err(), "{body} is {page:?}");
        }
    }

    #[test]
    fn an_item_with_an_empty_name_has_no_key() {
        let body = json!({"metadata": {"resourceVersion": "9"}, "items": [
            {"metadata": {"name": ""}, "spec": {"size": "x"}},
            Widget::json("", "1", 1),
        ]})
        .to_string();
        for item in decode_page::<Widget>(body.as_bytes()).unwrap().items {
            assert_eq!(item.unwrap_err().key, None);
        }
    }

    #[test]
    fn the_order_of_the_fields_of_a_line_does_not_matter() {
        let text = format!(
            r#"{{"object":{},"type":"ADDED"}}"#,
            Widget::json("a", "1", 1)
        );
        assert!(matches!(
            decode_line::<Widget>(text.as_bytes()),
            Line::Event(WatchEvent::Added(_))
        ));
    }

    #[test]
    fn a_deleted_line_that_cannot_be_read_still_names_its_key() {
        let line = line(&json!({"type": "DELETED", "object":
            {"metadata": {"name": "b", "namespace": "shop"}, "spec": {"size": "x"}}}));
        let Line::Event(WatchEvent::Unreadable(bad)) = line else {
            panic!("{line:?}")
        };
        assert_eq!(bad.during, News::Deleted);
        assert_eq!(bad.key, Some(ObjectKey::namespaced("shop", "b")));
    }

    #[test]
    fn a_line_of_an_unknown_type_or_of_no_json_is_unreadable_not_fatal() {
        assert!(matches!(
            line(&json!({"type": "SURPRISE", "object": {}})),
            Line::Event(WatchEvent::Unreadable(_))
        ));
        assert!(matches!(
            decode_line::<Widget>(b"<html>"),
            Line::Event(WatchEvent::Unreadable(_))
        ));
    }

    #[test]
    fn an_error_line_carries_its_status() {
        let Line::Error(status) = line(&json!({"type": "ERROR", "object":
            {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}))
        else {
            panic!("not an error")
        };
        assert_eq!((status.code, &*status.reason), (410, "Expired"));
    }
}
