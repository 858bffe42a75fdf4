//! In which form a body came.

/// The forms in which the server takes objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaType {
    Json,
    Yaml,
    Protobuf,
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

// === impl MediaType ===

impl MediaType {
    /// Reads a content type without its parameters; none at all means JSON.
    ///
    /// Protobuf needs to be told about every type: a custom resource is not taken in it.
    ///
    /// # Errors
    ///
    /// The forms that are taken.
    pub(crate) fn parse(
        content_type: &str,
        built_in: bool,
    ) -> Result<Self, &'static [&'static str]> {
        match content_type {
            "" | JSON => Ok(Self::Json),
            YAML => Ok(Self::Yaml),
            PROTOBUF if built_in => Ok(Self::Protobuf),
            _ if built_in => Err(&[JSON, YAML, PROTOBUF]),
            _ => Err(&[JSON, YAML]),
        }
    }
}
