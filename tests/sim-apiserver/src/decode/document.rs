//! A body that can be read, as far as that goes without knowing its type.

use serde_json::{Value, json};

use super::{MediaType, envelope::Envelope, json, message, yaml};
use crate::openapi::TypeName;

/// A body that can be read, and which kind of object it says it is.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// Empty where the body does not say it.
    pub(crate) api_version: String,
    pub(crate) kind: String,
    content: Content<'a>,
    twice: Vec<String>,
    media_type: MediaType,
}

#[derive(Debug)]
enum Content<'a> {
    Tree(Value),
    /// A Protobuf message: only its type tells what is in it.
    Message(&'a [u8]),
}

// === impl Document ===

impl<'a> Document<'a> {
    /// # Errors
    ///
    /// What the real server's decoder says.
    pub(crate) fn read(media_type: MediaType, body: &'a [u8]) -> Result<Self, String> {
        let (content, twice) = match media_type {
            MediaType::Protobuf => {
                let envelope = Envelope::read(body)?;
                return Ok(Self {
                    api_version: envelope.api_version,
                    kind: envelope.kind,
                    content: Content::Message(envelope.raw),
                    twice: Vec::new(),
                    media_type,
                });
            }
            MediaType::Json => (json::read(body)?, json::duplicate_fields(body)),
            MediaType::Yaml => yaml::read(body)?,
        };
        let [api_version, kind] = json::type_meta(&content)?;
        Ok(Self {
            api_version,
            kind,
            content: Content::Tree(content),
            twice,
            media_type,
        })
    }

    /// The object. `kind` is the type that it is expected to have; `None` for a custom resource.
    ///
    /// # Errors
    ///
    /// What the real server's decoder says.
    pub(crate) fn object(self, kind: Option<TypeName>) -> Result<Value, String> {
        match (self.content, kind) {
            (Content::Tree(value), _) => Ok(value),
            (Content::Message(raw), Some(kind)) => {
                let mut value = message::read(kind, raw)?;
                value["apiVersion"] = self.api_version.into();
                value["kind"] = self.kind.into();
                Ok(value)
            }
            (Content::Message(_), None) => Ok(json!({})),
        }
    }

    /// The fields that it has twice, in the words of a warning.
    pub(crate) fn twice(&self) -> &[String] {
        &self.twice
    }

    /// The same, in the words of a refusal: the YAML decoder's have one heading.
    pub(crate) fn refused_twice(&self) -> Vec<String> {
        match self.media_type {
            MediaType::Yaml if !self.twice.is_empty() => {
                let lines = self.twice.iter().map(|line| format!("\n  {line}"));
                vec![format!(
                    "yaml: unmarshal errors:{}",
                    lines.collect::<String>()
                )]
            }
            _ => self.twice.clone(),
        }
    }
}
