//! Services.

use std::{collections::BTreeSet, net::IpAddr};

use serde_json::Value;

use super::{LABEL, is_label};
use crate::status::FieldError;

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const PORT_RANGE: &str = "must be between 1 and 65535, inclusive";

pub(in super::super) fn service(service: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &service["spec"];
    let kind = spec["type"].as_str().unwrap_or_default();
    let cluster_ip = spec["clusterIP"].as_str().unwrap_or_default();
    if !matches!(cluster_ip, "" | "None") && cluster_ip.parse::<IpAddr>().is_err() {
        let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        errors.push(FieldError::invalid(
            "spec.clusterIPs[0]",
            format!("{cluster_ip:?}"),
            why,
        ));
        return errors;
    }
    let ports = spec["ports"].as_array().map_or(&[][..], Vec::as_slice);
    if ports.is_empty() && kind != "ExternalName" && cluster_ip != "None" {
        errors.push(FieldError::required("spec.ports", ""));
    }
    check_ports(&mut errors, ports);
    if !TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(
            "spec.type",
            format!("{kind:?}"),
            &TYPES,
        ));
    }
    if kind == "ExternalName" && spec["externalName"].as_str().is_none_or(str::is_empty) {
        errors.push(FieldError::required("spec.externalName", ""));
    }
    let before = old
        .and_then(|old| old["spec"]["clusterIP"].as_str())
        .unwrap_or_default();
    let keeps =
        old.is_some_and(|old| old["spec"]["type"] != "ExternalName") && kind != "ExternalName";
    if keeps && !before.is_empty() && before != cluster_ip {
        let shown = format!("[{cluster_ip:?}]");
        errors.push(FieldError::invalid(
            "spec.clusterIPs[0]",
            shown,
            "may not change once set",
        ));
    }
    errors
}

fn check_ports(errors: &mut Vec<FieldError>, ports: &[Value]) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = |field: &str| format!("spec.ports[{index}].{field}");
        let name = port["name"].as_str().unwrap_or_default();
        if name.is_empty() && ports.len() > 1 {
            errors.push(FieldError::required(at("name"), ""));
        } else if !name.is_empty() && !is_label(name) {
            errors.push(FieldError::invalid(at("name"), format!("{name:?}"), LABEL));
        } else if !name.is_empty() && !names.insert(name) {
            errors.push(FieldError::duplicate(at("name"), format!("{name:?}")));
        }
        for field in ["port", "targetPort"] {
            let number = match &port[field] {
                Value::String(_) => continue,
                number => number.as_i64().unwrap_or(0),
            };
            if !(1..=65_535).contains(&number) {
                errors.push(FieldError::invalid(at(field), number, PORT_RANGE));
            }
        }
        let protocol = port["protocol"].as_str().unwrap_or_default();
        if !PROTOCOLS.contains(&protocol) {
            let shown = format!("{protocol:?}");
            errors.push(FieldError::not_supported(at("protocol"), shown, &PROTOCOLS));
        }
    }
}
