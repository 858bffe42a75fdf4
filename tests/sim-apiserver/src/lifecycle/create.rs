//! Creating an object.

use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    WriteOptions, managed_fields,
    metadata::{is_being_deleted, normalise, timestamp},
    service,
};
use crate::{
    kinds::{Kind, KindId, Kinds, check_finalizers, check_metadata, check_name},
    status::{ApiStatus, FieldError},
    store::{Key, Object, State},
};

/// The characters of the real server's generated names: no vowels, no digits that look like letters.
const SUFFIX_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Creates an object from a decoded body in the stored version. `namespace` is the one in the path.
pub(crate) fn create(
    state: &mut State,
    kinds: &Kinds,
    id: KindId,
    namespace: &str,
    mut value: Value,
    options: &WriteOptions,
) -> Result<Arc<Object>, ApiStatus> {
    let kind = kinds.get(id);
    prepare(kind, namespace, &mut value)?;
    let name = value["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    check_namespace(state, kinds, kind, namespace, &name)?;
    let key = Key::new(namespace, &name);
    if let Some(existing) = state.get(id, &key) {
        return Err(ApiStatus::already_exists(
            kind,
            &name,
            is_being_deleted(&existing.value()),
        ));
    }
    let mut unowned = kind.server_set.to_vec();
    unowned.retain(|path| {
        let given = value.pointer(&format!("/{}", path.replace('.', "/")));
        given.is_none_or(Value::is_null)
    });
    (kind.default)(&mut value);
    let mut errors = errors(kind, &name, &value, &options.api_version);
    if errors.is_empty() && kind.kind == "Service" {
        errors.extend(service::allocate(state, id, &mut value));
    }
    if !errors.is_empty() {
        return Err(ApiStatus::invalid(kind.group, kind.kind, &name, &errors));
    }
    if kind.status {
        unowned.push("status");
    }
    managed_fields::record(kind, &json!({}), &mut value, options, None, &unowned);
    if options.dry_run {
        return Ok(Arc::new(Object::encode(value, 0)));
    }
    Ok(state.put(id, value))
}

/// Sets the fields that belong to the server.
fn prepare(kind: &Kind, namespace: &str, value: &mut Value) -> Result<(), ApiStatus> {
    if value["metadata"].is_null() {
        value["metadata"] = json!({});
    }
    if value["metadata"]["resourceVersion"]
        .as_str()
        .is_some_and(|revision| !revision.is_empty())
    {
        return Err(ApiStatus::internal(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    match value["metadata"]["namespace"].as_str().unwrap_or_default() {
        "" => {}
        given if given == namespace => {}
        _ => {
            return Err(ApiStatus::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    }
    normalise(value);
    let metadata = &mut value["metadata"];
    let prefix = metadata["generateName"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    if metadata["name"].as_str().is_none_or(str::is_empty) && !prefix.is_empty() {
        metadata["name"] = format!("{prefix}{}", random_suffix()).into();
    }
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    metadata["uid"] = Uuid::new_v4().to_string().into();
    metadata["creationTimestamp"] = timestamp().into();
    if let Some(fields) = metadata.as_object_mut() {
        for field in [
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "managedFields",
        ] {
            fields.remove(field);
        }
        // An index above leaves a null where there was nothing.
        fields.retain(|_, value| !value.is_null());
    }
    if kind.generation {
        value["metadata"]["generation"] = 1.into();
    }
    if kind.status && !kind.created_with_status {
        value["status"] = json!({});
        if kind.is_custom()
            && let Some(fields) = value.as_object_mut()
        {
            fields.remove("status");
        }
    }
    Ok(())
}

fn errors(kind: &Kind, name: &str, value: &Value, api_version: &str) -> Vec<FieldError> {
    let prefix = value["metadata"]["generateName"]
        .as_str()
        .unwrap_or_default();
    let mut errors = check_name(kind, name, prefix);
    errors.extend(check_metadata(value));
    errors.extend(check_finalizers(value));
    errors.extend(kind.errors(api_version, value, None));
    errors
}

fn check_namespace(
    state: &State,
    kinds: &Kinds,
    kind: &Kind,
    namespace: &str,
    name: &str,
) -> Result<(), ApiStatus> {
    let Some(namespaces) = kinds.by_plural("namespaces").filter(|_| kind.namespaced) else {
        return Ok(());
    };
    let Some(object) = state.get(namespaces, &Key::new("", namespace)) else {
        return Err(ApiStatus::not_found(kinds.get(namespaces), namespace));
    };
    if is_being_deleted(&object.value()) {
        return Err(ApiStatus::terminating_namespace(kind, name, namespace));
    }
    Ok(())
}

fn random_suffix() -> String {
    let bytes = Uuid::new_v4().into_bytes();
    bytes[..5]
        .iter()
        .map(|byte| char::from(SUFFIX_ALPHABET[usize::from(*byte) % SUFFIX_ALPHABET.len()]))
        .collect()
}
