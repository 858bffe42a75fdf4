//! Pods, and what makes them.

use serde_json::{Value, json};

use super::{
    AGE, Column, NAME, Printer, age, age::between, boolean, containers, count, integer, labels,
    name, or_none, or_unknown, selector, since, text, wide,
};

const CONTAINERS: Column = wide("Containers");
const IMAGES: Column = wide("Images");
const SELECTOR: Column = wide("Selector");

pub(crate) const DEPLOYMENT: Printer = Printer {
    columns: &[
        NAME,
        text("Ready"),
        text("Up-to-date"),
        text("Available"),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
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
            // Of a bookmark, there is none.
            match &spec["selector"] {
                Value::Null => "".into(),
                given => selector(given),
            },
        ]
    },
};

pub(crate) const REPLICA_SET: Printer = Printer {
    columns: &[
        NAME,
        integer("Desired"),
        integer("Current"),
        integer("Ready"),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
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

pub(crate) const POD: Printer = Printer {
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
            readiness_gates(pod),
        ]
    },
};

/// How many of a Pod's own conditions for being ready are met.
fn readiness_gates(pod: &Value) -> Value {
    let gates = pod["spec"]["readinessGates"].as_array();
    let gates = gates.map_or(&[][..], Vec::as_slice);
    let conditions = pod["status"]["conditions"].as_array();
    let met = |gate: &&Value| {
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|condition| {
            condition["type"] == gate["conditionType"] && condition["status"] == "True"
        })
    };
    match gates {
        [] => json!("<none>"),
        gates => format!("{}/{}", gates.iter().filter(met).count(), gates.len()).into(),
    }
}

pub(crate) const STATEFUL_SET: Printer = Printer {
    columns: &[NAME, text("Ready"), AGE, CONTAINERS, IMAGES],
    cells: |set, now| {
        let (spec, status) = (&set["spec"], &set["status"]);
        let (ready, wanted) = (count(&status["readyReplicas"]), count(&spec["replicas"]));
        let template = &spec["template"]["spec"];
        vec![
            name(set),
            format!("{ready}/{wanted}").into(),
            age(set, now),
            containers(template, "name"),
            containers(template, "image"),
        ]
    },
};

pub(crate) const DAEMON_SET: Printer = Printer {
    columns: &[
        NAME,
        integer("Desired"),
        integer("Current"),
        integer("Ready"),
        integer("Up-to-date"),
        integer("Available"),
        text("Node Selector"),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    cells: |set, now| {
        let (spec, status) = (&set["spec"], &set["status"]);
        let template = &spec["template"]["spec"];
        vec![
            name(set),
            count(&status["desiredNumberScheduled"]).into(),
            count(&status["currentNumberScheduled"]).into(),
            count(&status["numberReady"]).into(),
            count(&status["updatedNumberScheduled"]).into(),
            count(&status["numberAvailable"]).into(),
            labels(&template["nodeSelector"]),
            age(set, now),
            containers(template, "name"),
            containers(template, "image"),
            selector(&spec["selector"]),
        ]
    },
};

pub(crate) const JOB: Printer = Printer {
    columns: &[
        NAME,
        text("Status"),
        text("Completions"),
        text("Duration"),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    cells: |job, now| {
        let (spec, status) = (&job["spec"], &job["status"]);
        let succeeded = count(&status["succeeded"]);
        let completions = match (spec["completions"].as_i64(), count(&spec["parallelism"])) {
            (Some(wanted), _) => format!("{succeeded}/{wanted}"),
            (None, 0 | 1) => format!("{succeeded}/1"),
            (None, parallel) => format!("{succeeded}/1 of {parallel}"),
        };
        let duration = match &status["startTime"] {
            Value::Null => "".into(),
            start => match between(start, &status["completionTime"]) {
                Some(duration) => duration.into(),
                None => since(start, now),
            },
        };
        let template = &spec["template"]["spec"];
        vec![
            name(job),
            job_status(job).into(),
            completions.into(),
            duration,
            age(job, now),
            containers(template, "name"),
            containers(template, "image"),
            selector(&spec["selector"]),
        ]
    },
};

pub(crate) const CRON_JOB: Printer = Printer {
    columns: &[
        NAME,
        text("Schedule"),
        text("Timezone"),
        boolean("Suspend"),
        integer("Active"),
        text("Last Schedule"),
        AGE,
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    cells: |job, now| {
        let (spec, status) = (&job["spec"], &job["status"]);
        let last = match &status["lastScheduleTime"] {
            Value::Null => "<none>".into(),
            time => since(time, now),
        };
        let suspended = if spec["suspend"] == true {
            "True"
        } else {
            "False"
        };
        let template = &spec["jobTemplate"]["spec"];
        vec![
            name(job),
            spec["schedule"].clone(),
            or_none(&spec["timeZone"]),
            suspended.into(),
            status["active"].as_array().map_or(0, Vec::len).into(),
            last,
            age(job, now),
            containers(&template["template"]["spec"], "name"),
            containers(&template["template"]["spec"], "image"),
            selector(&template["selector"]),
        ]
    },
};

fn job_status(job: &Value) -> &'static str {
    let conditions = job["status"]["conditions"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let has = |kind: &str| {
        let mut conditions = conditions.iter();
        conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
    };
    let deleting = !job["metadata"]["deletionTimestamp"].is_null();
    match () {
        () if has("Complete") => "Complete",
        () if has("Failed") => "Failed",
        () if deleting => "Terminating",
        () if has("Suspended") => "Suspended",
        () if has("FailureTarget") => "FailureTarget",
        () if has("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

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
