//! Leases, autoscalers, disruption budgets, and the `scale` subresource.

use serde_json::Value;

use super::{AGE, NAME, Printer, age, count, integer, name, text};

pub(crate) const LEASE: Printer = Printer {
    columns: &[NAME, text("Holder"), AGE],
    cells: |lease, now| {
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        vec![name(lease), holder.into(), age(lease, now)]
    },
};

pub(crate) const AUTOSCALER: Printer = Printer {
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

pub(crate) const SCALE: Printer = Printer {
    columns: &[NAME, integer("Desired"), integer("Available"), AGE],
    cells: |scale, now| {
        vec![
            name(scale),
            count(&scale["spec"]["replicas"]).into(),
            count(&scale["status"]["replicas"]).into(),
            age(scale, now),
        ]
    },
};

pub(crate) const DISRUPTION_BUDGET: Printer = Printer {
    columns: &[
        NAME,
        text("Min Available"),
        text("Max Unavailable"),
        integer("Allowed Disruptions"),
        AGE,
    ],
    cells: |budget, now| {
        let limit = |field: &str| match &budget["spec"][field] {
            Value::Null => "N/A".to_owned(),
            Value::String(percent) => percent.clone(),
            number => number.to_string(),
        };
        vec![
            name(budget),
            limit("minAvailable").into(),
            limit("maxUnavailable").into(),
            count(&budget["status"]["disruptionsAllowed"]).into(),
            age(budget, now),
        ]
    },
};

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
