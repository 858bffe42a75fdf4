//! The fields of a Protobuf message, one after the other.

use std::iter;

use micropb::{DecodeError, PbDecoder};

/// A field as it stands in a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub(super) number: u32,
    wire: Wire<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Wire<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// Eight or four bytes, which no field of Kubernetes' types has.
    Fixed(u8),
}

/// The wire type of the end of a group, of which no start was seen.
const END_GROUP: u8 = 4;

/// The fields of a message. `message` is its Go name, for refusals; after the first refusal there is nothing.
pub(super) fn fields<'a>(
    message: &str,
    bytes: &'a [u8],
) -> impl Iterator<Item = Result<Field<'a>, String>> {
    let mut decoder = PbDecoder::new(bytes);
    let mut broken = false;
    iter::from_fn(move || {
        if broken || decoder.as_reader().is_empty() {
            return None;
        }
        let field = next(message, &mut decoder);
        broken = field.is_err();
        Some(field)
    })
}

/// The integers of a packed list.
pub(super) fn packed(bytes: &[u8]) -> impl Iterator<Item = Result<u64, String>> {
    let mut decoder = PbDecoder::new(bytes);
    iter::from_fn(move || {
        let left = !decoder.as_reader().is_empty();
        left.then(|| varint(&mut decoder))
    })
}

fn next<'a>(message: &str, decoder: &mut PbDecoder<&'a [u8]>) -> Result<Field<'a>, String> {
    let tag = varint(decoder)?;
    let (number, wire_type) = (tag >> 3, (tag & 7) as u8);
    if wire_type == END_GROUP {
        return Err(format!(
            "proto: {message}: wiretype end group for non-group"
        ));
    }
    let number = u32::try_from(number).ok().filter(|number| *number > 0);
    let Some(number) = number else {
        return Err(format!(
            "proto: {message}: illegal tag {} (wire type {wire_type})",
            tag >> 3
        ));
    };
    let wire = match wire_type {
        micropb::WIRE_TYPE_VARINT => Wire::Varint(varint(decoder)?),
        micropb::WIRE_TYPE_LEN => {
            let length = usize::try_from(varint(decoder)?).unwrap_or(usize::MAX);
            let bytes = decoder.as_reader().get(..length);
            let bytes = bytes.ok_or_else(|| "unexpected EOF".to_owned())?;
            decoder
                .skip_bytes(length)
                .map_err(|error| refusal(&error))?;
            Wire::Bytes(bytes)
        }
        micropb::WIRE_TYPE_I64 | micropb::WIRE_TYPE_I32 => {
            decoder
                .skip_wire_value(wire_type)
                .map_err(|error| refusal(&error))?;
            Wire::Fixed(wire_type)
        }
        other => return Err(format!("proto: illegal wireType {other}")),
    };
    Ok(Field { number, wire })
}

fn varint(decoder: &mut PbDecoder<&[u8]>) -> Result<u64, String> {
    decoder.decode_varint64().map_err(|error| refusal(&error))
}

/// In the words of the real server's decoder.
fn refusal<E>(error: &DecodeError<E>) -> String {
    match error {
        DecodeError::VarIntLimit => "proto: integer overflow".to_owned(),
        _ => "unexpected EOF".to_owned(),
    }
}

// === impl Field ===

impl<'a> Field<'a> {
    /// A message, a text or bytes. `name` is the field's name, for a refusal.
    pub(super) fn bytes(&self, name: &str) -> Result<&'a [u8], String> {
        match self.wire {
            Wire::Bytes(bytes) => Ok(bytes),
            _ => Err(self.wrong_type(name)),
        }
    }

    /// Text; what is no UTF-8 in it is replaced, as in the real server's answers.
    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        Ok(String::from_utf8_lossy(self.bytes(name)?).into_owned())
    }

    /// An integer or a boolean.
    pub(super) fn varint(&self, name: &str) -> Result<u64, String> {
        match self.wire {
            Wire::Varint(number) => Ok(number),
            _ => Err(self.wrong_type(name)),
        }
    }

    pub(super) fn is_bytes(&self) -> bool {
        matches!(self.wire, Wire::Bytes(_))
    }

    fn wrong_type(&self, name: &str) -> String {
        let found = match self.wire {
            Wire::Varint(_) => micropb::WIRE_TYPE_VARINT,
            Wire::Bytes(_) => micropb::WIRE_TYPE_LEN,
            Wire::Fixed(wire_type) => wire_type,
        };
        let mut name = name.to_owned();
        if let Some(first) = name.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        format!("proto: wrong wireType = {found} for field {name}")
    }
}
