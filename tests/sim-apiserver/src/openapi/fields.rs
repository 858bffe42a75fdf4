//! Which fields of an object its type does not know.

use serde_json::{Map, Value};

use super::type_table::{Field, Shape, TypeName};

/// Drops the fields that the type does not know, as decoding into it does, and returns their paths:
/// `spec.template.spec.containers[0].imagee`.
pub(crate) fn drop_unknown_fields(kind: TypeName, value: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    visit(kind, "", value, &mut unknown);
    unknown
}

fn visit(kind: TypeName, path: &str, value: &mut Value, unknown: &mut Vec<String>) {
    // A value of another JSON type than the wanted one is somebody else's finding.
    match (kind.shape(), kind.fields(), value) {
        (Shape::List(item), _, Value::Array(values)) => {
            for (at, value) in values.iter_mut().enumerate() {
                visit(item, &format!("{path}[{at}]"), value, unknown);
            }
        }
        (Shape::Map(item), _, Value::Object(values)) => {
            for (key, value) in values {
                visit(item, &join(path, key), value, unknown);
            }
        }
        (Shape::Named, Some(fields), Value::Object(values)) => {
            visit_fields(fields, path, values, unknown);
        }
        _ => {}
    }
}

fn visit_fields(
    fields: &[Field],
    path: &str,
    values: &mut Map<String, Value>,
    unknown: &mut Vec<String>,
) {
    values.retain(
        |name, value| match fields.iter().find(|field| field.name == name) {
            Some(field) => {
                visit(field.kind, &join(path, name), value, unknown);
                true
            }
            None => {
                unknown.push(join(path, name));
                false
            }
        },
    );
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::type_of, *};

    #[test]
    fn unknown_fields_are_found_at_every_depth_and_dropped() {
        let deployment = type_of("apps", "v1", "Deployment").expect("a type");
        let mut value = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "extra": 1,
            "metadata": {"name": "web", "labels": {"any": "label"}, "nme": "web"},
            "spec": {"replcas": 3, "replicas": 2, "template": {"spec": {
                "nodeSelector": {"any": "key"},
                "containers": [{"name": "a"}, {"name": "b", "imagee": "i", "resources": {"limits": {"any": "1"}}}],
            }}},
        });
        let unknown = drop_unknown_fields(deployment, &mut value);
        assert_eq!(
            unknown,
            [
                "extra",
                "metadata.nme",
                "spec.replcas",
                "spec.template.spec.containers[1].imagee"
            ]
        );
        assert_eq!(value["spec"].get("replcas"), None);
        assert_eq!(value["spec"]["replicas"], 2);
        let containers = &value["spec"]["template"]["spec"]["containers"];
        assert_eq!(
            containers[1],
            json!({"name": "b", "resources": {"limits": {"any": "1"}}})
        );
        assert!(drop_unknown_fields(deployment, &mut value).is_empty());
    }
}
