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
            "event 1.type: \"ADDED\" | \"MODIFIED\"",
            "event 2: {\"type\":\"DELETED\"} | nothing",
            "end: Enough | Closed",
        ]
    );
}

#[test]
fn an_event_too_many_is_told_as_it_is() {
    let event = json!({"type": "ADDED", "object": {"kind": "Pod"}});
    let watch = |events: &[Value]| Answer {
        content: Content::Events {
            events: events.to_vec(),
            end: End::Closed,
        },
        ..answer(200, json!({}))
    };
    let (once, twice) = (
        watch(std::slice::from_ref(&event)),
        watch(&[event.clone(), event]),
    );
    assert_eq!(
        differences(&once, &twice),
        ["event 2: nothing | {\"object\":{\"kind\":\"Pod\"},\"type\":\"ADDED\"}"]
    );
}

fn of_subset(real: Value, simulated: Value) -> Vec<Difference> {
    let (real, simulated) = (answer(200, real), answer(200, simulated));
    differences(&comparable(real, &simulated, Scope::Subset), &simulated)
}

#[test]
fn a_subset_needs_what_the_simulated_server_has_as_it_is() {
    let real = json!({"resources": [
        {"name": "pods", "verbs": ["get"]}, {"name": "roles"}, {"name": "roles/x"}, {"name": "nodes", "x": 1}]});
    let simulated = json!({"resources": [{"name": "pods", "verbs": ["get"]}, {"name": "nodes", "x": 2}, {"name": "toys"}]});
    let whole = comparable(
        answer(200, real.clone()),
        &answer(200, simulated.clone()),
        Scope::Whole,
    );
    assert_eq!(whole, answer(200, real.clone()));
    assert_eq!(
        of_subset(real, simulated),
        [
            "body.resources[nodes].x: 1 | 2",
            "body.resources[toys]: nothing | {\"name\":\"toys\"}",
        ]
    );
}

#[test]
fn a_subset_is_one_of_resources_and_not_of_what_they_can() {
    let real = json!({"resources": [
        {"name": "pods", "verbs": ["get", "watch"], "shortNames": ["po"], "categories": ["all"]},
        {"name": "pods/log", "verbs": ["get"]}]});
    let simulated = json!({"resources": [
        {"name": "pods", "verbs": ["get"], "shortNames": [], "categories": ["all"]}]});
    assert_eq!(
        of_subset(real, simulated),
        [
            "body.resources[pods].shortNames[0]: \"po\" | nothing",
            "body.resources[pods].verbs[1]: \"watch\" | nothing",
            "body.resources[pods/log]: {\"name\":\"pods/log\",\"verbs\":[\"get\"]} | nothing",
        ]
    );
}

#[test]
fn resources_are_compared_by_name_and_their_order_too() {
    let of_names = |names: &[&str]| {
        let resources = names.iter().map(|name| json!({"name": name}));
        json!({"resources": resources.collect::<Vec<_>>()})
    };
    assert_eq!(
        of(of_names(&["a", "b", "c"]), of_names(&["c", "b"])),
        [
            "body.resources[a]: {\"name\":\"a\"} | nothing",
            "order of body.resources: b c | c b",
        ]
    );
}

#[test]
fn a_subset_keeps_every_subresource_of_the_aggregated_form() {
    let of = |subresources: Value| {
        json!({"items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [
            {"resource": "pods", "subresources": subresources}]}]}]})
    };
    let mut real = of(json!([{"subresource": "log"}, {"subresource": "status"}]));
    let other = json!({"metadata": {"name": "batch"}, "versions": []});
    real["items"].as_array_mut().unwrap().push(other);
    assert_eq!(
        of_subset(real, of(json!([{"subresource": "status"}]))),
        [
            "body.items[0].versions[0].resources[pods].subresources[log]: {\"subresource\":\"log\"} | nothing"
        ]
    );
}

#[test]
fn the_paths_of_a_subset_are_those_of_groups() {
    let real = json!({"paths": {"api/v1": 1, "apis/x/v1": 2, "version": 3}});
    assert_eq!(
        of_subset(real, json!({"paths": {"api/v1": 4}})),
        [
            "body.paths.api/v1: 1 | 4",
            "body.paths.version: 3 | nothing"
        ]
    );
}
