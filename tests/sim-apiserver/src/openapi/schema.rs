//! Types as OpenAPI schemas.

use serde_json::{Map, Value, json};

use super::type_table::{Shape, TypeName};

/// The schemas that the given types need, the types that their fields name included.
pub(super) fn schemas(roots: impl IntoIterator<Item = TypeName>) -> Map<String, Value> {
    let mut schemas = Map::new();
    let mut left: Vec<TypeName> = roots.into_iter().collect();
    while let Some(kind) = left.pop() {
        let name = full_name(kind);
        if !schemas.contains_key(&name) {
            schemas.insert(name, schema(kind, &mut left));
        }
    }
    schemas
}

/// The name of a type in a document: `io.k8s.api.apps.v1.Deployment`.
pub(super) fn full_name(kind: TypeName) -> String {
    let name = kind.text();
    let package = match name.split('.').next() {
        Some("meta") => "io.k8s.apimachinery.pkg.apis",
        Some("util" | "api") => "io.k8s.apimachinery.pkg",
        _ => "io.k8s.api",
    };
    format!("{package}.{name}")
}

pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn schema(kind: TypeName, named: &mut Vec<TypeName>) -> Value {
    let Some(fields) = kind.fields() else {
        return match kind.text() {
            "api.resource.Quantity" => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
            "util.intstr.IntOrString" => {
                json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]})
            }
            "meta.v1.Time" | "meta.v1.MicroTime" => {
                json!({"type": "string", "format": "date-time"})
            }
            _ => json!({"type": "object"}),
        };
    };
    let mut properties = Map::new();
    for field in fields {
        let mut property = use_of(field.kind, named);
        if let Some(key) = field.merge_key {
            property["x-kubernetes-patch-merge-key"] = key.into();
        }
        if let Some(strategy) = field.patch_strategy {
            property["x-kubernetes-patch-strategy"] = strategy.into();
        }
        properties.insert(field.name.to_owned(), property);
    }
    let required = fields.iter().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// The schema of a field, an item or a map's value. Types with names are noted for a schema of their own.
fn use_of(kind: TypeName, named: &mut Vec<TypeName>) -> Value {
    match kind.shape() {
        Shape::List(item) => json!({"type": "array", "items": use_of(item, named)}),
        Shape::Map(value) => {
            json!({"type": "object", "additionalProperties": use_of(value, named)})
        }
        Shape::Scalar(kind, "") => json!({"type": kind}),
        Shape::Scalar(kind, format) => json!({"type": kind, "format": format}),
        Shape::Named => {
            named.push(kind);
            // A bare reference would lose what stands beside it.
            json!({"allOf": [reference(&full_name(kind))]})
        }
    }
}
