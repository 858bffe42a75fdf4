//! Services.

use serde_json::{Value, json};

use super::set;

pub(in super::super) fn service(service: &mut Value) {
    set(&mut service["status"], "loadBalancer", json!({}));
    let spec = &mut service["spec"];
    set(spec, "type", json!("ClusterIP"));
    set(spec, "sessionAffinity", json!("None"));
    if spec["sessionAffinity"] == "ClientIP" {
        let config = &mut spec["sessionAffinityConfig"]["clientIP"];
        set(config, "timeoutSeconds", json!(10_800));
    }
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        set(port, "protocol", json!("TCP"));
        let number = port["port"].clone();
        let target = &port["targetPort"];
        if target == &json!(0) || target == "" {
            port["targetPort"] = Value::Null;
        }
        set(port, "targetPort", number);
    }
    let kind = spec["type"].as_str().unwrap_or_default().to_owned();
    if kind == "ExternalName" {
        return;
    }
    set(spec, "internalTrafficPolicy", json!("Cluster"));
    set(spec, "ipFamilies", json!(["IPv4"]));
    set(spec, "ipFamilyPolicy", json!("SingleStack"));
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") {
        set(spec, "externalTrafficPolicy", json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        set(spec, "allocateLoadBalancerNodePorts", json!(true));
    }
}
