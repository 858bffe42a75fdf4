//! Strategic merge patch.
//!
//! Lists of objects are merged by a key (containers by `name`, ports by `containerPort`, …), a few lists of
//! plain values are merged as sets, every other list is replaced: the type of a field says which. The
//! directives `$patch`, `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are understood.

use serde_json::{Map, Value};

use super::go_text;
use crate::openapi::{Field, Shape, TypeName};

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ELEMENT_ORDER: &str = "$setElementOrder/";
const DELETE_PRIMITIVES: &str = "$deleteFromPrimitiveList/";

/// Merges a patch into a value of a type; the error is a sentence for the client.
///
/// What the type does not know is replaced; what becomes of it is somebody else's affair.
pub(super) fn merge(
    value: &mut Value,
    patch: &Value,
    kind: Option<TypeName>,
) -> Result<(), String> {
    let Some(patch) = patch.as_object() else {
        return Err("invalid JSON document".to_owned());
    };
    if !value.is_object() {
        *value = Map::new().into();
    }
    let Some(fields) = value.as_object_mut() else {
        return Ok(());
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
        Some(other) => {
            let shown = go_text(&Value::Object(patch.clone()));
            return Err(format!("unknown patch type: {other} in map: {shown}"));
        }
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
            Value::Object(_) => {
                if kind
                    .and_then(|kind| known(kind, field))
                    .is_some_and(Field::is_replaced)
                {
                    fields.remove(field);
                }
                let present = fields.entry(field.clone()).or_insert(Value::Null);
                merge(present, change, kind.and_then(|kind| member(kind, field)))?;
            }
            Value::Array(changes) => match fields.get_mut(field) {
                Some(Value::Array(present)) => {
                    merge_list(kind.and_then(|kind| known(kind, field)), present, changes)?;
                }
                _ => {
                    let changes = changes.iter().filter(|change| change[PATCH].is_null());
                    fields.insert(field.clone(), changes.cloned().collect());
                }
            },
            other => {
                fields.insert(field.clone(), other.clone());
            }
        }
    }
    for (field, order, before) in orders {
        if let Some(Value::Array(present)) = fields.get_mut(field) {
            let key = kind.and_then(|kind| known(kind, field)?.merge_key());
            put_in_order(present, &before, order, key);
        }
    }
    Ok(())
}

/// Changes a list that is there, as its field says.
fn merge_list(
    field: Option<&'static Field>,
    list: &mut Vec<Value>,
    changes: &[Value],
) -> Result<(), String> {
    let replaces = |change: &Value| {
        change[PATCH] == "replace" && change.as_object().is_some_and(|c| c.len() == 1)
    };
    if changes.iter().any(replaces) {
        let changes = changes.iter().filter(|change| !replaces(change));
        *list = changes.cloned().collect();
        return Ok(());
    }
    let Some(field) = field.filter(|field| field.is_merged()) else {
        *list = changes.to_vec();
        return Ok(());
    };
    let Some(key) = field.merge_key() else {
        let new = changes.iter().filter(|change| !list.contains(change));
        let new: Vec<Value> = new.cloned().collect();
        list.extend(new);
        return Ok(());
    };
    let kind = match field.kind.shape() {
        Shape::List(item) => Some(item),
        _ => None,
    };
    if let Some(other) = changes.iter().find(|change| !change.is_object()) {
        let (list, other) = (
            Value::Array(list.clone()),
            Value::Array(vec![other.clone()]),
        );
        return Err(format!(
            "list element types are not identical: [{} {}]",
            go_text(&list),
            go_text(&other)
        ));
    }
    let before = list.clone();
    for change in changes {
        let id = &change[key];
        if id.is_null() {
            return Err(format!(
                "map: {} does not contain declared merge key: {key}",
                go_text(change)
            ));
        }
        let at = list.iter().position(|entry| entry[key] == *id);
        match (at, change[PATCH].as_str()) {
            (Some(at), Some("delete")) => {
                list.remove(at);
            }
            (None, Some("delete")) => {}
            (Some(at), _) => merge(&mut list[at], change, kind)?,
            (None, _) => {
                let mut entry = Value::Object(Map::new());
                merge(&mut entry, change, kind)?;
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

fn known(kind: TypeName, name: &str) -> Option<&'static Field> {
    kind.fields()?.iter().find(|field| field.name == name)
}

/// The type of an object's field, or of a map's value.
fn member(kind: TypeName, name: &str) -> Option<TypeName> {
    match kind.shape() {
        Shape::Map(value) => Some(value),
        _ => known(kind, name).map(|field| field.kind),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::openapi::type_of;

    fn kind(name: &str) -> Option<TypeName> {
        let package = if name == "ObjectMeta" { "meta" } else { "" };
        let found = type_of(package, "v1", name);
        assert!(found.is_some(), "{name}");
        found
    }

    fn merged(name: &str, mut value: Value, patch: &Value) -> Value {
        merge(&mut value, patch, kind(name)).unwrap();
        value
    }

    #[test]
    fn containers_are_merged_by_name() {
        let value = json!({"containers": [{"name": "a", "image": "a:1", "ports": [{"containerPort": 80}]},
            {"name": "b", "image": "b:1"}]});
        let patch = json!({"containers": [{"name": "a", "image": "a:2", "ports": [{"containerPort": 90}]},
            {"name": "c", "image": "c:1"}, {"name": "b", "$patch": "delete"}]});
        assert_eq!(
            merged("PodSpec", value, &patch),
            json!({"containers": [
                {"name": "a", "image": "a:2", "ports": [{"containerPort": 90}, {"containerPort": 80}]},
                {"name": "c", "image": "c:1"}]})
        );
    }

    /// The same name is not always the same list.
    #[test]
    fn the_type_says_how_a_list_is_merged() {
        for (name, value, patch, expected) in [
            (
                "ServiceAccount",
                json!({"secrets": [{"name": "a"}]}),
                json!({"secrets": [{"name": "b"}]}),
                json!({"secrets": [{"name": "b"}, {"name": "a"}]}),
            ),
            (
                "ServiceSpec",
                json!({"ports": [{"port": 80, "name": "a"}, {"port": 90, "name": "b"}]}),
                json!({"ports": [{"port": 90, "name": "c"}]}),
                json!({"ports": [{"port": 80, "name": "a"}, {"port": 90, "name": "c"}]}),
            ),
            (
                "NodeSpec",
                json!({"podCIDRs": ["a"], "taints": [{"key": "a"}]}),
                json!({"podCIDRs": ["b"], "taints": [{"key": "b"}]}),
                json!({"podCIDRs": ["a", "b"], "taints": [{"key": "b"}]}),
            ),
            // Atomic, although its items have names.
            (
                "PodSpec",
                json!({"tolerations": [{"key": "a"}], "nodeSelector": {"a": "1"}}),
                json!({"tolerations": [{"key": "b"}], "nodeSelector": {"b": "2"}}),
                json!({"tolerations": [{"key": "b"}], "nodeSelector": {"a": "1", "b": "2"}}),
            ),
            // A list that is not there is taken as it is, keys or none.
            (
                "ObjectMeta",
                json!({}),
                json!({"ownerReferences": [{"kind": "x"}, {"$patch": "delete", "uid": "y"}]}),
                json!({"ownerReferences": [{"kind": "x"}]}),
            ),
        ] {
            assert_eq!(merged(name, value, &patch), expected, "{name}");
        }
    }

    #[test]
    fn a_selector_that_is_one_value_is_replaced() {
        let budget = type_of("policy", "v1", "PodDisruptionBudgetSpec");
        let mut value = json!({"selector": {"matchLabels": {"a": "1"}}});
        let patch = json!({"selector": {"matchLabels": {"b": "2"}}});
        merge(&mut value, &patch, budget).unwrap();
        assert_eq!(value, patch);
    }

    #[test]
    fn element_order_is_kept() {
        let value = json!({"containers": [{"name": "a"}, {"name": "b"}]});
        let patch = json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
            "containers": [{"name": "a", "image": "x"}]});
        assert_eq!(
            merged("PodSpec", value, &patch),
            json!({"containers": [{"name": "b"}, {"name": "a", "image": "x"}]})
        );
    }

    #[test]
    fn plain_lists_are_replaced_and_sets_are_joined() {
        let patch = json!({"args": ["b"], "image": null});
        let container = merged("Container", json!({"args": ["a"], "image": "i"}), &patch);
        assert_eq!(container, json!({"args": ["b"]}));
        let patch = json!({"finalizers": ["z"], "$deleteFromPrimitiveList/finalizers": ["x"]});
        let metadata = merged("ObjectMeta", json!({"finalizers": ["x", "y"]}), &patch);
        assert_eq!(metadata["finalizers"], json!(["y", "z"]));
    }

    #[test]
    fn directives_replace_delete_and_retain() {
        let deployment = type_of("apps", "v1", "DeploymentSpec");
        let mut value = json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "selector": {"matchLabels": {"b": "1"}}});
        let patch = json!({"strategy": {"$retainKeys": ["type"], "type": "Recreate"},
            "selector": {"$patch": "replace", "matchLabels": {"c": "2"}}});
        merge(&mut value, &patch, deployment).unwrap();
        assert_eq!(
            value,
            json!({"strategy": {"type": "Recreate"}, "selector": {"matchLabels": {"c": "2"}}})
        );
    }

    #[test]
    fn a_list_that_cannot_be_merged_is_refused() {
        let refusal = |changes: Value| {
            let mut value = json!({"containers": [{"name": "a"}]});
            merge(&mut value, &json!({"containers": changes}), kind("PodSpec")).unwrap_err()
        };
        insta::assert_snapshot!(refusal(json!([{"image": "x"}])), @"map: map[image:x] does not contain declared merge key: name");
        insta::assert_snapshot!(refusal(json!(["x"])), @"list element types are not identical: [[map[name:a]] [x]]");
        insta::assert_snapshot!(refusal(json!([{"name": "a", "$patch": "explode"}])), @"unknown patch type: explode in map: map[$patch:explode name:a]");
    }
}
