//! Stored objects → the bytes that a client asked for: the object itself in the version of the path, its
//! metadata alone, or a table for kubectl.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    body::ApiBody,
    kinds::{Kind, Served},
    status::ApiStatus,
    store::{Listing, Object},
};

/// The real server's words for a form that it does not know, though it knows more media types.
pub(crate) const UNKNOWN_FORM: &str = "only the following media types are accepted: application/json, application/yaml, \
    application/vnd.kubernetes.protobuf";

/// How one request wants its objects.
#[derive(Clone, Debug)]
pub(crate) struct View {
    kind: Kind,
    served: Served,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Object,
    /// Of an object, or of each in a list; a client has to say which.
    Metadata {
        list: bool,
    },
    Table(Include),
}

/// What a table row carries beside its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Include {
    None,
    Metadata,
    Object,
}

// === impl View ===

impl View {
    /// Reads the `Accept` header and `includeObject`.
    pub(crate) fn negotiate(
        kind: Kind,
        served: Served,
        headers: &HeaderMap,
        include_object: Option<&str>,
    ) -> Result<Self, ApiStatus> {
        let accept = headers
            .get(http::header::ACCEPT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("*/*");
        let include = match include_object {
            None | Some("" | "Metadata") => Include::Metadata,
            Some("Object") => Include::Object,
            Some("None") => Include::None,
            Some(other) => {
                return Err(ApiStatus::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be \
                     'Metadata', 'Object', 'None', or empty"
                )));
            }
        };
        let form = accept
            .split(',')
            .find_map(|range| Form::parse(range, include));
        form.map(|form| Self { kind, served, form })
            .ok_or_else(|| match accept.contains(";as=") {
                true => ApiStatus::not_acceptable_form(UNKNOWN_FORM.to_owned()),
                false => ApiStatus::not_acceptable(&["application/json"]),
            })
    }

    /// The view for the answer to a get; a list of metadata is none.
    pub(crate) fn of_one(self) -> Result<Self, ApiStatus> {
        match self.form {
            Form::Metadata { list: true } => {
                let object = self.go_type("");
                Err(ApiStatus::not_acceptable_form(format!(
                    "you requested PartialObjectMetadataList, but the requested object is not a list ({object})"
                )))
            }
            _ => Ok(self),
        }
    }

    /// The view for the answer to a list; the metadata of one object is none.
    pub(crate) fn of_list(self) -> Result<Self, ApiStatus> {
        match self.form {
            Form::Metadata { list: false } => {
                let list = self.go_type("List");
                Err(ApiStatus::not_acceptable_form(format!(
                    "you requested PartialObjectMetadata, but the requested object is a list ({list})"
                )))
            }
            _ => Ok(self),
        }
    }

    /// The real server's own type for it.
    fn go_type(&self, suffix: &str) -> String {
        let package = match self.kind.group.split('.').next() {
            None | Some("") => "core",
            Some(package) => package,
        };
        format!("*{package}.{}{suffix}", self.kind.kind)
    }

    /// The same view as the plain object: what writes answer unless a table was asked for.
    pub(crate) fn object(&self, object: &Object) -> Bytes {
        match self.form {
            Form::Object => self.plain(object),
            Form::Metadata { .. } => partial_metadata(object).to_string().into(),
            Form::Table(include) => self
                .table(std::slice::from_ref(object), include, true)
                .to_string()
                .into(),
        }
    }

    pub(crate) fn list(&self, listing: Listing) -> ApiBody {
        match self.form {
            Form::Object => self.plain_list(listing),
            Form::Metadata { .. } => {
                let items: Vec<Value> = listing
                    .items
                    .iter()
                    .map(|object| partial_metadata(object))
                    .collect();
                let list = json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
                    "metadata": list_metadata(&listing), "items": items});
                ApiBody::whole(list.to_string())
            }
            Form::Table(include) => {
                let mut table = self.table(&listing.items, include, true);
                table["metadata"] = list_metadata(&listing);
                ApiBody::whole(table.to_string())
            }
        }
    }

    /// Whether it shows objects as they are stored: then all that ask so get the same.
    pub(crate) fn is_plain(&self) -> bool {
        self.form == Form::Object && self.served.also.is_none()
    }

    /// One line of a watch. `first` says that it is the watch's first: only then a table names its columns.
    pub(crate) fn event(&self, event: &str, object: &Object, first: bool) -> Bytes {
        let object = match self.form {
            Form::Table(include) => self
                .table(std::slice::from_ref(object), include, first)
                .to_string()
                .into(),
            _ => self.object(object),
        };
        line(event, &object)
    }

    /// A bookmark; `initial` marks the end of the initial events.
    pub(crate) fn bookmark(&self, revision: u64, initial: bool) -> Bytes {
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if initial {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = match self.form {
            Form::Object => {
                let mut rest = self.kind.empty.to_owned();
                if !rest.is_empty() {
                    rest.insert(0, ',');
                }
                format!("{{{}\"metadata\":{metadata}{rest}}}", self.type_meta())
            }
            Form::Metadata { .. } => {
                json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                "metadata": metadata})
                .to_string()
            }
            Form::Table(_) => json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1",
                "metadata": {"resourceVersion": revision.to_string()}, "columnDefinitions": null,
                "rows": [{"cells": self.empty_cells(), "object": {"kind": "PartialObjectMetadata",
                    "apiVersion": "meta.k8s.io/v1", "metadata": metadata}}]})
            .to_string(),
        };
        line("BOOKMARK", object.as_bytes())
    }

    /// What a bookmark, which is an object without anything in it, looks like in a table.
    fn empty_cells(&self) -> Vec<Value> {
        let fields = match self.kind.empty {
            "" => String::new(),
            fields => format!(",{fields}"),
        };
        let object = format!(r#"{{"metadata":{{"name":""}}{fields}}}"#);
        let object: Value = serde_json::from_str(&object).unwrap_or_default();
        (self.kind.printer.cells)(&object, Timestamp::now())
    }

    fn type_meta(&self) -> String {
        format!(
            r#""kind":"{}","apiVersion":"{}","#,
            self.kind.kind,
            self.served.api_version()
        )
    }

    fn plain(&self, object: &Object) -> Bytes {
        let body = self.converted(object);
        [b"{", self.type_meta().as_bytes(), &body[1..]]
            .concat()
            .into()
    }

    fn plain_list(&self, mut listing: Listing) -> ApiBody {
        let custom = self.kind.is_custom();
        if self.served.also.is_some() || custom {
            for object in &mut listing.items {
                // The real server does not know the types of custom resources: they have to say them.
                let body = match custom {
                    true => self.plain(object),
                    false => self.converted(object),
                };
                *object = Arc::new(Object {
                    body,
                    key: object.key.clone(),
                    ..Object::encode(Value::Null, 0)
                });
            }
        }
        let mut metadata = list_metadata(&listing);
        if custom && metadata["continue"].is_null() {
            metadata["continue"] = "".into();
        }
        let head = format!(
            r#"{{"kind":"{}List","apiVersion":"{}","metadata":{metadata},"items":["#,
            self.kind.kind,
            self.served.api_version(),
        );
        ApiBody::list(head.into(), listing.items, Bytes::from_static(b"]}\n"))
    }

    /// The stored body in the version of the path.
    fn converted(&self, object: &Object) -> Bytes {
        let Some(also) = self.served.also else {
            return object.body.clone();
        };
        let mut value = object.value();
        (also.from_stored)(&mut value);
        value.to_string().into()
    }

    fn table<O: AsRef<Object>>(&self, objects: &[O], include: Include, columns: bool) -> Value {
        let now = Timestamp::now();
        let rows: Vec<Value> = objects
            .iter()
            .map(|object| {
                let object = object.as_ref();
                let cells = (self.kind.printer.cells)(&object.value(), now);
                match include {
                    Include::None => json!({"cells": cells, "object": null}),
                    Include::Metadata => {
                        json!({"cells": cells, "object": partial_metadata(object)})
                    }
                    Include::Object => {
                        let object: Value =
                            serde_json::from_slice(&self.plain(object)).unwrap_or_default();
                        json!({"cells": cells, "object": object})
                    }
                }
            })
            .collect();
        let definitions: Vec<Value> = self
            .kind
            .printer
            .columns
            .iter()
            .map(|column| {
                let named = column.name == "Name" && self.kind.kind != "Scale";
                let format = if named { "name" } else { "" };
                json!({"name": column.name, "type": column.kind, "format": format, "description": "",
                    "priority": column.priority})
            })
            .collect();
        let revision = objects
            .first()
            .map(|object| object.as_ref().revision.to_string())
            .unwrap_or_default();
        json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": revision},
            "columnDefinitions": if columns { json!(definitions) } else { Value::Null }, "rows": rows})
    }
}

// === impl Form ===

impl Form {
    /// One media range of an `Accept` header; `None` if it is nothing that is served.
    fn parse(range: &str, include: Include) -> Option<Self> {
        let mut parts = range.split(';').map(str::trim);
        if !matches!(parts.next()?, "application/json" | "*/*" | "") {
            return None;
        }
        let parameters: Vec<&str> = parts.collect();
        let known = parameters.contains(&"g=meta.k8s.io") && parameters.contains(&"v=v1");
        match parameters
            .iter()
            .find_map(|parameter| parameter.strip_prefix("as="))
        {
            None => Some(Self::Object),
            Some("Table") if known => Some(Self::Table(include)),
            Some("PartialObjectMetadata") if known => Some(Self::Metadata { list: false }),
            Some("PartialObjectMetadataList") if known => Some(Self::Metadata { list: true }),
            Some(_) => None,
        }
    }
}

/// One line of a watch.
pub(crate) fn line(event: &str, object: &[u8]) -> Bytes {
    let head = format!(r#"{{"type":"{event}","object":"#);
    [head.as_bytes(), object, b"}\n"].concat().into()
}

fn partial_metadata(object: &Object) -> Value {
    let metadata = object.value()["metadata"].take();
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

fn list_metadata(listing: &Listing) -> Value {
    let mut metadata = json!({"resourceVersion": listing.revision.to_string()});
    if let Some(token) = &listing.continue_token {
        metadata["continue"] = token.as_str().into();
    }
    if let Some(remaining) = listing.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    metadata
}
