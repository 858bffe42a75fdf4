//! The kinds of the core group that are no workloads.

use serde_json::Value;

use super::{
    AGE, NAME, Printer, age, count, first_of, labels, name, or_unknown, since, text, wide,
};

pub(crate) const NAMESPACE: Printer = Printer {
    columns: &[NAME, text("Status"), AGE],
    cells: |namespace, now| {
        vec![
            name(namespace),
            or_unknown(&namespace["status"]["phase"]),
            age(namespace, now),
        ]
    },
};

pub(crate) const EVENT: Printer = Printer {
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
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let source = [
            first_of(&[&event["source"]["component"], &event["reportingComponent"]]),
            first_of(&[&event["source"]["host"], &event["reportingInstance"]]),
        ];
        let source = source.map(text).join(", ");
        let mut target = kind;
        if let Some(name) = object["name"].as_str() {
            target = format!("{target}/{name}");
        }
        let series = first_of(&[&event["series"]["count"], &event["count"]]);
        vec![
            since(last, now),
            event["type"].clone(),
            event["reason"].clone(),
            target.into(),
            object["fieldPath"].as_str().unwrap_or_default().into(),
            source.trim_end_matches(", ").into(),
            event["message"].as_str().unwrap_or_default().trim().into(),
            since(first, now),
            count(series).max(1).into(),
            name(event),
        ]
    },
};

pub(crate) const CONFIG_MAP: Printer = Printer {
    columns: &[NAME, text("Data"), AGE],
    cells: |map, now| {
        let entries = size(&map["data"]) + size(&map["binaryData"]);
        vec![name(map), entries.into(), age(map, now)]
    },
};

pub(crate) const SECRET: Printer = Printer {
    columns: &[NAME, text("Type"), text("Data"), AGE],
    cells: |secret, now| {
        vec![
            name(secret),
            secret["type"].clone(),
            size(&secret["data"]).into(),
            age(secret, now),
        ]
    },
};

pub(crate) const SERVICE: Printer = Printer {
    columns: &[
        NAME,
        text("Type"),
        text("Cluster-IP"),
        text("External-IP"),
        text("Port(s)"),
        AGE,
        wide("Selector"),
    ],
    cells: |service, now| {
        let spec = &service["spec"];
        let cluster_ip = spec["clusterIPs"][0].as_str().unwrap_or("<none>");
        vec![
            name(service),
            spec["type"].clone(),
            cluster_ip.into(),
            external_ip(service).into(),
            ports(&spec["ports"]).into(),
            age(service, now),
            labels(&spec["selector"]),
        ]
    },
};

pub(crate) const NODE: Printer = Printer {
    columns: &[
        NAME,
        text("Status"),
        text("Roles"),
        AGE,
        text("Version"),
        wide("Internal-IP"),
        wide("External-IP"),
        wide("OS-Image"),
        wide("Kernel-Version"),
        wide("Container-Runtime"),
    ],
    cells: |node, now| {
        let info = &node["status"]["nodeInfo"];
        let text = |field: &str| info[field].as_str().unwrap_or_default();
        let known = |field: &str| match text(field) {
            "" => "<unknown>".to_owned(),
            known => known.to_owned(),
        };
        let kernel = match text("architecture") {
            "" => known("kernelVersion"),
            architecture => format!("{} ({architecture})", known("kernelVersion")),
        };
        vec![
            name(node),
            node_status(node).into(),
            roles(&node["metadata"]["labels"]).into(),
            age(node, now),
            text("kubeletVersion").into(),
            address(node, "InternalIP").into(),
            address(node, "ExternalIP").into(),
            known("osImage").into(),
            kernel.into(),
            known("containerRuntimeVersion").into(),
        ]
    },
};

fn size(map: &Value) -> usize {
    map.as_object().map_or(0, serde_json::Map::len)
}

fn external_ip(service: &Value) -> String {
    let spec = &service["spec"];
    let texts = |list: &Value, field: Option<&str>| -> Vec<String> {
        let items = list.as_array().into_iter().flatten();
        let texts = items.filter_map(|item| field.map_or(item, |field| &item[field]).as_str());
        texts.map(ToOwned::to_owned).collect()
    };
    let mut addresses = match spec["type"].as_str() {
        Some("ExternalName") => {
            return spec["externalName"].as_str().unwrap_or_default().to_owned();
        }
        Some("LoadBalancer") => texts(&service["status"]["loadBalancer"]["ingress"], Some("ip")),
        _ => Vec::new(),
    };
    addresses.extend(texts(&spec["externalIPs"], None));
    match (addresses.as_slice(), spec["type"].as_str()) {
        ([], Some("LoadBalancer")) => "<pending>".to_owned(),
        ([], _) => "<none>".to_owned(),
        (addresses, _) => addresses.join(","),
    }
}

fn ports(ports: &Value) -> String {
    let ports = ports.as_array().into_iter().flatten().map(|port| {
        let protocol = port["protocol"].as_str().unwrap_or_default();
        match count(&port["nodePort"]) {
            0 => format!("{}/{protocol}", count(&port["port"])),
            node_port => format!("{}:{node_port}/{protocol}", count(&port["port"])),
        }
    });
    none_or(&ports.collect::<Vec<_>>())
}

fn node_status(node: &Value) -> String {
    let mut conditions = node["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    let ready = conditions.find(|condition| condition["type"] == "Ready");
    let status = match ready.map(|ready| ready["status"] == "True") {
        Some(true) => "Ready",
        Some(false) => "NotReady",
        None => "Unknown",
    };
    match node["spec"]["unschedulable"] == true {
        true => format!("{status},SchedulingDisabled"),
        false => status.to_owned(),
    }
}

fn roles(labels: &Value) -> String {
    let labels = labels.as_object().into_iter().flatten();
    let roles = labels.filter_map(|(key, value)| match key.as_str() {
        "kubernetes.io/role" => value.as_str(),
        key => key.strip_prefix("node-role.kubernetes.io/"),
    });
    let roles = roles.filter(|role| !role.is_empty());
    none_or(&roles.map(ToOwned::to_owned).collect::<Vec<_>>())
}

fn address(node: &Value, kind: &str) -> String {
    let mut addresses = node["status"]["addresses"].as_array().into_iter().flatten();
    let found = addresses.find(|address| address["type"] == kind);
    let found = found.and_then(|address| address["address"].as_str());
    found.unwrap_or("<none>").to_owned()
}

fn none_or(texts: &[String]) -> String {
    if texts.is_empty() {
        "<none>".to_owned()
    } else {
        texts.join(",")
    }
}
