//! What `kubectl get` shows: the columns of the real server's printers.

mod age;
mod core;
mod policies;
mod workloads;

use jiff::Timestamp;
use serde_json::Value;

pub(crate) use self::age::age;
use self::age::since;
pub(super) use self::core::{CONFIG_MAP, EVENT, NAMESPACE, NODE, SECRET, SERVICE};
pub(super) use self::policies::{AUTOSCALER, DISRUPTION_BUDGET, LEASE, SCALE};
pub(super) use self::workloads::{
    CRON_JOB, DAEMON_SET, DEPLOYMENT, JOB, POD, REPLICA_SET, STATEFUL_SET,
};

/// The table of one kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    pub(crate) columns: &'static [Column],
    /// One cell for each column.
    pub(crate) cells: fn(&Value, Timestamp) -> Vec<Value>,
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    /// 0 is always shown, 1 with `-o wide`.
    pub(crate) priority: u8,
}

const NAME: Column = text("Name");
const AGE: Column = text("Age");

// === impl Printer ===

impl Printer {
    /// What a kind has whose definition names no columns.
    pub(crate) const CUSTOM: Self = Self {
        columns: &[
            NAME,
            Column {
                kind: "date",
                ..AGE
            },
        ],
        cells: |object, now| vec![name(object), age(object, now)],
    };

    pub(crate) const NAME_AND_AGE: Self = Self {
        columns: &[NAME, AGE],
        cells: |object, now| vec![name(object), age(object, now)],
    };
}

const fn text(name: &'static str) -> Column {
    Column {
        name,
        kind: "string",
        priority: 0,
    }
}

const fn wide(name: &'static str) -> Column {
    Column {
        name,
        kind: "string",
        priority: 1,
    }
}

const fn integer(name: &'static str) -> Column {
    Column {
        name,
        kind: "integer",
        priority: 0,
    }
}

const fn boolean(name: &'static str) -> Column {
    Column {
        name,
        kind: "boolean",
        priority: 0,
    }
}

fn name(object: &Value) -> Value {
    object["metadata"]["name"].clone()
}

fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

fn or_unknown(value: &Value) -> Value {
    value.as_str().unwrap_or("Unknown").into()
}

fn or_none(value: &Value) -> Value {
    value.as_str().unwrap_or("<none>").into()
}

fn first_of<'a>(values: &[&'a Value]) -> &'a Value {
    values
        .iter()
        .find(|value| !value.is_null())
        .copied()
        .unwrap_or(&Value::Null)
}

fn containers(pod: &Value, field: &str) -> Value {
    let containers = pod["containers"].as_array().into_iter().flatten();
    containers
        .filter_map(|container| container[field].as_str())
        .collect::<Vec<_>>()
        .join(",")
        .into()
}

fn selector(selector: &Value) -> Value {
    match selector_text(selector).as_str() {
        "" => "<none>".into(),
        text => text.into(),
    }
}

/// A `LabelSelector` object as text; empty if it selects everything.
pub(crate) fn selector_text(selector: &Value) -> String {
    let mut terms: Vec<String> = terms(&selector["matchLabels"]).collect();
    for expression in selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let key = expression["key"].as_str().unwrap_or_default();
        let values = expression["values"].as_array().into_iter().flatten();
        let values = values
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(",");
        match expression["operator"].as_str().unwrap_or_default() {
            "In" => terms.push(format!("{key} in ({values})")),
            "NotIn" => terms.push(format!("{key} notin ({values})")),
            "DoesNotExist" => terms.push(format!("!{key}")),
            _ => terms.push(key.to_owned()),
        }
    }
    terms.join(",")
}

/// A map of labels as text.
fn labels(labels: &Value) -> Value {
    let terms: Vec<String> = terms(labels).collect();
    match terms.as_slice() {
        [] => "<none>".into(),
        terms => terms.join(",").into(),
    }
}

fn terms(labels: &Value) -> impl Iterator<Item = String> {
    let labels = labels.as_object().into_iter().flatten();
    labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
}
