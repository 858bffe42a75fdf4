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
            for at in 0..events.len().max(others.len()) {
                let place = format!("event {}", at + 1);
                found.optional(&place, events.get(at), others.get(at));
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

/// The lists of a discovery document of which a smaller server has a part.
const LISTS: [&str; 4] = ["groups", "items", "versions", "resources"];

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

/// The real server's document without the groups, versions and resources that the simulated
/// one does not serve. What it serves is compared as a whole, with all its subresources.
fn cut(real: &Value, simulated: &Value) -> Value {
    let (Value::Object(fields), Value::Object(others)) = (real, simulated) else {
        return real.clone();
    };
    let cut_field = |(name, value): (&String, &Value)| {
        let value = match (value, others.get(name)) {
            (Value::Array(items), Some(Value::Array(others))) if LISTS.contains(&name.as_str()) => {
                served(items, others)
            }
            // The OpenAPI root lists groups and versions by their paths.
            (Value::Object(paths), Some(Value::Object(others))) if name == "paths" => {
                let paths = paths.clone().into_iter();
                paths
                    .filter(|(path, _)| !path.contains('/') || others.contains_key(path))
                    .collect()
            }
            _ => value.clone(),
        };
        (name.clone(), value)
    };
    fields.iter().map(cut_field).collect()
}

fn served(items: &[Value], others: &[Value]) -> Value {
    let find = |name| others.iter().find(|other| identity(other) == Some(name));
    let kept = items.iter().filter_map(|item| {
        let Some(name) = identity(item) else {
            return Some(item.clone());
        };
        match (find(name), name.split_once('/')) {
            (Some(other), _) => Some(cut(item, other)),
            (None, Some((owner, _))) => find(owner).map(|_| item.clone()),
            (None, None) => None,
        }
    });
    kept.collect()
}

/// By what an entry of a discovery document is known; the core group has no name.
fn identity(value: &Value) -> Option<&str> {
    let keys = ["name", "resource", "subresource", "groupVersion", "version"];
    if let Some(name) = keys.iter().find_map(|key| value.get(key)) {
        return name.as_str();
    }
    value
        .get("metadata")?
        .get("name")
        .map_or(Some(""), Value::as_str)
}

/// The entries of a list of resources or subresources by name: one that is missing must not
/// make all after it differ.
fn by_name<'a>(place: &str, items: &'a [Value]) -> Option<BTreeMap<&'a str, &'a Value>> {
    if !place.ends_with("resources") {
        return None;
    }
    let named = items.iter().map(|item| Some((identity(item)?, item)));
    let named: BTreeMap<_, _> = named.collect::<Option<_>>()?;
    (named.len() == items.len()).then_some(named)
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
                if let (Some(named), Some(other_named)) =
                    (by_name(place, items), by_name(place, others))
                {
                    let names: BTreeSet<_> = named.keys().chain(other_named.keys()).collect();
                    for name in names {
                        let (item, other) = (named.get(*name), other_named.get(*name));
                        self.optional(&format!("{place}[{name}]"), item.copied(), other.copied());
                    }
                    let order = |items: &[Value], others: &BTreeMap<&str, &Value>| {
                        let names = items.iter().filter_map(|item| identity(item));
                        let shared: Vec<_> = names
                            .filter(|name| others.contains_key(name))
                            .map(str::to_owned)
                            .collect();
                        shared.join(" ")
                    };
                    let (order, other) = (order(items, &other_named), order(others, &named));
                    if order != other {
                        self.add(&format!("order of {place}"), &order, &other);
                    }
                    return;
                }
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
