//! Fields that a JSON text has twice.

use std::{collections::BTreeSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::openapi::join;

/// The paths of the fields that a JSON object has more than once, at any depth. Text that is no JSON has none:
/// that is somebody else's finding.
pub(crate) fn duplicate_fields(text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let walk = Walk {
        path: "",
        found: &mut found,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    if walk.deserialize(&mut deserializer).is_err() {
        found.clear();
    }
    found
}

/// Reads a value only for its keys.
struct Walk<'a> {
    path: &'a str,
    found: &'a mut Vec<String>,
}

// === impl Walk ===

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = join(self.path, &key);
            map.next_value_seed(Walk {
                path: &path,
                found: self.found,
            })?;
            // Told once, however often it is there.
            if !seen.insert(key) && !self.found.contains(&path) {
                self.found.push(path);
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut at = 0;
        loop {
            let path = format!("{}[{at}]", self.path);
            let walk = Walk {
                path: &path,
                found: self.found,
            };
            if items.next_element_seed(walk)?.is_none() {
                return Ok(());
            }
            at += 1;
        }
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_there_twice_is_found_at_every_depth() {
        let text = r#"{"a": 1, "b": {"c": 1, "c": 2, "c": null}, "d": [{"e": 1}, {"e": 1.5, "e": "x"}], "a": true}"#;
        assert_eq!(duplicate_fields(text.as_bytes()), ["b.c", "d[1].e", "a"],);
    }

    #[test]
    fn what_is_no_json_has_no_duplicates() {
        assert!(duplicate_fields(br#"{"a": 1, "a": 2"#).is_empty());
        assert!(duplicate_fields(b"").is_empty());
    }
}
