//! What a Pod and a Pod template have in common, and the claims of a StatefulSet.

use serde_json::{Value, json};

use super::set;

pub(super) fn pod_spec(spec: &mut Value) {
    set(spec, "restartPolicy", json!("Always"));
    set(spec, "terminationGracePeriodSeconds", json!(30));
    set(spec, "dnsPolicy", json!("ClusterFirst"));
    set(spec, "securityContext", json!({}));
    set(spec, "schedulerName", json!("default-scheduler"));
    let account = spec["serviceAccountName"].clone();
    if !account.is_null() {
        set(spec, "serviceAccount", account);
    }
    let volumes = spec.get_mut("volumes").and_then(Value::as_array_mut);
    for volume in volumes.into_iter().flatten() {
        for source in ["configMap", "secret", "projected", "downwardAPI"] {
            if let Some(source) = volume.get_mut(source) {
                // As chmod writes it: 0644.
                set(source, "defaultMode", json!(0o644));
            }
        }
    }
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let latest = container["image"].as_str().is_some_and(is_latest);
            set(
                container,
                "imagePullPolicy",
                json!(if latest { "Always" } else { "IfNotPresent" }),
            );
            set(
                container,
                "terminationMessagePath",
                json!("/dev/termination-log"),
            );
            set(container, "terminationMessagePolicy", json!("File"));
            set(container, "resources", json!({}));
            for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
                if let Some(found) = container.get_mut(name) {
                    probe(found);
                }
            }
            let env = container.get_mut("env").and_then(Value::as_array_mut);
            for variable in env.into_iter().flatten() {
                if let Some(field) = variable.pointer_mut("/valueFrom/fieldRef") {
                    set(field, "apiVersion", json!("v1"));
                }
            }
            let ports = container.get_mut("ports").and_then(Value::as_array_mut);
            for port in ports.into_iter().flatten() {
                set(port, "protocol", json!("TCP"));
            }
        }
    }
}

/// By what the kubelet decides whom to end first.
pub(super) fn quality_of_service(spec: &Value) -> &'static str {
    let lists = ["initContainers", "containers"];
    let all = lists.iter().filter_map(|list| spec[*list].as_array());
    let of = |container: &Value, kind: &str, resource: &str| {
        container["resources"][kind][resource].clone()
    };
    let (mut any, mut guaranteed) = (false, true);
    for container in all.flatten() {
        for resource in ["cpu", "memory"] {
            let (request, limit) = (
                of(container, "requests", resource),
                of(container, "limits", resource),
            );
            any |= !request.is_null() || !limit.is_null();
            guaranteed &= !limit.is_null() && (request.is_null() || request == limit);
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

pub(super) fn claim(claim: &mut Value) {
    set(claim, "apiVersion", json!("v1"));
    set(claim, "kind", json!("PersistentVolumeClaim"));
    set(&mut claim["spec"], "volumeMode", json!("Filesystem"));
    set(&mut claim["status"], "phase", json!("Pending"));
}

fn probe(probe: &mut Value) {
    for (field, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        set(probe, field, json!(value));
    }
    if let Some(request) = probe.get_mut("httpGet") {
        set(request, "path", json!("/"));
        set(request, "scheme", json!("HTTP"));
    }
}

fn is_latest(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or(image);
    if name.contains('@') {
        return false;
    }
    name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}
