//! Who owns which field, in the coarse grain that this server keeps: two levels deep (`spec.replicas`, a key of
//! `data`), and single labels and annotations. The format is the real one (`FieldsV1`).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{WriteOptions, metadata::timestamp};

/// Records that `options.manager` changed what differs between `old` and `new`.
pub(crate) fn record(
    old: &Value,
    new: &mut Value,
    options: &WriteOptions,
    subresource: Option<&str>,
) {
    let changed = changed_fields(old, new);
    if changed.is_empty() {
        return;
    }
    let mut entries = match new["metadata"]["managedFields"].take() {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    };
    let mut own = changed.clone();
    entries.retain_mut(|entry| {
        let is_own = entry["manager"] == options.manager.as_str()
            && entry["operation"] == "Update"
            && entry["apiVersion"] == options.api_version.as_str()
            && entry.get("subresource").and_then(Value::as_str) == subresource;
        let mut fields = read(&entry["fieldsV1"]);
        if is_own {
            own.append(&mut fields);
            return false;
        }
        // Who sets a field to another value takes it from whoever had it.
        fields.retain(|field| !changed.contains(field));
        entry["fieldsV1"] = write(&fields);
        !fields.is_empty()
    });
    // A field that is gone belongs to nobody.
    own.retain(|path| lookup(new, path).is_some());
    if !own.is_empty() {
        let mut entry = json!({"manager": options.manager, "operation": "Update", "time": timestamp(),
            "apiVersion": options.api_version, "fieldsType": "FieldsV1", "fieldsV1": write(&own)});
        if let Some(subresource) = subresource {
            entry["subresource"] = subresource.into();
        }
        entries.push(entry);
    }
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    entries.sort_by_cached_key(|entry| (text(entry, "time"), text(entry, "manager")));
    if !entries.is_empty() {
        new["metadata"]["managedFields"] = entries.into();
    } else if let Some(metadata) = new["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
}

/// Whether a write asks to forget who owns what: by an empty list, or by one empty entry.
pub(crate) fn are_reset(value: &Value) -> bool {
    let entries = value["metadata"]["managedFields"].as_array();
    entries.is_some_and(|entries| match entries.as_slice() {
        [] => true,
        [entry] => entry.as_object().is_some_and(Map::is_empty),
        _ => false,
    })
}

/// Paths of two or three segments, or of one for a field that holds no others.
type Fields = BTreeSet<Vec<String>>;

/// Fields that nobody owns.
const UNOWNED: [&str; 2] = ["apiVersion", "kind"];

/// The parts of metadata that are told apart.
const OF_METADATA: [&str; 2] = ["labels", "annotations"];

fn changed_fields(old: &Value, new: &Value) -> Fields {
    let all = leaves(old).into_iter().chain(leaves(new));
    all.filter(|path| lookup(old, path) != lookup(new, path))
        .collect()
}

/// Every field of an object that has an owner of its own.
fn leaves(value: &Value) -> Fields {
    let mut leaves = Fields::new();
    let below = |path: &[&str], value: &Value, leaves: &mut Fields| {
        for key in value.as_object().into_iter().flat_map(Map::keys) {
            let path = path.iter().copied().chain([key.as_str()]);
            leaves.insert(path.map(ToOwned::to_owned).collect());
        }
    };
    for (name, value) in value.as_object().into_iter().flatten() {
        match name.as_str() {
            name if UNOWNED.contains(&name) => {}
            "metadata" => {
                for part in OF_METADATA {
                    below(&[name, part], &value[part], &mut leaves);
                }
            }
            name if value.is_object() => below(&[name], value, &mut leaves),
            name => {
                leaves.insert(vec![name.to_owned()]);
            }
        }
    }
    leaves
}

fn lookup<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter()
        .try_fold(value, |value, segment| value.get(segment))
}

fn write(fields: &Fields) -> Value {
    let mut root = json!({});
    for path in fields {
        let mut at = &mut root;
        for segment in path {
            at = &mut at[format!("f:{segment}")];
            if at.is_null() {
                *at = json!({});
            }
        }
    }
    root
}

fn read(fields: &Value) -> Fields {
    fn visit(at: &Value, path: &mut Vec<String>, read: &mut Fields) {
        let below = at.as_object().into_iter().flatten();
        let mut below = below.filter_map(|(key, value)| Some((key.strip_prefix("f:")?, value)));
        let mut next = below.next();
        if next.is_none() && !path.is_empty() {
            read.insert(path.clone());
        }
        while let Some((segment, value)) = next {
            path.push(segment.to_owned());
            visit(value, path, read);
            path.pop();
            next = below.next();
        }
    }
    let mut read = Fields::new();
    visit(fields, &mut Vec::new(), &mut read);
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(manager: &str) -> WriteOptions {
        WriteOptions {
            manager: manager.to_owned(),
            api_version: "apps/v1".to_owned(),
            dry_run: false,
        }
    }

    #[test]
    fn a_field_belongs_to_who_changed_it_last() {
        let mut object = json!({"metadata": {"name": "web", "labels": {"a": "1"}}, "spec": {"replicas": 1, "x": 1}});
        record(&json!({}), &mut object, &by("kubectl"), None);
        let before = object.clone();
        object["spec"]["replicas"] = 2.into();
        record(&before, &mut object, &by("minrep"), Some("scale"));

        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0]["manager"], "kubectl");
        assert_eq!(
            entries[0]["fieldsV1"],
            json!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:x": {}}})
        );
        assert_eq!(entries[1]["manager"], "minrep");
        assert_eq!(entries[1]["subresource"], "scale");
        assert_eq!(
            entries[1]["fieldsV1"],
            json!({"f:spec": {"f:replicas": {}}})
        );
    }

    #[test]
    fn an_entry_without_fields_is_dropped() {
        let mut object = json!({"metadata": {}, "spec": {"replicas": 1}});
        record(&json!({}), &mut object, &by("kubectl"), None);
        let before = object.clone();
        object["spec"] = json!({});
        record(&before, &mut object, &by("minrep"), None);
        assert_eq!(object["metadata"].get("managedFields"), None);
    }

    #[test]
    fn every_top_level_field_has_an_owner() {
        let mut object = json!({"kind": "Secret", "metadata": {"name": "a"}, "type": "Opaque", "data": {"a": "MQ=="},
            "list": [1]});
        record(&json!({}), &mut object, &by("kubectl"), None);
        assert_eq!(
            object["metadata"]["managedFields"][0]["fieldsV1"],
            json!({"f:type": {}, "f:data": {"f:a": {}}, "f:list": {}})
        );
        let before = object.clone();
        object["data"]["b"] = "Mg==".into();
        record(&before, &mut object, &by("minrep"), None);
        assert_eq!(
            object["metadata"]["managedFields"][1]["fieldsV1"],
            json!({"f:data": {"f:b": {}}})
        );
    }

    #[test]
    fn owners_are_forgotten_on_request() {
        for (given, reset) in [
            (json!([]), true),
            (json!([{}]), true),
            (json!([{"manager": "a"}]), false),
            (json!([{}, {}]), false),
            (json!(null), false),
        ] {
            let object = json!({"metadata": {"managedFields": given}});
            assert_eq!(are_reset(&object), reset, "{given}");
        }
    }
}
