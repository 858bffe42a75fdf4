use std::collections::BTreeMap;

use serde_json::Value;

/// What `{{…}}` stands for on one server.
pub(super) struct Known<'a> {
    pub(super) namespace: &'a str,
    /// What was answered before, by name.
    pub(super) answers: &'a BTreeMap<String, Value>,
}

// === impl Known ===

impl Known<'_> {
    /// Fills a text in.
    pub(super) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let end = rest[start..].find("}}").ok_or("`{{` without `}}`")? + start;
            filled.push_str(&rest[..start]);
            filled.push_str(&self.look_up(rest[start + 2..end].trim())?);
            rest = &rest[end + 2..];
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn look_up(&self, word: &str) -> Result<String, String> {
        if word == "ns" {
            return Ok(self.namespace.to_owned());
        }
        let mut segments = word.split('.');
        let name = segments.next().unwrap_or_default();
        let answer = self.answers.get(name);
        let mut value = answer.ok_or_else(|| format!("nothing is called `{name}`"))?;
        for segment in segments {
            let found = match value {
                Value::Array(items) => segment.parse().ok().and_then(|at: usize| items.get(at)),
                _ => value.get(segment),
            };
            value = found.ok_or_else(|| format!("`{word}`: no `{segment}` in {value}"))?;
        }
        Ok(match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(text: &str) -> Result<String, String> {
        let answers = BTreeMap::from([
            (
                "web".to_owned(),
                json!({"metadata": {"uid": "u", "generation": 3}}),
            ),
            ("seen".to_owned(), json!([{"type": "ADDED"}])),
        ]);
        let known = Known {
            namespace: "judge-a",
            answers: &answers,
        };
        known.fill(text)
    }

    #[test]
    fn parts_of_earlier_answers_are_filled_in() {
        let text = "/{{ns}}/a?uid={{web.metadata.uid}}&g={{web.metadata.generation}}";
        assert_eq!(fill(text).unwrap(), "/judge-a/a?uid=u&g=3");
        assert_eq!(fill("{{seen.0.type}}").unwrap(), "ADDED");
        assert_eq!(fill(r#"{"a":{"b":{}}}"#).unwrap(), r#"{"a":{"b":{}}}"#);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        for (text, why) in [
            ("{{nope.a}}", "nothing is called `nope`"),
            ("{{seen.1}}", r#"`seen.1`: no `1` in [{"type":"ADDED"}]"#),
            ("{{web", "`{{` without `}}`"),
        ] {
            assert_eq!(fill(text).unwrap_err(), why);
        }
    }
}
