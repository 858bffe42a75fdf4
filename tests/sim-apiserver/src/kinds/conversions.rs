//! The same object in another version.

use serde_json::{Map, Value, json};

/// Core name, events.k8s.io name.
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
];

const CPU_METRIC: &str = "cpu";

/// core/v1 → events.k8s.io/v1.
pub(super) fn event_from_stored(event: &mut Value) {
    rename(event, EVENT_FIELDS.iter().copied());
    if let Some(fields) = event.as_object_mut() {
        // Where nobody said so, only the core group says that nobody did.
        fields.retain(|field, value| !(field.starts_with("reporting") && *value == ""));
    }
}

/// events.k8s.io/v1 → core/v1.
pub(super) fn event_to_stored(event: &mut Value) {
    rename(
        event,
        EVENT_FIELDS.iter().map(|(core, events)| (*events, *core)),
    );
}

/// autoscaling/v2 → v1: the one metric that v1 knows; others are dropped (the real server keeps them in an
/// annotation).
pub(super) fn autoscaler_from_stored(autoscaler: &mut Value) {
    let Some(spec) = autoscaler.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    spec.remove("behavior");
    let metrics = spec.remove("metrics");
    let target = metrics
        .iter()
        .flat_map(|metrics| metrics.as_array())
        .flatten()
        .find_map(|metric| {
            let resource = &metric["resource"];
            (resource["name"] == CPU_METRIC)
                .then(|| resource["target"]["averageUtilization"].clone())
        });
    if let Some(target) = target {
        spec.insert("targetCPUUtilizationPercentage".to_owned(), target);
    }
    if let Some(status) = autoscaler.get_mut("status").and_then(Value::as_object_mut) {
        status.remove("conditions");
        status.remove("currentMetrics");
        status.entry("currentReplicas").or_insert_with(|| 0.into());
    }
}

/// autoscaling/v1 → v2.
pub(super) fn autoscaler_to_stored(autoscaler: &mut Value) {
    if let Some(spec) = autoscaler.get_mut("spec").and_then(Value::as_object_mut)
        && let Some(target) = spec.remove("targetCPUUtilizationPercentage")
    {
        let metric = json!({"type": "Resource", "resource": {"name": CPU_METRIC,
            "target": {"type": "Utilization", "averageUtilization": target}}});
        spec.insert("metrics".to_owned(), json!([metric]));
    }
}

fn rename<'a>(value: &mut Value, names: impl Iterator<Item = (&'a str, &'a str)>) {
    let Some(fields) = value.as_object_mut() else {
        return;
    };
    let mut renamed = Map::new();
    for (from, to) in names {
        if let Some(field) = fields.remove(from) {
            renamed.insert(to.to_owned(), field);
        }
    }
    fields.append(&mut renamed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_survives_the_way_there_and_back() {
        let stored = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Deployment"}, "message": "m",
            "reason": "Scaled", "source": {"component": "x"}, "count": 2, "reportingComponent": "minrep"});
        let mut event = stored.clone();
        event_from_stored(&mut event);
        assert_eq!(event["note"], "m");
        assert_eq!(event["regarding"]["kind"], "Deployment");
        assert_eq!(event["deprecatedCount"], 2);
        assert_eq!(event["reportingController"], "minrep");
        assert_eq!(event.get("message"), None);
        event_to_stored(&mut event);
        assert_eq!(event, stored);
    }

    #[test]
    fn an_autoscaler_keeps_its_cpu_target_in_both_versions() {
        let v1 = json!({"metadata": {"name": "h"}, "spec": {"maxReplicas": 5, "targetCPUUtilizationPercentage": 80}});
        let mut autoscaler = v1.clone();
        autoscaler_to_stored(&mut autoscaler);
        assert_eq!(
            autoscaler["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
            80
        );
        autoscaler_from_stored(&mut autoscaler);
        assert_eq!(autoscaler, v1);
    }
}
