//! Kinds → OpenAPI documents, and the fields that an object may have.

mod conform;
mod document;

mod fields;
mod schema;
mod type_table;

pub(crate) use document::{Document, Documents};

pub(crate) use conform::conform;
pub(crate) use fields::{drop_unknown_fields, join};
pub(crate) use type_table::{Field, FieldNumber, Shape, TypeName, type_of};
