//! YAML: the first document of a text, as the real server's decoder turns it into JSON.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{
    DuplicateKeyPolicy, Options, Spanned, with_deserializer_from_slice_with_options,
};

/// The tree, and the keys that are there twice, each as `line 6: key "data" already set in map`. The last one
/// counts.
pub(super) fn read(body: &[u8]) -> Result<(Value, Vec<String>), String> {
    let mut options = Options::default();
    options.duplicate_keys = DuplicateKeyPolicy::PassThrough;
    options.legacy_octal_numbers = true;
    options.with_snippet = false;
    options.alias_limits.max_total_replayed_events = 100_000;
    let mut twice = Vec::new();
    let walk = Tree(&mut twice);
    let read = with_deserializer_from_slice_with_options(first_document(body), options, |yaml| {
        walk.deserialize(yaml)
    });
    match read {
        Ok(value) => Ok((value, twice)),
        // Nothing but comments, or nothing at all.
        Err(error) if matches!(error.without_snippet(), serde_saphyr::Error::Eof { .. }) => {
            Ok((Value::Null, twice))
        }
        Err(error) => {
            let line = error.location().map_or(1, |location| location.line());
            Err(format!("yaml: line {line}: {}", reason(&error)))
        }
    }
}

/// The text up to the second document. A line that begins with `---` begins one, wherever it stands.
fn first_document(body: &[u8]) -> &[u8] {
    let mut seen = false;
    let mut at = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"---") && seen {
            return &body[..at];
        }
        let text = line.trim_ascii();
        seen |= !(text.is_empty() || text.starts_with(b"#") || text.starts_with(b"%"));
        at += line.len();
    }
    body
}

/// The error without its place, which the real server puts first.
fn reason(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let text = text.lines().next().unwrap_or_default();
    match text.split_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text.to_owned(),
    }
}

/// Reads any value; notes keys that are there twice.
struct Tree<'a>(&'a mut Vec<String>);

// === impl Tree ===

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value_seed(Tree(self.0))?;
            let line = key.referenced.line();
            let key = key.value;
            if fields.contains_key(&key) {
                self.0
                    .push(format!("line {line}: key {key:?} already set in map"));
            }
            fields.insert(key, value);
        }
        Ok(fields.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Tree(self.0))? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        match Number::from_f64(value) {
            // JSON has one way to write a whole number.
            Some(_) if value.fract() == 0.0 && value.abs() < 9e15 => Ok((value as i64).into()),
            Some(number) => Ok(number.into()),
            None => Err(E::custom("json: unsupported value")),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_document_is_read_as_yaml_1_1() {
        let text = "# a comment\n---\na: yes\nb: 010\nc: 0x1f\nd: 1.0\ne: '1'\nf: ~\ng: 2001-01-01\nh: [1, {i: j}]\n\
            k: &x {l: m}\nn: *x\no: {<<: *x, p: |\n    text\n  }\n1: one\n";
        let text = text.replace(
            "o: {<<: *x, p: |\n    text\n  }\n",
            "o:\n  <<: *x\n  p: |\n    text\n",
        );
        let (value, twice) = read(format!("{text}---\nsecond: [\n").as_bytes()).unwrap();
        assert_eq!(
            value,
            json!({"a": true, "b": 8, "c": 31, "d": 1, "e": "1", "f": null, "g": "2001-01-01",
                "h": [1, {"i": "j"}], "k": {"l": "m"}, "n": {"l": "m"}, "o": {"l": "m", "p": "text\n"}, "1": "one"})
        );
        assert!(twice.is_empty());
    }

    #[test]
    fn the_last_of_two_equal_keys_counts_and_both_are_told_of() {
        let (value, twice) = read(b"a: 1\nb:\n  c: 1\n  c: 2\na: 3\n").unwrap();
        assert_eq!(value, json!({"a": 3, "b": {"c": 2}}));
        assert_eq!(
            twice,
            [
                r#"line 4: key "c" already set in map"#,
                r#"line 5: key "a" already set in map"#
            ]
        );
    }

    #[test]
    fn nothing_is_null() {
        for text in ["", "\n", "# only this\n", "---\n"] {
            assert_eq!(read(text.as_bytes()).unwrap().0, Value::Null, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_yaml_is_refused_with_its_line() {
        let refusal = |text: &str| read(text.as_bytes()).unwrap_err();
        insta::assert_snapshot!(refusal("a: 1\nb:\n\tc: 1\n"), @"yaml: line 3: tabs disallowed within this context (block indentation)");
        insta::assert_snapshot!(refusal("a: 1\nb: [c"), @"yaml: line 2: unclosed bracket '['");
        insta::assert_snapshot!(refusal("a: .inf"), @"yaml: line 1: non-finite float `.inf` rejected by the configured policy");
        insta::assert_snapshot!(refusal("a: *nobody"), @"yaml: line 1: alias references unknown anchor");
    }

    #[test]
    fn a_bomb_of_aliases_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}", level - 1);
            let items = vec![below; 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        assert!(read(text.as_bytes()).is_err());
    }
}
