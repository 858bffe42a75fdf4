use serde_json::json;

use super::*;
use crate::judge::answer::End;

fn answer(status: u16, body: Value) -> Answer {
    Answer {
        status,
        headers: BTreeMap::from([("content-type", vec!["application/json".to_owned()])]),
        content: Content::Json(body),
    }
}

fn of(real: Value, simulated: Value) -> Vec<Difference> {
    differences(&answer(200, real), &answer(200, simulated))
}

#[test]
fn the_same_is_no_difference() {
    let body = json!({"a": [1, {"b": null}]});
    assert_eq!(of(body.clone(), body), [""; 0]);
}

#[test]
fn every_field_that_differs_is_named() {
    let real = json!({"a": 1, "b": {"c": "x", "d": null}, "e": [1, 2]});
    let simulated = json!({"a": 2, "b": {"c": "x"}, "e": [1], "f": true});
    assert_eq!(
        of(real, simulated),
        [
            "body.a: 1 | 2",
            "body.b.d: null | nothing",
            "body.e[1]: 2 | nothing",
            "body.f: nothing | true",
        ]
    );
}

#[test]
fn of_two_outcomes_the_messages_are_told() {
    let real = answer(200, json!({"kind": "Pod"}));
    let simulated = answer(404, json!({"kind": "Status", "message": "not found"}));
    assert_eq!(
        differences(&real, &simulated),
        [
            "status: 200 | 404",
            "body: {\"kind\":\"Pod\"} | \"not found\""
        ]
    );
}

#[test]
fn headers_are_compared() {
    let real = answer(200, json!({}));
    let mut simulated = real.clone();
    simulated
        .headers
        .insert("warning", vec!["299 - \"a\"".to_owned()]);
    assert_eq!(
        differences(&real, &simulated),
        ["header warning: nothing | 299 - \"a\""]
    );
}

#[test]
fn watches_are_compared_event_by_event() {
    let watch = |events: &[Value], end| Answer {
        content: Content::Events {
            events: events.to_vec(),
            end,
        },
        ..answer(200, json!({}))
    };
    let real = watch(
        &[json!({"type": "ADDED"}), json!({"type": "DELETED"})],
        End::Enough,
    );
    let simulated = watch(&[json!({"type": "MODIFIED"})], End::Closed);
    assert_eq!(
        differences(&real, &simulated),
        [
            "number of events: 2 | 1",
            "event 1.type: \"ADDED\" | \"MODIFIED\"",
            "end: Enough | Closed",
        ]
    );
}

#[test]
fn a_subset_needs_what_the_simulated_server_has_as_it_is() {
    let real = json!({"resources": [
        {"name": "pods", "verbs": ["get"]}, {"name": "pods/log", "verbs": ["get"]}, {"name": "nodes", "x": 1}]});
    let simulated = json!({"resources": [{"name": "pods", "verbs": ["get"]}, {"name": "nodes", "x": 2}, {"name": "toys"}]});
    let (real, simulated) = (answer(200, real), answer(200, simulated));
    assert_eq!(comparable(real.clone(), &simulated, Scope::Whole), real);
    let found = differences(&comparable(real, &simulated, Scope::Subset), &simulated);
    assert_eq!(
        found,
        [
            "body.resources[1].x: 1 | 2",
            "body.resources[2]: nothing | {\"name\":\"toys\"}",
        ]
    );
}
