//! OpenAPI v3: a document for each group and version, and their index.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{
    schema::{full_name, reference, schemas},
    type_of,
};
use crate::kinds::{Kind, Kinds, Served};

/// The documents by their paths below `/openapi/v3/`: `api/v1`, `apis/apps/v1`.
#[derive(Clone, Debug)]
pub(crate) struct Documents(BTreeMap<String, Document>);

/// A document as it goes out.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// Changes when the document does: clients keep a document under it for ever.
    pub(crate) hash: String,
    pub(crate) body: Bytes,
}

/// The name of the schema of every patch.
const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

const WRITE: [&str; 3] = ["dryRun", "fieldManager", "fieldValidation"];
const DELETE: [&str; 2] = ["dryRun", "propagationPolicy"];
const LIST: [&str; 10] = [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
];

// === impl Documents ===

impl Documents {
    pub(crate) fn new(kinds: &Kinds) -> Self {
        let mut groups: BTreeMap<String, Vec<(Served, &Kind)>> = BTreeMap::new();
        for (served, kind) in kinds.served() {
            let path = base(served).trim_start_matches('/').to_owned();
            groups.entry(path).or_default().push((served, kind));
        }
        let documents = groups
            .into_iter()
            .map(|(path, kinds)| (path, Document::new(&kinds)));
        Self(documents.collect())
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Document> {
        self.0.get(path)
    }

    /// What is at `/openapi/v3`.
    pub(crate) fn index(&self) -> Value {
        let mut paths = Map::new();
        for path in self.0.keys() {
            let url = self.url(path);
            paths.insert(path.clone(), json!({"serverRelativeURL": url}));
        }
        json!({"paths": paths})
    }

    /// The address under which a document may be kept.
    pub(crate) fn url(&self, path: &str) -> String {
        let hash = self.0.get(path).map_or("", |document| &document.hash);
        format!("/openapi/v3/{path}?hash={hash}")
    }
}

// === impl Document ===

impl Document {
    fn new(kinds: &[(Served, &Kind)]) -> Self {
        let mut paths = Map::new();
        let mut components = Map::new();
        components.insert(PATCH.to_owned(), json!({"type": "object"}));
        for (served, kind) in kinds {
            let entry = Entry::new(*served, kind);
            for (name, schema) in entry.schemas() {
                // A kind's own schema says which kind it is; another's reference to it does not.
                if schema.get(GVK).is_some() || !components.contains_key(&name) {
                    components.insert(name, schema);
                }
            }
            paths.extend(entry.paths());
        }
        let document = json!({
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": "unversioned"},
            "paths": paths,
            "components": {"schemas": components},
        });
        let body = document.to_string();
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        Self {
            hash: format!("{:016X}", hasher.finish()),
            body: body.into(),
        }
    }
}

/// The extension that names the kind of an operation or a schema.
const GVK: &str = "x-kubernetes-group-version-kind";

/// One kind of a document.
struct Entry<'a> {
    served: Served,
    kind: &'a Kind,
    /// The schema's name.
    schema: String,
    /// Whether it is a kind with a type, or a custom resource.
    built_in: bool,
}

// === impl Entry ===

impl<'a> Entry<'a> {
    fn new(served: Served, kind: &'a Kind) -> Self {
        let found = type_of(served.group, served.version, kind.kind);
        Self {
            served,
            kind,
            schema: found.map_or_else(
                || format!("{}.{}.{}", served.group, served.version, kind.kind),
                full_name,
            ),
            built_in: found.is_some(),
        }
    }

    fn gvk(&self) -> Value {
        json!({"group": self.served.group, "version": self.served.version, "kind": self.kind.kind})
    }

    fn schemas(&self) -> Map<String, Value> {
        let found = type_of(self.served.group, self.served.version, self.kind.kind);
        let scale = type_of("autoscaling", "v1", "Scale").filter(|_| self.kind.scale);
        let mut schemas = schemas(found.into_iter().chain(scale));
        if found.is_none() {
            let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            schemas.insert(self.schema.clone(), schema);
        }
        schemas[&self.schema][GVK] = json!([self.gvk()]);
        schemas
    }

    fn paths(&self) -> Map<String, Value> {
        let mut paths = Map::new();
        let base = base(self.served);
        let collection = if self.kind.namespaced {
            let everywhere = format!("{base}/{}", self.kind.plural);
            paths.insert(everywhere, json!({"get": self.operation("list", &LIST)}));
            format!("{base}/namespaces/{{namespace}}/{}", self.kind.plural)
        } else {
            format!("{base}/{}", self.kind.plural)
        };
        if self.kind.review.is_some() {
            paths.insert(collection, json!({"post": self.operation("post", &WRITE)}));
            return paths;
        }
        let item = format!("{collection}/{{name}}");
        let many = json!({
            "get": self.operation("list", &LIST),
            "post": self.operation("post", &WRITE),
            "delete": self.operation("deletecollection", &LIST),
        });
        let mut one = self.subresource();
        one["delete"] = self.operation("delete", &DELETE);
        paths.insert(collection, many);
        if self.kind.status {
            paths.insert(format!("{item}/status"), self.subresource());
        }
        if let Some(scale) = type_of("autoscaling", "v1", "Scale").filter(|_| self.kind.scale) {
            let mut operations = self.subresource();
            for operation in operations.as_object_mut().into_iter().flatten() {
                let operation = operation.1;
                operation[GVK] = json!({"group": "autoscaling", "version": "v1", "kind": "Scale"});
                let content = &mut operation["responses"]["200"]["content"];
                content["application/json"]["schema"] = reference(&full_name(scale));
                if let Some(body) = operation.pointer_mut("/requestBody/content/application~1json")
                {
                    body["schema"] = reference(&full_name(scale));
                }
            }
            paths.insert(format!("{item}/scale"), operations);
        }
        paths.insert(item, one);
        paths
    }

    /// What can be done with an object, or with a part of it that has a path of its own.
    fn subresource(&self) -> Value {
        json!({
            "get": self.operation("get", &[]),
            "put": self.operation("put", &WRITE),
            "patch": self.operation("patch", &WRITE),
        })
    }

    fn operation(&self, action: &str, query: &[&str]) -> Value {
        let parameters = query.iter().map(|name| {
            let kind = match *name {
                "allowWatchBookmarks" | "sendInitialEvents" | "watch" => "boolean",
                "limit" | "timeoutSeconds" => "integer",
                _ => "string",
            };
            json!({"in": "query", "name": name, "schema": {"type": kind, "uniqueItems": true}})
        });
        let parameters: Vec<Value> = parameters.collect();
        let mut operation = json!({
            "parameters": parameters,
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": action,
            GVK: self.gvk(),
        });
        if matches!(action, "get" | "post" | "put" | "patch") {
            let content = json!({"application/json": {"schema": reference(&self.schema)}});
            operation["responses"]["200"]["content"] = content;
        }
        let mut content = Map::new();
        if matches!(action, "post" | "put") {
            let schema = reference(&self.schema);
            content.insert("application/json".to_owned(), json!({"schema": schema}));
        }
        if action == "patch" {
            for patch in ["json-patch", "merge-patch", "strategic-merge-patch"] {
                // Without types nobody knows the keys by which lists are merged.
                if patch != "strategic-merge-patch" || self.built_in {
                    let schema = reference(PATCH);
                    content.insert(
                        format!("application/{patch}+json"),
                        json!({"schema": schema}),
                    );
                }
            }
        }
        if !content.is_empty() {
            operation["requestBody"] = json!({"content": content, "required": true});
        }
        operation
    }
}

/// `/api/v1`, `/apis/apps/v1`.
fn base(served: Served) -> String {
    let root = if served.group.is_empty() {
        "api"
    } else {
        "apis"
    };
    format!("/{root}/{}", served.api_version())
}
