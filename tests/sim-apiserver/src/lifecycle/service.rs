//! The addresses and node ports of Services, which no two may share.

use std::{collections::BTreeSet, net::Ipv4Addr};

use serde_json::{Value, json};

use crate::{kinds::KindId, status::FieldError, store::State};

/// 10.96.0.0/16, and how many addresses it has.
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 0);
const ADDRESSES: u32 = 1 << 16;

const FIRST_NODE_PORT: i64 = 30_000;
const NODE_PORTS: i64 = 2_768;

/// Gives a Service what it asks for, or what is free.
pub(super) fn allocate(state: &State, id: KindId, service: &mut Value) -> Option<FieldError> {
    let kind = service["spec"]["type"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if kind == "ExternalName" {
        return None;
    }
    let taken = Taken::by_others(state, id, service);
    if let Err(error) = allocate_address(&taken, service) {
        return Some(error);
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer") {
        return allocate_node_ports(&taken, service).err();
    }
    None
}

/// A write that leaves out what was allocated means to keep it.
pub(super) fn keep_allocated(old: &Value, new: &mut Value) {
    let kind = |service: &Value| {
        service["spec"]["type"]
            .as_str()
            .unwrap_or("ClusterIP")
            .to_owned()
    };
    if kind(new) == "ExternalName" || kind(old) == "ExternalName" {
        return;
    }
    for field in ["clusterIP", "clusterIPs"] {
        if new["spec"].get(field).is_none() && !old["spec"][field].is_null() {
            new["spec"][field] = old["spec"][field].clone();
        }
    }
    if kind(new) == "ClusterIP" {
        return;
    }
    let before = old["spec"]["ports"].as_array().cloned().unwrap_or_default();
    let ports = new["spec"].get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        let same = |other: &&Value| {
            let field = |port: &Value, name: &str| port[name].clone();
            field(other, "port") == field(port, "port")
                && field(other, "name") == field(port, "name")
        };
        if let Some(before) = before
            .iter()
            .find(same)
            .filter(|_| port["nodePort"].is_null())
        {
            port["nodePort"] = before["nodePort"].clone();
        }
    }
}

fn allocate_address(taken: &Taken, service: &mut Value) -> Result<(), FieldError> {
    let wanted = service["spec"]["clusterIP"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let address = match wanted.as_str() {
        "" => {
            let start = seed(service);
            let free = (0..ADDRESSES)
                .map(|step| address(start.wrapping_add(step)))
                .find(|address| !taken.addresses.contains(address));
            free.unwrap_or(wanted)
        }
        "None" => wanted,
        _ => {
            let refuse = |why: String| {
                let shown = format!("[{wanted:?}]");
                let why = format!("failed to allocate IP {wanted}: {why}");
                Err(FieldError::invalid("spec.clusterIPs", shown, why))
            };
            let number = wanted.parse::<Ipv4Addr>().map_or(0, u32::from);
            if number >> 16 != u32::from(NETWORK) >> 16 {
                return refuse(format!(
                    "the provided IP ({wanted}) is not in the valid range. The range of valid IPs is {NETWORK}/16"
                ));
            }
            if taken.addresses.contains(&wanted) {
                return refuse("provided IP is already allocated".to_owned());
            }
            wanted
        }
    };
    service["spec"]["clusterIPs"] = json!([address]);
    service["spec"]["clusterIP"] = address.into();
    Ok(())
}

fn allocate_node_ports(taken: &Taken, service: &mut Value) -> Result<(), FieldError> {
    let start = i64::from(seed(service));
    let mut own = BTreeSet::new();
    let ports = service["spec"]
        .get_mut("ports")
        .and_then(Value::as_array_mut);
    for (index, port) in ports.into_iter().flatten().enumerate() {
        let number = match port["nodePort"].as_i64().unwrap_or(0) {
            0 => (0..NODE_PORTS)
                .map(|step| FIRST_NODE_PORT + (start + step) % NODE_PORTS)
                .find(|number| !taken.node_ports.contains(number) && !own.contains(number))
                .unwrap_or(0),
            wanted => {
                let refuse = |why: &str| {
                    let field = format!("spec.ports[{index}].nodePort");
                    Err(FieldError::invalid(field, wanted, why))
                };
                if !(FIRST_NODE_PORT..FIRST_NODE_PORT + NODE_PORTS).contains(&wanted) {
                    return refuse(
                        "provided port is not in the valid range. The range of valid ports is 30000-32767",
                    );
                }
                if taken.node_ports.contains(&wanted) {
                    return refuse("provided port is already allocated");
                }
                wanted
            }
        };
        own.insert(number);
        port["nodePort"] = number.into();
    }
    Ok(())
}

/// Where the search begins: nobody is to rely on the first being the next.
fn seed(service: &Value) -> u32 {
    let uid = service["metadata"]["uid"].as_str().unwrap_or_default();
    u32::from_str_radix(uid.get(..8).unwrap_or_default(), 16).unwrap_or(0)
}

/// The address at a place of the range; the first and the last ones are left to who asks for them.
fn address(place: u32) -> String {
    const LEFT_OUT: u32 = 256;
    let offset = LEFT_OUT + place % (ADDRESSES - 2 * LEFT_OUT);
    Ipv4Addr::from(u32::from(NETWORK) + offset).to_string()
}

#[derive(Default)]
struct Taken {
    addresses: BTreeSet<String>,
    node_ports: BTreeSet<i64>,
}

// === impl Taken ===

impl Taken {
    fn by_others(state: &State, id: KindId, service: &Value) -> Self {
        let mut taken = Self::default();
        let uid = service["metadata"]["uid"].as_str().unwrap_or_default();
        let others = state.table(id).range(None, None);
        for other in others.filter(|other| *other.uid != *uid) {
            let other = other.value();
            let spec = &other["spec"];
            taken
                .addresses
                .extend(spec["clusterIP"].as_str().map(ToOwned::to_owned));
            let ports = spec["ports"].as_array().into_iter().flatten();
            taken
                .node_ports
                .extend(ports.filter_map(|port| port["nodePort"].as_i64()));
        }
        taken
    }
}
