use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

/// The labels of an object: `(key, value)`, sorted by key.
///
/// All of them are one piece of text, for there are a hundred thousand objects and nearly
/// nobody asks: each look-up goes through them from the first to the last.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Labels<'a> {
    /// `key NUL value NUL`, as often as there are labels; no key twice.
    text: &'a str,
}

/// Labels as they are read, in the form of [`Labels::text`].
#[derive(Debug, Default)]
pub(super) struct LabelText(String);

struct ReadLabels;

/// Reads a text behind the others.
struct Push<'a>(&'a mut String);

// === impl Labels ===

impl<'a> Labels<'a> {
    /// The labels that [`LabelText::as_str`] holds.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// The value of the label `key`.
    pub fn get(self, key: &str) -> Option<&'a str> {
        self.iter()
            .find_map(|(found, value)| (found == key).then_some(value))
    }

    /// All of them, sorted by key.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut texts = self.text.split_terminator('\0');
        std::iter::from_fn(move || Some((texts.next()?, texts.next()?)))
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.text.is_empty()
    }
}

impl fmt::Debug for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

// === impl LabelText ===

impl LabelText {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Go writes maps sorted by key, so that this is for servers that are not Go. The last of
    /// two values of one key counts, as in any map.
    fn sorted(self) -> Self {
        let labels = Labels::new(&self.0);
        if labels.iter().map(|(key, _)| key).is_sorted_by(|a, b| a < b) {
            return self;
        }
        let sorted: BTreeMap<_, _> = labels.iter().collect();
        let texts = sorted
            .into_iter()
            .flat_map(|(key, value)| [key, "\0", value, "\0"]);
        Self(texts.collect())
    }
}

impl<'de> serde::Deserialize<'de> for LabelText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(ReadLabels)
    }
}

// === impl ReadLabels ===

impl<'de> Visitor<'de> for ReadLabels {
    type Value = LabelText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of labels")
    }

    fn visit_none<E>(self) -> Result<LabelText, E> {
        Ok(LabelText::default())
    }

    fn visit_unit<E>(self) -> Result<LabelText, E> {
        Ok(LabelText::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<LabelText, D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LabelText, A::Error> {
        let mut text = String::new();
        while map.next_key_seed(Push(&mut text))?.is_some() {
            map.next_value_seed(Push(&mut text))?;
        }
        Ok(LabelText(text).sorted())
    }
}

// === impl Push ===

impl<'de> DeserializeSeed<'de> for Push<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Push<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a label")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        // No server takes one. Here it would be the end of a key or of a value.
        if text.contains('\0') {
            return Err(E::custom("a label holds a NUL"));
        }
        self.0.push_str(text);
        self.0.push('\0');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(json: &str) -> Result<LabelText, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn labels_are_found_whatever_their_order() {
        let text = read(r#"{"tier": "web", "app": "shop", "empty": "", "app": "store"}"#).unwrap();
        let labels = Labels::new(text.as_str());
        let all: Vec<_> = labels.iter().collect();
        assert_eq!(all, [("app", "store"), ("empty", ""), ("tier", "web")]);
        assert_eq!((labels.len(), labels.is_empty()), (3, false));
        assert_eq!(labels.get("web"), None, "a value is no key");
        assert_eq!(
            format!("{labels:?}"),
            r#"{"app": "store", "empty": "", "tier": "web"}"#
        );
    }

    #[test]
    fn none_null_and_nothing_are_no_labels() {
        for json in ["null", "{}"] {
            assert!(
                Labels::new(read(json).unwrap().as_str()).is_empty(),
                "{json}"
            );
        }
    }

    #[test]
    fn what_is_no_label_is_refused() {
        for json in [r#"{"a": null}"#, r#"{"a": 1}"#, r#"{"a": "\u0000b"}"#, "[]"] {
            assert!(read(json).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_map_of_labels_is_the_same_map(
            map in proptest::collection::btree_map("[^\u{0}]{0,4}", "[^\u{0}]{0,4}", 0..5)
        ) {
            let text = read(&serde_json::to_string(&map).unwrap()).unwrap();
            let labels = Labels::new(text.as_str());
            let found = labels.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
            prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), map.clone());
            for (key, value) in &map {
                prop_assert_eq!(labels.get(key), Some(value.as_str()));
            }
        }
    }
}
