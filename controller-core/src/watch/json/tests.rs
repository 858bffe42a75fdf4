use serde_json::json;

use super::*;
use crate::watch::testing::{WIDGETS, Widget};

fn widget() -> Json {
    Json::of(&WIDGETS)
}

fn line(value: &serde_json::Value) -> Line<Widget> {
    widget().line(value.to_string().as_bytes())
}

fn item(value: &serde_json::Value) -> Result<Widget, Unreadable> {
    widget().item(value.to_string().as_bytes())
}

#[test]
fn a_bad_item_tells_its_key_and_nothing_of_its_content() {
    let bad = item(&json!({
        "metadata": {"name": "b", "namespace": "shop", "resourceVersion": "2"},
        "spec": {"size": "sensitive"},
    }))
    .unwrap_err();
    assert_eq!(bad.key, Some(ObjectKey::namespaced("shop", "b")));
    assert_eq!(bad.resource_version.as_deref(), Some("2"));
    assert!(!bad.error.contains("sensitive"), "{}", bad.error);
}

#[test]
fn an_item_with_an_empty_name_has_no_key() {
    for value in [
        json!({"metadata": {"name": ""}, "spec": {"size": "x"}}),
        Widget::json("", "1", 1),
    ] {
        assert_eq!(item(&value).unwrap_err().key, None);
    }
}

/// RF-10: taken for ours by its name, a Service would be a Deployment of one replica.
#[test]
fn an_object_of_another_kind_is_none_of_ours_wherever_it_says_so() {
    let ours = Widget::json("a", "1", 1);
    for (kind, is_ours) in [
        (json!("Widget"), true),
        (json!(null), true),
        (json!(""), true),
        (json!("Service"), false),
        (json!("PartialObjectMetadata"), false),
        (json!(7), false),
    ] {
        let mut first = ours.clone();
        first["kind"] = kind.clone();
        assert_eq!(item(&first).is_ok(), is_ours, "{kind}");
        let text = ours.to_string();
        let last = format!("{},\"kind\":{kind}}}", &text[..text.len() - 1]);
        let last: Result<Widget, _> = widget().item(last.as_bytes());
        assert_eq!(last.is_ok(), is_ours, "{kind}");
        let deleted = line(&json!({"type": "DELETED", "object": first}));
        let is_deletion = matches!(deleted, Line::Event(WatchEvent::Deleted(_)));
        assert_eq!(is_deletion, is_ours, "{kind}");
        if let Line::Event(WatchEvent::Unreadable(bad)) = deleted {
            assert_eq!((bad.key, bad.resource_version), (None, None), "{kind}");
        }
    }
}

/// The same for its group and version: an Event of the core group is none of events.k8s.io.
#[test]
fn an_object_of_another_group_or_version_is_none_of_ours() {
    let ours = Widget::json("a", "1", 1).to_string();
    for (version, is_ours) in [
        (r#""example.com/v1""#, true),
        (r#""example.com\/v1""#, true),
        ("null", true),
        (r#""""#, true),
        (r#""example.com/v2""#, false),
        (r#""v1""#, false),
        (r#""example.org/v1""#, false),
        (r#""example.com/v1/""#, false),
        ("1", false),
    ] {
        let rest = &ours[1..];
        let before = format!(r#"{{"apiVersion":{version},"kind":"Widget",{rest}"#);
        let body = &ours[..ours.len() - 1];
        let behind = format!(r#"{body},"kind":"Widget","apiVersion":{version}}}"#);
        for object in [before, behind] {
            let read: Result<Widget, _> = widget().item(object.as_bytes());
            assert_eq!(read.is_ok(), is_ours, "{object}");
            let line = format!(r#"{{"type":"DELETED","object":{object}}}"#);
            let line: Line<Widget> = widget().line(line.as_bytes());
            let is_deletion = matches!(line, Line::Event(WatchEvent::Deleted(_)));
            assert_eq!(is_deletion, is_ours, "{object}");
            // Of one that is too long no more is believed.
            let long = Codec::<Widget>::long_item(&widget(), object.as_bytes());
            assert_eq!(long.key.is_some(), is_ours, "{object}");
        }
    }
    let pods = ResourceType::namespaced("", "v1", "pods", "Pod");
    let pod = |version: &str| {
        let mut pod = Widget::json("a", "1", 1);
        pod["kind"] = json!("Pod");
        pod["apiVersion"] = json!(version);
        let read: Result<Widget, _> = Json::of(&pods).item(pod.to_string().as_bytes());
        read.is_ok()
    };
    assert!(pod("v1") && !pod("apps/v1") && !pod("v2"));
}

/// One byte that is no UTF-8 costs at most its object, and that keeps its name.
#[test]
fn a_byte_that_is_no_text_costs_one_object() {
    let mut bytes = Widget::json("b", "2", 2).to_string().into_bytes();
    let at = bytes
        .windows(5)
        .position(|piece| piece == b"uid-b")
        .unwrap();
    bytes[at] = 0xff;
    let read: Result<Widget, _> = widget().item(&bytes);
    let key = Some(ObjectKey::namespaced("shop", "b"));
    assert_eq!(read.unwrap_err().key, key);
    let line = [b"{\"type\":\"MODIFIED\",\"object\":", &bytes[..], b"}"].concat();
    let Line::<Widget>::Event(WatchEvent::Unreadable(bad)) = widget().line(&line) else {
        panic!("it was read");
    };
    assert_eq!((bad.key, bad.during), (key, News::Changed));
}

/// Nor does what is no JSON at all, between brackets that fit, hide whose it is.
#[test]
fn what_is_no_json_costs_one_object() {
    let bad: Result<Widget, _> =
        widget().item(b"{\"metadata\":{\"name\":\"b\"},\"spec\":\"\0\",\"x\":nonsense}");
    assert_eq!(bad.unwrap_err().key, Some(ObjectKey::cluster("b")));
}

#[test]
fn the_order_of_the_fields_of_a_line_does_not_matter() {
    let object = Widget::json("a", "1", 1);
    for text in [
        format!(r#"{{"object":{object},"type":"ADDED"}}"#),
        format!(r#"{{ "type" : "ADDED", "more": [{{}}], "object" : {object} }}"#),
    ] {
        let line: Line<Widget> = widget().line(text.as_bytes());
        assert!(matches!(line, Line::Event(WatchEvent::Added(_))), "{text}");
    }
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
    for text in [
        r#"{"type":"SURPRISE","object":{}}"#,
        r#"{"type":"ADDED"}"#,
        r#"{"type":"ADDED","object":{}} {}"#,
        r#"{"type":"BOOKMARK","object":{"metadata":7}}"#,
        "<html>",
        "[]",
    ] {
        let line: Line<Widget> = widget().line(text.as_bytes());
        let Line::Event(WatchEvent::Unreadable(bad)) = line else {
            panic!("{text}: {line:?}")
        };
        assert_eq!(bad.key, None);
    }
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

/// WL-15: only the value "true" ends the initial events.
#[test]
fn the_end_of_the_initial_events_is_a_bookmark_that_says_true() {
    let bookmark = |annotations| {
        line(&json!({"type": "BOOKMARK", "object": {"kind": "Widget",
            "metadata": {"resourceVersion": "7", "annotations": annotations}}}))
    };
    let end = bookmark(json!({"k8s.io/initial-events-end": "true"}));
    assert!(matches!(end, Line::InitialEnd { resource_version } if resource_version == "7"));
    for other in [
        json!({"k8s.io/initial-events-end": "false"}),
        json!({"other": "true"}),
        json!(null),
    ] {
        let plain = bookmark(other);
        assert!(
            matches!(plain, Line::Event(WatchEvent::Bookmark { .. })),
            "{plain:?}"
        );
    }
}

/// What is skipped for its length is still told by its name, if that came early enough.
#[test]
fn the_beginning_of_what_is_too_long_tells_whose_it_was() {
    let item = br#"{"metadata":{"name":"b","namespace":"shop","resourceVersion":"2"},"spec":{"si"#;
    let key = Some(ObjectKey::namespaced("shop", "b"));
    let long = Codec::<Widget>::long_item(&widget(), item);
    assert_eq!((&long.key, long.during), (&key, News::Listed));
    assert_eq!(long.resource_version.as_deref(), Some("2"));

    let line = [b"{\"type\":\"DELETED\",\"object\":", &item[..]].concat();
    let long = Codec::<Widget>::long_line(&widget(), &line);
    assert_eq!((&long.key, long.during), (&key, News::Deleted));

    for hidden in [
        &b"xxxx"[..],
        br#"{"spec":{"metadata":{"name":"b"}"#,
        br#"{"kind":"Pod","metadata":{"name":"b"},"#,
    ] {
        assert_eq!(Codec::<Widget>::long_item(&widget(), hidden).key, None);
        assert_eq!(Codec::<Widget>::long_line(&widget(), hidden).key, None);
    }
}
