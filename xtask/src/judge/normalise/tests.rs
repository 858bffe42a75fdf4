use http::HeaderMap;

use super::*;
use crate::judge::answer::End;

const UID: &str = "11111111-2222-3333-4444-555555555555";

fn normaliser() -> Normaliser {
    Normaliser::new("2024-05-06T07:00:00Z".parse().unwrap())
}

fn shown(normaliser: &mut Normaliser, body: Value) -> Value {
    let mut answer = Answer::head(200, &HeaderMap::new());
    answer.content = Content::Json(body);
    match normaliser.answer(&answer).content {
        Content::Json(body) => body,
        other => panic!("{other:?}"),
    }
}

#[test]
fn ids_times_and_versions_become_symbols_and_the_rest_stays() {
    let body = json!({"metadata": {"uid": UID, "resourceVersion": "70002", "name": "web", "generation": 2,
        "creationTimestamp": "2024-05-06T06:59:00Z"}, "spec": {"replicas": 70002,
        "renewTime": "2024-05-06T06:59:00.123456Z", "given": "2020-01-01T00:00:00Z"}});
    let expected = json!({"metadata": {"uid": "<uid 1>", "resourceVersion": "<version 1>", "name": "web",
        "generation": 2, "creationTimestamp": "<time>"}, "spec": {"replicas": 70002,
        "renewTime": "<time in µs>", "given": "2020-01-01T00:00:00Z"}});
    assert_eq!(shown(&mut normaliser(), body), expected);
}

#[test]
fn the_version_of_an_object_is_told_from_another_that_of_a_list_is_not() {
    let mut normaliser = normaliser();
    let object = |version: &str| json!({"metadata": {"resourceVersion": version}});
    let first = shown(&mut normaliser, object("70002"));
    let again = shown(&mut normaliser, object("70002"));
    let second = shown(&mut normaliser, object("70003"));
    assert_eq!(first, again);
    assert_ne!(first, second);
    let list = json!({"metadata": {"resourceVersion": "70009", "continue": "abc"}, "items": [object("70003")]});
    assert_eq!(
        shown(&mut normaliser, list),
        json!({"metadata": {"resourceVersion": "<version>", "continue": "<continue>"}, "items": [second]})
    );
    let mut answer = Answer::head(200, &HeaderMap::new());
    let bookmark = json!({"type": "BOOKMARK", "object": object("70100")});
    answer.content = Content::Events {
        events: vec![bookmark],
        end: End::Closed,
    };
    let Content::Events { events, .. } = normaliser.answer(&answer).content else {
        panic!("a watch is one afterwards");
    };
    assert_eq!(
        events[0]["object"]["metadata"]["resourceVersion"],
        "<version>"
    );
}

#[test]
fn owners_of_fields_are_shown_in_the_grain_that_both_keep() {
    let body = json!({"metadata": {"managedFields": [{"manager": "judge", "time": "2024-05-06T06:59:00Z",
        "fieldsV1": {
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}, "f:finalizers": {"v:\"x\"": {}}},
            "f:spec": {"f:template": {"f:spec": {"f:x": {}}}, "f:replicas": {}},
            "f:type": {}}}]}});
    let expected = json!({"metadata": {"managedFields": [{"manager": "judge", "time": "<time>",
        "fieldsV1": {
            "f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {}},
            "f:spec": {"f:template": {}, "f:replicas": {}},
            "f:type": {}}}]}});
    assert_eq!(shown(&mut normaliser(), body), expected);
}

#[test]
fn ages_are_symbols_in_a_table_and_nowhere_else() {
    let mut normaliser = normaliser();
    let table = json!({"columnDefinitions": [{"name": "Name"}, {"name": "Age"}],
        "rows": [{"cells": ["5s", "5s"]}, {"cells": ["x", "<unknown>"]}]});
    let rows = shown(&mut normaliser, table)["rows"].take();
    assert_eq!(
        rows,
        json!([{"cells": ["5s", "<age>"]}, {"cells": ["x", "<unknown>"]}])
    );
    // A watch defines its columns once.
    let rows = shown(&mut normaliser, json!({"rows": [{"cells": ["y", "2m3s"]}]}))["rows"].take();
    assert_eq!(rows, json!([{"cells": ["y", "<age>"]}]));
}

#[test]
fn a_made_name_an_address_and_a_port_are_symbols() {
    let body = json!({"metadata": {"generateName": "web-", "name": "web-x7k2p"},
        "spec": {"clusterIP": "10.96.1.2", "clusterIPs": ["10.96.1.2"], "ports": [{"port": 80, "nodePort": 30123}]}});
    let expected = json!({"metadata": {"generateName": "web-", "name": "web-<suffix 1>"},
        "spec": {"clusterIP": "<address>", "clusterIPs": ["<address>"], "ports": [{"port": 80, "nodePort": "<port>"}]}});
    assert_eq!(shown(&mut normaliser(), body), expected);
}

#[test]
fn a_made_name_that_is_refused_is_a_symbol_too() {
    let mut normaliser = normaliser();
    normaliser.sent(r#"{"metadata": {"generateName": "Bad_"}}"#);
    let refusal = json!({"message": "\"Bad_x7k2p\" is invalid", "details": {"name": "Bad_x7k2p"}});
    let expected =
        json!({"message": "\"Bad_<suffix 1>\" is invalid", "details": {"name": "Bad_<suffix 1>"}});
    assert_eq!(shown(&mut normaliser, refusal), expected);
}

#[test]
fn owners_stand_in_one_order() {
    let by = |manager: &str| json!({"manager": manager, "operation": "Update", "fieldsV1": {}});
    let one = json!({"managedFields": [by("a"), by("b")]});
    let other = json!({"managedFields": [by("b"), by("a")]});
    assert_eq!(
        shown(&mut normaliser(), one.clone()),
        shown(&mut normaliser(), other)
    );
}

#[test]
fn bookmarks_that_say_the_same_are_one() {
    let bookmark =
        json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "70100"}}});
    let added = json!({"type": "ADDED", "object": {"metadata": {"resourceVersion": "70101"}}});
    let mut answer = Answer::head(200, &HeaderMap::new());
    answer.content = Content::Events {
        events: vec![bookmark.clone(), bookmark.clone(), added, bookmark],
        end: End::Closed,
    };
    let Content::Events { events, .. } = normaliser().answer(&answer).content else {
        panic!("a watch is one afterwards");
    };
    let types: Vec<&Value> = events.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["BOOKMARK", "ADDED", "BOOKMARK"]);
}

#[test]
fn a_quoted_object_is_compared_and_what_stands_behind_it_too() {
    let message = |quoted: &str, behind: &str| {
        let text = format!("\"\" is invalid: patch: Invalid value: {quoted:?}: {behind}");
        shown(&mut normaliser(), json!({"message": text}))
    };
    let (one, other) = (
        r#"{"kind":"Pod","apiVersion":"v1"}"#,
        r#"{"apiVersion":"v1","kind":"Pod"}"#,
    );
    assert_eq!(message(one, "why"), message(other, "why"));
    assert_ne!(message(one, "why"), message(other, "why not"));
    let another = r#"{"apiVersion":"v1","kind":"Job"}"#;
    assert_ne!(message(one, "why"), message(another, "why"));
    let created = |second: &str| {
        format!(r#"{{"metadata":{{"creationTimestamp":"2024-05-06T06:59:0{second}Z"}}}}"#)
    };
    assert_eq!(message(&created("0"), ""), message(&created("1"), ""));
    assert_ne!(message("{not JSON", "a"), message("{not JSON", "b"));
}

#[test]
fn a_bookmark_after_another_is_dropped_unless_it_ends_the_list() {
    let bookmark = |annotations: Value| json!({"type": "BOOKMARK", "object": {"metadata": {"annotations": annotations}}});
    let (plain, end) = (
        bookmark(Value::Null),
        bookmark(json!({"k8s.io/initial-events-end": "true"})),
    );
    let added = json!({"type": "ADDED", "object": {}});
    let mut answer = Answer::head(200, &HeaderMap::new());
    answer.content = Content::Events {
        events: vec![
            added.clone(),
            added.clone(),
            end.clone(),
            plain.clone(),
            plain.clone(),
            end.clone(),
        ],
        end: End::Closed,
    };
    let events = vec![added.clone(), added, end.clone(), end];
    let end = End::Closed;
    assert_eq!(
        normaliser().answer(&answer).content,
        Content::Events { events, end }
    );
}
