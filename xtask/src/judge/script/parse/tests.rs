use serde_json::{Value, json};

use super::*;
use crate::judge::fixtures::Fixtures;

fn parse(text: &str) -> Result<Vec<Group>, String> {
    let fixtures = Fixtures::parse("pod: {kind: Pod, spec: {a: 1}}\n").unwrap();
    Group::parse("a.http", text, &fixtures)
}

#[test]
fn a_script_is_read_request_by_request() {
    let text = "# For the reader.\npods = /api/v1/namespaces/{{ns}}/pods\n\n== Two groups: one\n\n\
        201 POST {{pods}} @made\n> Accept: text/plain\n< pod {\"spec\": {\"b\": \"{{made.x}}\"}}\n\n\
        ## A title\n200 MERGE {{pods}}/a\n{\"a\":\n 1}\n\n# A comment.\n== Two\n\n\
        200 WATCH 3 {{pods}}?labelSelector=a in (b)\n\n200 OPEN {{pods}} @w\n\nREAD end @w\n\nCOMPACT\n";
    let groups = parse(text).unwrap();
    assert_eq!(groups[0].title, "Two groups: one");
    assert_eq!(groups[0].namespace(), "judge-two-groups-one");

    let made = &groups[0].cases[0];
    assert_eq!((made.status, made.place.as_str()), (201, "a.http:6"));
    assert_eq!(made.step, Step::Request(Method::POST));
    assert_eq!(made.target, "/api/v1/namespaces/{{ns}}/pods");
    assert_eq!(made.name.as_deref(), Some("made"));
    assert_eq!(
        made.headers[0],
        ("Accept".to_owned(), "text/plain".to_owned())
    );
    assert_eq!(made.headers[1].1, "application/json");
    let body: Value = serde_json::from_str(&made.body).unwrap();
    assert_eq!(
        body,
        json!({"kind": "Pod", "spec": {"a": 1, "b": "{{made.x}}"}})
    );

    let patch = &groups[0].cases[1];
    assert_eq!(patch.title, "A title");
    assert_eq!(patch.id(&groups[0]), "Two groups: one: A title");
    assert_eq!(patch.step, Step::Request(Method::PATCH));
    assert_eq!(patch.headers[0].1, "application/merge-patch+json");
    assert_eq!(patch.body, "{\"a\":\n 1}");

    let steps: Vec<&Step> = groups[1].cases.iter().map(|case| &case.step).collect();
    let expected = [
        Step::Watch(Until::Events(3)),
        Step::Open,
        Step::Read(Until::End),
        Step::Compact,
    ];
    assert_eq!(steps, expected.iter().collect::<Vec<_>>());
    let watch = &groups[1].cases[0];
    assert_eq!(
        watch.target,
        "/api/v1/namespaces/{{ns}}/pods?labelSelector=a in (b)"
    );
    assert_eq!(groups[1].cases[2].name.as_deref(), Some("w"));
}

#[test]
fn directives_say_what_is_sent_and_compared() {
    let text = "== A\n\n200 GET /a\n! subset fewer kinds\n\n200 GET /b\n! head no schemas\n\n413 POST /c\n! size 20\n";
    let cases = &parse(text).unwrap()[0].cases;
    let scopes: Vec<Scope> = cases.iter().map(|case| case.scope).collect();
    assert_eq!(scopes, [Scope::Subset, Scope::Head, Scope::Whole]);
    assert_eq!(cases[2].body.len(), 20);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    for (text, refusal) in [
        ("200 GET /a", "a.http:1: this is no `word = meaning`"),
        (
            "== A\n\nGET /a",
            "a.http:3: a request starts with the status it is answered with",
        ),
        ("== A\n\n200 GET", "a.http:3: there is no path"),
        (
            "== A\n\n200 GET /a\n! subset",
            "a.http:4: `! subset` gives no reason",
        ),
        (
            "== A\n\n200 GET /a\n! head ",
            "a.http:4: `! head` gives no reason",
        ),
        ("== A\n\n200 GET a", "a.http:3: `a` is no path"),
        (
            "== A\n\n200 WATCH /a",
            "a.http:3: WATCH N path, or WATCH end path",
        ),
        (
            "== A\n\n200 WATCH all /a",
            "a.http:3: `all` is no number of events, nor `end`",
        ),
        (
            "== A\n\n200 GET /a\n! nothing",
            "a.http:4: `nothing` is not known",
        ),
        (
            "== A\n\n200 GET /a\n> Accept",
            "a.http:4: this is no header",
        ),
        (
            "== A\n\n201 POST /a\n< pods",
            "a.http:3: fixtures.yaml has no `pods`",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), refusal);
    }
}
