//! Who owns which field: every field of an object in an object, but a list as a whole, and of metadata what
//! people and controllers write. The format is the real one (`FieldsV1`).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{WriteOptions, metadata::timestamp};
use crate::kinds::Kind;

/// Records that `options.manager` changed what differs between `old` and `new`. What begins with one of `unowned`
/// is not the client's: the server fills it in. Fields have the names of the version in which they were written.
pub(crate) fn record(
    kind: &Kind,
    old: &Value,
    new: &mut Value,
    options: &WriteOptions,
    subresource: Option<&str>,
    unowned: &[&str],
) {
    let written = |value: &Value| {
        let mut value = value.clone();
        if let Some(also) = kind.in_version(&options.api_version) {
            (also.from_stored)(&mut value);
        }
        value
    };
    let (old, shown) = (written(old), written(new));
    let mut changed = changed_fields(&old, &shown);
    changed.retain(|path| {
        let path = path.join(".");
        let below = |start: &&str| {
            let rest = path.strip_prefix(start);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        !unowned.iter().any(below)
    });
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
    own.retain(|path| lookup(&shown, path).is_some());
    if !own.is_empty() {
        let mut entry = json!({"manager": options.manager, "operation": "Update", "time": timestamp(),
            "apiVersion": options.api_version, "fieldsType": "FieldsV1", "fieldsV1": write(&own)});
        if let Some(subresource) = subresource {
            entry["subresource"] = subresource.into();
        }
        // So the real server does it: its scale subresource keeps no times.
        if subresource == Some("scale")
            && let Some(fields) = entry.as_object_mut()
        {
            fields.remove("time");
        }
        entries.push(entry);
    }
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    entries.sort_by_cached_key(|entry| {
        ["time", "manager", "apiVersion", "subresource"].map(|field| text(entry, field))
    });
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

type Fields = BTreeSet<Vec<String>>;

/// Fields that nobody owns.
const UNOWNED: [&str; 2] = ["apiVersion", "kind"];

/// What of metadata is owned: the rest is the server's.
const OF_METADATA: [&str; 5] = [
    "annotations",
    "finalizers",
    "generateName",
    "labels",
    "ownerReferences",
];

/// Objects that are owned as a whole.
const ATOMIC: [&str; 4] = ["involvedObject", "regarding", "related", "selector"];

fn changed_fields(old: &Value, new: &Value) -> Fields {
    let all = leaves(old).into_iter().chain(leaves(new));
    all.filter(|path| lookup(old, path) != lookup(new, path))
        .collect()
}

/// Every field of an object that has an owner of its own.
fn leaves(value: &Value) -> Fields {
    let mut leaves = Fields::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        if name == "metadata" {
            for part in OF_METADATA.iter().filter(|part| !value[**part].is_null()) {
                let mut path = vec![name.clone(), (*part).to_owned()];
                add_leaves(&mut path, &value[*part], &mut leaves);
            }
        } else if !UNOWNED.contains(&name.as_str()) {
            add_leaves(&mut vec![name.clone()], value, &mut leaves);
        }
    }
    leaves
}

fn add_leaves(path: &mut Vec<String>, value: &Value, leaves: &mut Fields) {
    let atomic = path
        .last()
        .is_some_and(|name| ATOMIC.contains(&name.as_str()));
    match value.as_object() {
        Some(fields) if !fields.is_empty() && !atomic => {
            for (name, value) in fields {
                path.push(name.clone());
                add_leaves(path, value, leaves);
                path.pop();
            }
        }
        // An empty object at the top says nothing of anybody, nor does what is not there.
        Some(fields) if fields.is_empty() && path.len() == 1 => {}
        None if value.is_null() || (value == "" && path.len() == 1) => {}
        _ => {
            leaves.insert(path.clone());
        }
    }
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

    const KIND: Kind = Kind::new("apps", "v1", "Deployment", "deployments");

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
        record(&KIND, &json!({}), &mut object, &by("kubectl"), None, &[]);
        let before = object.clone();
        object["spec"]["replicas"] = 2.into();
        record(
            &KIND,
            &before,
            &mut object,
            &by("minrep"),
            Some("scale"),
            &[],
        );

        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(entries.len(), 2);
        // Without a time it is the oldest.
        let (scale, main) = (&entries[0], &entries[1]);
        assert_eq!(main["manager"], "kubectl");
        assert_eq!(
            main["fieldsV1"],
            json!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:x": {}}})
        );
        assert!(main["time"].is_string());
        assert_eq!(scale["manager"], "minrep");
        assert_eq!(scale["subresource"], "scale");
        assert_eq!(scale["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
        assert_eq!(scale.get("time"), None);
    }

    #[test]
    fn fields_have_owners_at_any_depth_but_lists_have_one() {
        let mut object = json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"a": "b"}},
            "template": {"spec": {"containers": [{"name": "a"}], "dnsPolicy": "x", "securityContext": {}}}}});
        record(&KIND, &json!({}), &mut object, &by("kubectl"), None, &[]);
        let before = object.clone();
        object["spec"]["template"]["spec"]["containers"][0]["image"] = "i".into();
        record(&KIND, &before, &mut object, &by("minrep"), None, &[]);
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(
            entries[0]["fieldsV1"],
            json!({"f:spec": {"f:selector": {},
                "f:template": {"f:spec": {"f:dnsPolicy": {}, "f:securityContext": {}}}}})
        );
        assert_eq!(
            entries[1]["fieldsV1"],
            json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {}}}}})
        );
    }

    #[test]
    fn what_the_server_fills_in_belongs_to_nobody() {
        let mut object = json!({"metadata": {"finalizers": ["a/b"]}, "spec": {"clusterIP": "10.0.0.1", "x": 1},
            "status": {"y": 1}});
        let unowned = ["spec.clusterIP", "status"];
        record(
            &KIND,
            &json!({}),
            &mut object,
            &by("kubectl"),
            None,
            &unowned,
        );
        assert_eq!(
            object["metadata"]["managedFields"][0]["fieldsV1"],
            json!({"f:metadata": {"f:finalizers": {}}, "f:spec": {"f:x": {}}})
        );
    }

    #[test]
    fn an_entry_without_fields_is_dropped() {
        let mut object = json!({"metadata": {}, "spec": {"replicas": 1}});
        record(&KIND, &json!({}), &mut object, &by("kubectl"), None, &[]);
        let before = object.clone();
        object["spec"] = json!({});
        record(&KIND, &before, &mut object, &by("minrep"), None, &[]);
        assert_eq!(object["metadata"].get("managedFields"), None);
    }

    #[test]
    fn every_top_level_field_has_an_owner() {
        let mut object = json!({"kind": "Secret", "metadata": {"name": "a"}, "type": "Opaque", "data": {"a": "MQ=="},
            "list": [1]});
        record(&KIND, &json!({}), &mut object, &by("kubectl"), None, &[]);
        assert_eq!(
            object["metadata"]["managedFields"][0]["fieldsV1"],
            json!({"f:type": {}, "f:data": {"f:a": {}}, "f:list": {}})
        );
        let before = object.clone();
        object["data"]["b"] = "Mg==".into();
        record(&KIND, &before, &mut object, &by("minrep"), None, &[]);
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
