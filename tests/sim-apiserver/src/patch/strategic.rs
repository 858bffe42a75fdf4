//! Strategic merge patch, for the lists of the kinds that are built in.
//!
//! Lists of objects are merged by a key field (containers by `name`, ports by `containerPort`, …), a few lists
//! of plain values are merged as sets, every other list is replaced. The directives `$patch`, `$retainKeys`,
//! `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are understood.

use serde_json::{Map, Value};

/// The merge key of a list, by the name of its field. Where a field name stands for two lists with different
/// keys, the entries themselves decide: the first key that the patch's entries have.
const MERGE_KEYS: &[(&str, &[&str])] = &[
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("volumes", &["name"]),
    ("env", &["name"]),
    ("imagePullSecrets", &["name"]),
    ("resourceClaims", &["name"]),
    ("schedulingGates", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("volumeDevices", &["devicePath"]),
    ("ports", &["containerPort", "port"]),
    ("hostAliases", &["ip"]),
    ("topologySpreadConstraints", &["topologyKey"]),
    ("ownerReferences", &["uid"]),
    ("conditions", &["type"]),
    ("podIPs", &["ip"]),
];

/// Lists of plain values that are merged as sets.
const SETS: [&str; 1] = ["finalizers"];

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ELEMENT_ORDER: &str = "$setElementOrder/";
const DELETE_PRIMITIVES: &str = "$deleteFromPrimitiveList/";

/// Merges a patch into a value; the error is a sentence for the client.
pub(super) fn merge(value: &mut Value, patch: &Value) -> Result<(), String> {
    let (Some(fields), Some(patch)) = (as_object(value), patch.as_object()) else {
        return Err("invalid JSON document".to_owned());
    };
    match patch.get(PATCH).and_then(Value::as_str) {
        None | Some("merge") => {}
        Some("replace") => {
            *fields = patch.clone();
            fields.remove(PATCH);
            return Ok(());
        }
        Some("delete") => {
            fields.clear();
            return Ok(());
        }
        Some(other) => return Err(format!("unknown patch type found: {other}")),
    }
    if let Some(Value::Array(keys)) = patch.get(RETAIN_KEYS) {
        fields.retain(|field, _| keys.iter().any(|key| key == field));
    }
    let orders: Vec<(&str, &Vec<Value>, Vec<Value>)> = patch
        .iter()
        .filter_map(|(field, order)| {
            let list = field.strip_prefix(ELEMENT_ORDER)?;
            let before = fields
                .get(list)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            Some((list, order.as_array()?, before))
        })
        .collect();
    for (field, change) in patch {
        if field == PATCH || field == RETAIN_KEYS || field.starts_with(ELEMENT_ORDER) {
            continue;
        }
        if let Some(list) = field.strip_prefix(DELETE_PRIMITIVES) {
            if let (Some(Value::Array(present)), Value::Array(gone)) =
                (fields.get_mut(list), change)
            {
                present.retain(|value| !gone.contains(value));
            }
            continue;
        }
        match change {
            Value::Null => {
                fields.remove(field);
            }
            Value::Object(_) => merge(fields.entry(field.clone()).or_insert(Value::Null), change)?,
            Value::Array(changes) => {
                let present = fields
                    .entry(field.clone())
                    .or_insert_with(|| Value::Array(Vec::new()));
                merge_list(field, present, changes)?;
            }
            other => {
                fields.insert(field.clone(), other.clone());
            }
        }
    }
    for (field, order, before) in orders {
        if let Some(Value::Array(present)) = fields.get_mut(field) {
            put_in_order(present, &before, order, merge_key(field, order));
        }
    }
    Ok(())
}

fn merge_list(field: &str, present: &mut Value, changes: &[Value]) -> Result<(), String> {
    let replaces = |change: &Value| {
        change[PATCH] == "replace" && change.as_object().is_some_and(|c| c.len() == 1)
    };
    let key = merge_key(field, changes);
    if changes.iter().any(replaces) {
        *present = changes
            .iter()
            .filter(|change| !replaces(change))
            .cloned()
            .collect();
        return Ok(());
    }
    let Some(list) = present.as_array_mut() else {
        *present = Value::Array(changes.to_vec());
        return Ok(());
    };
    let Some(key) = key else {
        if SETS.contains(&field) {
            let new = changes
                .iter()
                .filter(|change| !list.contains(change))
                .cloned()
                .collect::<Vec<_>>();
            list.extend(new);
        } else {
            *list = changes.to_vec();
        }
        return Ok(());
    };
    let before = list.clone();
    for change in changes {
        let id = &change[key];
        if id.is_null() {
            return Err(format!(
                "map: {} does not contain declared merge key: {key}",
                go_map(change)
            ));
        }
        let at = list.iter().position(|entry| entry[key] == *id);
        match (at, change[PATCH].as_str()) {
            (Some(at), Some("delete")) => {
                list.remove(at);
            }
            (None, Some("delete")) => {}
            (Some(at), _) => merge(&mut list[at], change)?,
            (None, _) => {
                let mut entry = Value::Object(Map::new());
                merge(&mut entry, change)?;
                list.push(entry);
            }
        }
    }
    put_in_order(list, &before, changes, Some(key));
    Ok(())
}

/// The order that apimachinery gives: what the patch names comes in the patch's order, before what only the
/// server has, unless both stood there already in another order.
fn put_in_order(list: &mut Vec<Value>, before: &[Value], order: &[Value], key: Option<&str>) {
    let place = |entry: &Value, list: &[Value]| {
        list.iter().position(|other| match key {
            Some(key) => other[key] == entry[key],
            None => other == entry,
        })
    };
    let (mut named, rest): (Vec<Value>, Vec<Value>) = list
        .drain(..)
        .partition(|entry| place(entry, order).is_some());
    named.sort_by_key(|entry| place(entry, order));
    let (mut named, mut rest) = (named.into_iter().peekable(), rest.into_iter().peekable());
    while let (Some(left), Some(right)) = (rest.peek(), named.peek()) {
        let first = match (place(left, before), place(right, before)) {
            (Some(left), Some(right)) if left < right => rest.next(),
            _ => named.next(),
        };
        list.extend(first);
    }
    list.extend(rest);
    list.extend(named);
}

/// A flat map as Go prints it.
fn go_map(value: &Value) -> String {
    let fields = value.as_object().into_iter().flatten();
    let shown: Vec<String> = fields
        .map(|(field, value)| match value {
            Value::String(text) => format!("{field}:{text}"),
            other => format!("{field}:{other}"),
        })
        .collect();
    format!("map[{}]", shown.join(" "))
}

fn merge_key(field: &str, entries: &[Value]) -> Option<&'static str> {
    let (_, keys) = MERGE_KEYS.iter().find(|(name, _)| *name == field)?;
    let first = entries.iter().find(|entry| entry.is_object())?;
    keys.iter()
        .copied()
        .find(|key| !first[*key].is_null())
        .or_else(|| keys.first().copied())
}

fn as_object(value: &mut Value) -> Option<&mut Map<String, Value>> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(mut value: Value, patch: &Value) -> Value {
        merge(&mut value, patch).unwrap();
        value
    }

    #[test]
    fn containers_are_merged_by_name() {
        let value = json!({"containers": [{"name": "a", "image": "a:1", "ports": [{"containerPort": 80}]},
            {"name": "b", "image": "b:1"}]});
        let patch = json!({"containers": [{"name": "a", "image": "a:2", "ports": [{"containerPort": 90}]},
            {"name": "c", "image": "c:1"}, {"name": "b", "$patch": "delete"}]});
        assert_eq!(
            merged(value, &patch),
            json!({"containers": [
                {"name": "a", "image": "a:2", "ports": [{"containerPort": 90}, {"containerPort": 80}]},
                {"name": "c", "image": "c:1"}]})
        );
    }

    #[test]
    fn element_order_is_kept() {
        let value = json!({"containers": [{"name": "a"}, {"name": "b"}]});
        let patch = json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
            "containers": [{"name": "a", "image": "x"}]});
        assert_eq!(
            merged(value, &patch),
            json!({"containers": [{"name": "b"}, {"name": "a", "image": "x"}]})
        );
    }

    #[test]
    fn plain_lists_are_replaced_and_sets_are_joined() {
        let value = json!({"args": ["a"], "finalizers": ["x", "y"], "gone": 1});
        let patch = json!({"args": ["b"], "finalizers": ["z"], "$deleteFromPrimitiveList/finalizers": ["x"],
            "gone": null});
        let merged = merged(value, &patch);
        assert_eq!(merged["args"], json!(["b"]));
        assert_eq!(merged["finalizers"], json!(["y", "z"]));
        assert_eq!(merged.get("gone"), None);
    }

    #[test]
    fn directives_replace_delete_and_retain() {
        let value = json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}, "a": {"b": 1}});
        let patch = json!({"strategy": {"$retainKeys": ["type"], "type": "Recreate"},
            "a": {"$patch": "replace", "c": 2}});
        assert_eq!(
            merged(value, &patch),
            json!({"strategy": {"type": "Recreate"}, "a": {"c": 2}})
        );
    }

    #[test]
    fn an_entry_without_its_key_is_refused() {
        let mut value = json!({"containers": [{"name": "a"}]});
        let refusal = merge(&mut value, &json!({"containers": [{"image": "x"}]})).unwrap_err();
        assert_eq!(
            refusal,
            "map: map[image:x] does not contain declared merge key: name"
        );
    }
}
