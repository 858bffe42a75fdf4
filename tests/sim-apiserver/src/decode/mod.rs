//! A body's bytes → a tree of JSON.
//!
//! JSON, YAML and Protobuf, with the complaints of the real server's decoders. What stands in the tree is not
//! looked at here: that is [`conform`](crate::openapi::conform)'s work.

mod document;
mod duplicates;
mod envelope;
mod json;
mod media_type;
mod message;
mod scalar;
mod wire;
mod yaml;

pub(crate) use document::Document;
pub(crate) use json::{duplicate_fields, found};
pub(crate) use media_type::MediaType;
