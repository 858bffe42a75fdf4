//! Who owns which field, in the coarse grain that this server keeps: the top-level fields of spec and status,
//! and single labels and annotations. The format is the real one (`FieldsV1`).

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
    own.retain(|(part, field)| lookup(new, part, field).is_some());
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

type Fields = BTreeSet<(String, String)>;

/// The parts of an object whose fields are told apart, as paths.
const PARTS: [&str; 4] = ["metadata/labels", "metadata/annotations", "spec", "status"];

fn changed_fields(old: &Value, new: &Value) -> Fields {
    let mut changed = Fields::new();
    for part in PARTS {
        let pointer = format!("/{part}");
        let (old, new) = (old.pointer(&pointer), new.pointer(&pointer));
        let keys = |value: Option<&Value>| -> BTreeSet<String> {
            value
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|map| map.keys().cloned())
                .collect()
        };
        for field in keys(old).union(&keys(new)) {
            let value = |value: Option<&Value>| value.and_then(|value| value.get(field)).cloned();
            if value(old) != value(new) {
                changed.insert((part.to_owned(), field.clone()));
            }
        }
    }
    changed
}

fn lookup<'a>(value: &'a Value, part: &str, field: &str) -> Option<&'a Value> {
    value.pointer(&format!("/{part}"))?.get(field)
}

fn write(fields: &Fields) -> Value {
    let mut root = json!({});
    for (part, field) in fields {
        let mut at = &mut root;
        for segment in part.split('/').chain([field.as_str()]) {
            at = &mut at[format!("f:{segment}")];
            if at.is_null() {
                *at = json!({});
            }
        }
    }
    root
}

fn read(fields: &Value) -> Fields {
    let mut read = Fields::new();
    for part in PARTS {
        let pointer: String = part
            .split('/')
            .map(|segment| format!("/f:{segment}"))
            .collect();
        let names = fields
            .pointer(&pointer)
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys);
        read.extend(
            names.filter_map(|name| Some((part.to_owned(), name.strip_prefix("f:")?.to_owned()))),
        );
    }
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
}
