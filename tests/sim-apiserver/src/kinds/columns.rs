//! What `kubectl get` shows: the columns of the real server's printers.

use jiff::Timestamp;
use serde_json::{Value, json};

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

pub(super) const NAMESPACE: Printer = Printer {
    columns: &[NAME, text("Status"), AGE],
    cells: |namespace, now| {
        vec![
            name(namespace),
            or_unknown(&namespace["status"]["phase"]),
            age(namespace, now),
        ]
    },
};

pub(super) const DEPLOYMENT: Printer = Printer {
    columns: &[
        NAME,
        text("Ready"),
        text("Up-to-date"),
        text("Available"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: |deployment, now| {
        let (spec, status) = (&deployment["spec"], &deployment["status"]);
        let ready = format!(
            "{}/{}",
            count(&status["readyReplicas"]),
            count(&spec["replicas"])
        );
        let template = &spec["template"]["spec"];
        vec![
            name(deployment),
            ready.into(),
            count(&status["updatedReplicas"]).into(),
            count(&status["availableReplicas"]).into(),
            age(deployment, now),
            containers(template, "name"),
            containers(template, "image"),
            selector(&spec["selector"]),
        ]
    },
};

pub(super) const REPLICA_SET: Printer = Printer {
    columns: &[
        NAME,
        integer("Desired"),
        integer("Current"),
        integer("Ready"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: |set, now| {
        let (spec, status) = (&set["spec"], &set["status"]);
        let template = &spec["template"]["spec"];
        vec![
            name(set),
            count(&spec["replicas"]).into(),
            count(&status["replicas"]).into(),
            count(&status["readyReplicas"]).into(),
            age(set, now),
            containers(template, "name"),
            containers(template, "image"),
            selector(&spec["selector"]),
        ]
    },
};

pub(super) const POD: Printer = Printer {
    columns: &[
        NAME,
        text("Ready"),
        text("Status"),
        text("Restarts"),
        AGE,
        wide("IP"),
        wide("Node"),
        wide("Nominated Node"),
        wide("Readiness Gates"),
    ],
    cells: |pod, now| {
        let statuses = pod["status"]["containerStatuses"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let ready = statuses
            .iter()
            .filter(|status| status["ready"] == true)
            .count();
        let restarts: i64 = statuses
            .iter()
            .map(|status| count(&status["restartCount"]))
            .sum();
        let all = pod["spec"]["containers"].as_array().map_or(0, Vec::len);
        let deleting = !pod["metadata"]["deletionTimestamp"].is_null();
        let phase = if deleting {
            json!("Terminating")
        } else {
            or_unknown(&pod["status"]["phase"])
        };
        vec![
            name(pod),
            format!("{ready}/{all}").into(),
            phase,
            restarts.to_string().into(),
            age(pod, now),
            or_none(&pod["status"]["podIP"]),
            or_none(&pod["spec"]["nodeName"]),
            or_none(&pod["status"]["nominatedNodeName"]),
            json!("<none>"),
        ]
    },
};

pub(super) const EVENT: Printer = Printer {
    columns: &[
        text("Last Seen"),
        text("Type"),
        text("Reason"),
        text("Object"),
        wide("Subobject"),
        wide("Source"),
        text("Message"),
        wide("First Seen"),
        wide("Count"),
        wide("Name"),
    ],
    cells: |event, now| {
        let object = &event["involvedObject"];
        let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
        let first = first_of(&[&event["firstTimestamp"], &event["eventTime"]]);
        let last = first_of(&[
            &event["series"]["lastObservedTime"],
            &event["lastTimestamp"],
            first,
        ]);
        let source = first_of(&[&event["source"]["component"], &event["reportingComponent"]]);
        let series = first_of(&[&event["series"]["count"], &event["count"]]);
        vec![
            since(last, now),
            event["type"].clone(),
            event["reason"].clone(),
            format!("{kind}/{}", object["name"].as_str().unwrap_or_default()).into(),
            object["fieldPath"].as_str().unwrap_or_default().into(),
            source.as_str().unwrap_or_default().into(),
            event["message"].as_str().unwrap_or_default().trim().into(),
            since(first, now),
            count(series).max(1).into(),
            name(event),
        ]
    },
};

pub(super) const LEASE: Printer = Printer {
    columns: &[NAME, text("Holder"), AGE],
    cells: |lease, now| {
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        vec![name(lease), holder.into(), age(lease, now)]
    },
};

pub(super) const AUTOSCALER: Printer = Printer {
    columns: &[
        NAME,
        text("Reference"),
        text("Targets"),
        text("MinPods"),
        text("MaxPods"),
        text("Replicas"),
        AGE,
    ],
    cells: |autoscaler, now| {
        let (spec, status) = (&autoscaler["spec"], &autoscaler["status"]);
        let target = &spec["scaleTargetRef"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let min = spec["minReplicas"]
            .as_i64()
            .map_or_else(|| "<unset>".to_owned(), |min| min.to_string());
        vec![
            name(autoscaler),
            format!("{}/{}", text(&target["kind"]), text(&target["name"])).into(),
            targets(&spec["metrics"]).into(),
            min.into(),
            count(&spec["maxReplicas"]).into(),
            count(&status["currentReplicas"]).into(),
            age(autoscaler, now),
        ]
    },
};

// === impl Printer ===

impl Printer {
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

fn targets(metrics: &Value) -> String {
    let shown: Vec<String> = metrics
        .as_array()
        .into_iter()
        .flatten()
        .map(|metric| {
            let resource = &metric["resource"];
            let name = resource["name"].as_str().unwrap_or("metric");
            match resource["target"]["averageUtilization"].as_i64() {
                Some(percent) => format!("{name}: <unknown>/{percent}%"),
                None => format!("{name}: <unknown>/<auto>"),
            }
        })
        .collect();
    if shown.is_empty() {
        "<none>".to_owned()
    } else {
        shown.join(", ")
    }
}

/// A `LabelSelector` object as text; empty if it selects everything.
pub(crate) fn selector_text(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut terms: Vec<String> = labels
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
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

/// An object's age as kubectl prints it.
pub(crate) fn age(object: &Value, now: Timestamp) -> Value {
    since(&object["metadata"]["creationTimestamp"], now)
}

fn since(time: &Value, now: Timestamp) -> Value {
    match time
        .as_str()
        .and_then(|time| time.parse::<Timestamp>().ok())
    {
        Some(time) => human_duration(now.as_second() - time.as_second()).into(),
        None => "<unknown>".into(),
    }
}

/// `duration.HumanDuration` of apimachinery: at most two units, the second only while it matters.
fn human_duration(seconds: i64) -> String {
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{small_unit}"),
    };
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_kubectl_prints_them() {
        for (seconds, text) in [
            (-90, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (3600, "60m"),
            (10_801, "3h"),
            (10_860, "3h1m"),
            (36_000, "10h"),
            (180_000, "2d2h"),
            (864_000, "10d"),
            (63_158_400, "2y1d"),
        ] {
            assert_eq!(human_duration(seconds), text);
        }
    }

    #[test]
    fn a_deployment_row_shows_ready_of_wanted() {
        let deployment = json!({"metadata": {"name": "web"}, "spec": {"replicas": 2, "selector":
            {"matchLabels": {"app": "web"}}}, "status": {"readyReplicas": 1, "updatedReplicas": 2}});
        let cells = (DEPLOYMENT.cells)(&deployment, Timestamp::UNIX_EPOCH);
        assert_eq!(cells[..4], [json!("web"), json!("1/2"), json!(2), json!(0)]);
        assert_eq!(cells[7], "app=web");
        assert_eq!(cells.len(), DEPLOYMENT.columns.len());
    }
}
