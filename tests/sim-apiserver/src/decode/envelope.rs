//! The envelope around a Protobuf message: four bytes, then `runtime.Unknown`.

use super::wire::fields;

/// What an envelope says.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    pub(super) api_version: String,
    pub(super) kind: String,
    /// The message.
    pub(super) raw: &'a [u8],
}

const PREFIX: &[u8] = b"k8s\0";

// === impl Envelope ===

impl<'a> Envelope<'a> {
    /// The error is the real server's sentence.
    pub(super) fn read(body: &'a [u8]) -> Result<Self, String> {
        if body.is_empty() {
            return Err("empty data".to_owned());
        }
        let Some(unknown) = body.strip_prefix(PREFIX) else {
            return Err(format!(
                "provided data does not appear to be a protobuf message, expected prefix [{}]",
                PREFIX
                    .iter()
                    .map(u8::to_string)
                    .collect::<Vec<_>>()
                    .join(" ")
            ));
        };
        if unknown.is_empty() {
            return Err("empty body".to_owned());
        }
        let mut envelope = Self::default();
        for field in fields("Unknown", unknown) {
            let field = field?;
            match field.number {
                1 => envelope.read_type_meta(field.bytes("TypeMeta")?)?,
                2 => envelope.raw = field.bytes("Raw")?,
                _ => {}
            }
        }
        Ok(envelope)
    }

    fn read_type_meta(&mut self, bytes: &[u8]) -> Result<(), String> {
        for field in fields("TypeMeta", bytes) {
            let field = field?;
            match field.number {
                1 => self.api_version = field.text("APIVersion")?,
                2 => self.kind = field.text("Kind")?,
                _ => {}
            }
        }
        Ok(())
    }
}
