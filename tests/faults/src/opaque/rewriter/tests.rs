//! What is replaced, what stays, and that frames make no difference.

use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Map, Value, json};

use super::*;

fn rewritten(mut rewriter: Rewriter, pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut out = BytesMut::new();
    for piece in pieces {
        rewriter.push(piece.as_ref(), &mut out);
    }
    rewriter.finish(&mut out);
    String::from_utf8(out.to_vec()).unwrap()
}

fn hidden(text: &str) -> String {
    // The same length for every version keeps the expected texts readable.
    rewritten(Rewriter::hiding(), [text])
        .replace(&of("41"), "<41>")
        .replace(&of("42"), "<42>")
}

fn of(revision: &str) -> String {
    String::from_utf8(hide(revision.as_bytes()).unwrap()).unwrap()
}

#[test]
fn versions_are_replaced_wherever_they_stand() {
    for (json, expected) in [
        (
            r#"{"resourceVersion":"41"}"#,
            r#"{"resourceVersion":"<41>"}"#,
        ),
        (
            "{\"resourceVersion\" :\n \"41\"}",
            "{\"resourceVersion\" :\n \"<41>\"}",
        ),
        (
            r#"{"items":[{"metadata":{"resourceVersion":"41"}}],"resourceVersion":"42"}"#,
            r#"{"items":[{"metadata":{"resourceVersion":"<41>"}}],"resourceVersion":"<42>"}"#,
        ),
        (
            "{\"resourceVersion\":\"41\"}\n{\"resourceVersion\":\"42\"}\n",
            "{\"resourceVersion\":\"<41>\"}\n{\"resourceVersion\":\"<42>\"}\n",
        ),
        (
            "{\"broken\":\"\n{\"resourceVersion\":\"41\"}\n",
            "{\"broken\":\"\n{\"resourceVersion\":\"<41>\"}\n",
        ),
    ] {
        assert_eq!(hidden(json), expected);
    }
}

#[test]
fn everything_else_stays() {
    for json in [
        r#"{"resourceVersion":""}"#,
        r#"{"resourceVersion":"0"}"#,
        r#"{"resourceVersion":41}"#,
        r#"{"resourceVersion":null,"x":"41"}"#,
        r#"{"resourceVersion":"v41"}"#,
        r#"{"resourceVersion":"\u0034\u0031"}"#,
        r#"{"resourceVersion":"411111111111111111111111111111"}"#,
        r#"{"resourceVersions":"41","theresourceVersion":"41","resourceversion":"41"}"#,
        r#"{"a":"resourceVersion","b":"41"}"#,
        r#"["resourceVersion","41"]"#,
        r#"{"annotation":"{\"resourceVersion\":\"41\"}"}"#,
        r#"{"annotation":"\\\"resourceVersion\":","b":"41"}"#,
        r#"{"resourceVersion":"41"#,
        r#"{"resourceVersion":"#,
    ] {
        assert_eq!(hidden(json), json);
    }
}

/// What should become of a value: the plain recursion that the rewriter must agree with.
fn model(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(model).collect(),
        Value::Object(entries) => {
            let entries = entries.into_iter().map(|(key, value)| match value {
                Value::String(text) if key == REVISION => match hide(text.as_bytes()) {
                    Some(opaque) => (key, String::from_utf8(opaque).unwrap().into()),
                    None => (key, text.into()),
                },
                value => (key, model(value)),
            });
            Value::Object(entries.collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(REVISION.to_owned()),
        (0..1000_u64).prop_map(|number| number.to_string()),
        Just(r#"{"resourceVersion":"41"}"#.to_owned()),
        any::<u64>().prop_map(|number| number.to_string()),
        "[\\\\\"a-z\\n:é]{0,8}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        (0..99).prop_map(Value::from),
        string().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((string(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_is_rewritten_as_a_tree_would_be(value in value(), pretty in any::<bool>(), cuts in vec(any::<Index>(), 0..9)) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let whole = rewritten(Rewriter::hiding(), [&text]);
        prop_assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), model(value.clone()));
        prop_assert_eq!(&rewritten(Rewriter::revealing(), [&whole]), &text, "and back");

        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        at.sort_unstable();
        let mut from = 0;
        let pieces = at.into_iter().chain([text.len()]).map(|end| &text.as_bytes()[std::mem::replace(&mut from, end)..end]);
        prop_assert_eq!(&rewritten(Rewriter::hiding(), pieces), &whole);
        prop_assert_eq!(rewritten(Rewriter::hiding(), text.as_bytes().chunks(1)), whole);
    }
}

#[test]
fn a_json_patch_has_its_versions_under_value() {
    let patch =
        json!([{"op": "test", "path": "/metadata/resourceVersion", "value": of("41")}]).to_string();
    let expected = patch.replace(&of("41"), "41");
    assert_eq!(rewritten(Rewriter::revealing_patch(), [&patch]), expected);
    assert_eq!(rewritten(Rewriter::revealing(), [&patch]), patch);
}
