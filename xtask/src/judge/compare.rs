use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::answer::{Answer, Content};
use super::script::Scope;

/// One thing that is not the same, in the form that `kept.yaml` matches:
/// `body.spec.replicas: 2 | 3`, first the real server's.
pub(super) type Difference = String;

/// The real server's answer as far as it is compared with the simulated one's.
pub(super) fn comparable(real: Answer, simulated: &Answer, scope: Scope) -> Answer {
    let content = match (&real.content, &simulated.content) {
        (Content::Json(body), Content::Json(other)) if scope == Scope::Subset => {
            Content::Json(cut(body, other))
        }
        _ => return real,
    };
    Answer { content, ..real }
}

/// Compares two answers that have symbols in them.
pub(super) fn differences(real: &Answer, simulated: &Answer) -> Vec<Difference> {
    let mut found = Found::default();
    if real.status != simulated.status {
        found.add("status", &real.status, &simulated.status);
    }
    headers(&mut found, &real.headers, &simulated.headers);
    match (&real.content, &simulated.content) {
        // Of two outcomes every field differs: the message is enough.
        (Content::Json(real), Content::Json(simulated)) if !found.differ_in_status => {
            found.values("body", real, simulated);
        }
        (
            Content::Events { events, end },
            Content::Events {
                events: others,
                end: other_end,
            },
        ) => {
            if events.len() != others.len() {
                found.add("number of events", &events.len(), &others.len());
            }
            for (at, (event, other)) in events.iter().zip(others).enumerate() {
                found.values(&format!("event {}", at + 1), event, other);
            }
            if end != other_end {
                found.add("end", &format!("{end:?}"), &format!("{other_end:?}"));
            }
        }
        (real, simulated) if real == simulated => {}
        (real, simulated) => found.add("body", &brief(real), &brief(simulated)),
    }
    found.all
}

#[derive(Default)]
struct Found {
    all: Vec<Difference>,
    differ_in_status: bool,
}

fn headers(
    found: &mut Found,
    real: &BTreeMap<&'static str, Vec<String>>,
    simulated: &BTreeMap<&'static str, Vec<String>>,
) {
    let names: BTreeSet<_> = real.keys().chain(simulated.keys()).collect();
    for name in names {
        let of = |headers: &BTreeMap<_, Vec<String>>| {
            headers
                .get(name)
                .map_or_else(|| "nothing".to_owned(), |values| values.join(", "))
        };
        if real.get(name) != simulated.get(name) {
            found.add(&format!("header {name}"), &of(real), &of(simulated));
        }
    }
}

/// The real server's document without what the simulated one has nothing of: kinds, groups
/// and versions. Fields are kept.
fn cut(real: &Value, simulated: &Value) -> Value {
    match (real, simulated) {
        (Value::Object(fields), Value::Object(others)) => {
            let cut_field = |(name, value): (&String, &Value)| {
                let other = others.get(name).unwrap_or(&Value::Null);
                (name.clone(), cut(value, other))
            };
            // The map of paths in the OpenAPI root is a list, too.
            let listed = |name: &String| !name.contains('/') || others.contains_key(name);
            let kept = fields.iter().filter(|(name, _)| listed(name));
            Value::Object(kept.map(cut_field).collect())
        }
        (Value::Array(items), Value::Array(others)) => {
            let same = |item: &&Value, other: &&Value| match identity(item) {
                Some(identity) => Some(identity) == self::identity(other),
                None => item == other,
            };
            let kept = items.iter().filter_map(|item| {
                let other = others.iter().find(|other| same(&item, other))?;
                Some(cut(item, other))
            });
            kept.collect()
        }
        (real, _) => real.clone(),
    }
}

/// By what an entry of a discovery document is known.
fn identity(value: &Value) -> Option<&Value> {
    let keys = ["name", "resource", "subresource", "groupVersion", "version"];
    let by_field = keys.iter().find_map(|key| value.get(key));
    by_field.or_else(|| value.get("metadata")?.get("name").or(Some(&Value::Null)))
}

fn brief(content: &Content) -> String {
    match content {
        Content::Json(body) => body.get("message").unwrap_or(body).to_string(),
        Content::Text(text) => format!("{text:?}"),
        Content::Events { events, .. } => format!("{} events", events.len()),
        Content::Unread => "nothing".to_owned(),
    }
}

// === impl Found ===

impl Found {
    fn add(&mut self, place: &str, real: &impl ToString, simulated: &impl ToString) {
        self.differ_in_status |= place == "status";
        let (real, simulated) = (real.to_string(), simulated.to_string());
        self.all.push(format!("{place}: {real} | {simulated}"));
    }

    fn values(&mut self, place: &str, real: &Value, simulated: &Value) {
        match (real, simulated) {
            (Value::Object(fields), Value::Object(others)) => {
                let names: BTreeSet<&String> = fields.keys().chain(others.keys()).collect();
                for name in names {
                    self.optional(
                        &format!("{place}.{name}"),
                        fields.get(name),
                        others.get(name),
                    );
                }
            }
            (Value::Array(items), Value::Array(others)) => {
                for at in 0..items.len().max(others.len()) {
                    self.optional(&format!("{place}[{at}]"), items.get(at), others.get(at));
                }
            }
            _ if real == simulated => {}
            _ => self.add(place, real, simulated),
        }
    }

    fn optional(&mut self, place: &str, real: Option<&Value>, simulated: Option<&Value>) {
        match (real, simulated) {
            (Some(real), Some(simulated)) => self.values(place, real, simulated),
            _ => {
                let shown = |value: Option<&Value>| {
                    value.map_or_else(|| "nothing".to_owned(), Value::to_string)
                };
                self.add(place, &shown(real), &shown(simulated));
            }
        }
    }
}

#[cfg(test)]
mod tests;
