//! Values that are no messages of fields: numbers, texts, and the few types with an encoding of their own.

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::Value;

use super::wire::{Field, fields};
use crate::openapi::{Shape, TypeName};

/// What JSON has in place of a value. `Null` is a time that is not set.
pub(super) fn read(kind: TypeName, field: &Field<'_>, name: &str) -> Result<Value, String> {
    match kind.shape() {
        Shape::Scalar("integer", format) => Ok(integer(field.varint(name)?, format)),
        Shape::Scalar("boolean", _) => Ok((field.varint(name)? != 0).into()),
        Shape::Scalar(_, "byte") => Ok(STANDARD.encode(field.bytes(name)?).into()),
        Shape::Scalar(..) => Ok(field.text(name)?.into()),
        _ => own_encoding(kind, field.bytes(name)?),
    }
}

/// The value that stands for one that is not there.
pub(super) fn zero(kind: TypeName) -> Result<Value, String> {
    match kind.shape() {
        Shape::Scalar("integer", _) => Ok(0.into()),
        Shape::Scalar("boolean", _) => Ok(false.into()),
        Shape::Scalar(..) => Ok("".into()),
        _ => own_encoding(kind, &[]),
    }
}

pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Varints hold 64 bits in two's complement; the shorter type takes the lower half, as in Go.
pub(super) fn integer(varint: u64, format: &str) -> Value {
    let number = varint.cast_signed();
    match format {
        "int32" => (number as i32).into(),
        _ => number.into(),
    }
}

fn own_encoding(kind: TypeName, bytes: &[u8]) -> Result<Value, String> {
    match kind.text() {
        "meta.v1.Time" => time(bytes, |time| {
            time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
        }),
        "meta.v1.MicroTime" => time(bytes, |time| {
            time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
        }),
        "util.intstr.IntOrString" => int_or_string(bytes),
        "meta.v1.FieldsV1" => {
            let mut json = b"{}".as_slice();
            for field in fields("FieldsV1", bytes) {
                let field = field?;
                if field.number == 1 {
                    json = field.bytes("Raw")?;
                }
            }
            serde_json::from_slice(json).map_err(|error| error.to_string())
        }
        // A quantity is a message with a text in it.
        _ => {
            let mut quantity = "0".to_owned();
            for field in fields("Quantity", bytes) {
                let field = field?;
                if field.number == 1 {
                    quantity = field.text("String_")?;
                }
            }
            Ok(quantity.into())
        }
    }
}

fn time(bytes: &[u8], write: impl Fn(Timestamp) -> String) -> Result<Value, String> {
    let (mut seconds, mut nanos) = (0, 0);
    for field in fields("Timestamp", bytes) {
        let field = field?;
        match field.number {
            1 => seconds = field.varint("Seconds")?.cast_signed(),
            2 => nanos = field.varint("Nanos")?.cast_signed() as i32,
            _ => {}
        }
    }
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let time = Timestamp::new(seconds, nanos).map_err(|error| error.to_string())?;
    Ok(write(time).into())
}

fn int_or_string(bytes: &[u8]) -> Result<Value, String> {
    let (mut is_text, mut number, mut text) = (false, 0, String::new());
    for field in fields("IntOrString", bytes) {
        let field = field?;
        match field.number {
            1 => is_text = field.varint("Type")? == 1,
            2 => number = field.varint("IntVal")?.cast_signed() as i32,
            3 => text = field.text("StrVal")?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { number.into() })
}
