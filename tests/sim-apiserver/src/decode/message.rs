//! A Protobuf message → the tree that JSON would have made.
//!
//! The table of types says which field has which number. Fields that it does not have are skipped. The
//! recursion follows the types, none of which holds itself: no body makes it deeper than they are.

use serde_json::{Map, Value};

use super::{
    scalar,
    wire::{Field as WireField, fields, packed},
};
use crate::openapi::{Field, FieldNumber, Shape, TypeName};

/// Reads an object of a type with fields. The error is the real server's sentence.
pub(super) fn read(kind: TypeName, bytes: &[u8]) -> Result<Value, String> {
    let mut value = Map::new();
    read_fields(kind, None, bytes, &mut value)?;
    Ok(value.into())
}

/// `within` is the field whose message `bytes` is, where JSON inlines it into `into`.
fn read_fields(
    kind: TypeName,
    within: Option<u32>,
    bytes: &[u8],
    into: &mut Map<String, Value>,
) -> Result<(), String> {
    let known = kind.fields().unwrap_or_default();
    let name = kind.text().rsplit('.').next().unwrap_or_default();
    for wire in fields(name, bytes) {
        let wire = wire?;
        let number = FieldNumber {
            within,
            number: wire.number,
        };
        let inlines = |field: &Field| field.number.is_some_and(|n| n.within == Some(wire.number));
        if let Some(field) = known.iter().find(|field| field.number == Some(number)) {
            set(field, &wire, into)?;
        } else if within.is_none() && known.iter().any(inlines) {
            read_fields(kind, Some(wire.number), wire.bytes(name)?, into)?;
        }
    }
    Ok(())
}

fn set(field: &Field, wire: &WireField<'_>, into: &mut Map<String, Value>) -> Result<(), String> {
    let name = field.name;
    match field.kind.shape() {
        Shape::List(item) => {
            if let Value::Array(list) = into
                .entry(name)
                .or_insert_with(|| Vec::<Value>::new().into())
            {
                push(item, wire, name, list)?;
            }
        }
        Shape::Map(item) => {
            if let Value::Object(map) = into.entry(name).or_insert_with(|| Map::new().into()) {
                insert(item, wire.bytes(name)?, map)?;
            }
        }
        Shape::Named if field.kind.fields().is_some() => {
            // A message that comes in two parts is one message.
            if let Value::Object(fields) = into.entry(name).or_insert_with(|| Map::new().into()) {
                read_fields(field.kind, None, wire.bytes(go_name(name))?, fields)?;
            }
        }
        _ => {
            let value = scalar::read(field.kind, wire, name)?;
            // Go's encoder writes every zero, and JSON's leaves out those that no pointer leads to.
            if scalar::is_zero(&value) && !field.keeps_zero {
                into.remove(name);
            } else {
                into.insert(name.to_owned(), value);
            }
        }
    }
    Ok(())
}

fn push(
    item: TypeName,
    wire: &WireField<'_>,
    name: &str,
    list: &mut Vec<Value>,
) -> Result<(), String> {
    match item.shape() {
        Shape::Scalar("integer", format) if wire.is_bytes() => {
            for number in packed(wire.bytes(name)?) {
                list.push(scalar::integer(number?, format));
            }
        }
        _ => list.push(value(item, wire, name)?),
    }
    Ok(())
}

/// An entry of a map is a message: the key is field 1, the value field 2.
fn insert(item: TypeName, entry: &[u8], map: &mut Map<String, Value>) -> Result<(), String> {
    let (mut key, mut found) = (String::new(), None);
    for field in fields("Entry", entry) {
        let field = field?;
        match field.number {
            1 => key = field.text("Key")?,
            2 => found = Some(value(item, &field, "Value")?),
            _ => {}
        }
    }
    let found = match found {
        Some(found) => found,
        None if item.fields().is_some() => Map::new().into(),
        None => scalar::zero(item)?,
    };
    map.insert(key, found);
    Ok(())
}

fn value(kind: TypeName, wire: &WireField<'_>, name: &str) -> Result<Value, String> {
    match kind.shape() {
        Shape::Named if kind.fields().is_some() => read(kind, wire.bytes(name)?),
        // A list in a map or a list is a message whose field 1 is the list.
        Shape::List(item) => {
            let mut list = Vec::new();
            for field in fields("Items", wire.bytes(name)?) {
                push(item, &field?, "Items", &mut list)?;
            }
            Ok(list.into())
        }
        _ => scalar::read(kind, wire, name),
    }
}

/// The one field that Go calls something else.
fn go_name(name: &str) -> &str {
    match name {
        "metadata" => "objectMeta",
        other => other,
    }
}

#[cfg(test)]
mod tests;
