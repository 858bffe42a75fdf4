//! Kinds → OpenAPI documents, and the fields that an object may have.

mod document;
mod duplicates;
mod fields;
mod schema;
mod type_table;

pub(crate) use document::{Document, Documents};
pub(crate) use duplicates::duplicate_fields;
pub(crate) use fields::drop_unknown_fields;
pub(crate) use type_table::{TypeName, type_of};
