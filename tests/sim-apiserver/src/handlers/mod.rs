//! HTTP request → answer.
//!
//! Every handler is synchronous: it reads or writes the store under its lock and returns. What takes time (a
//! watch, a long list) happens in the answer's body.

mod api;
mod call;
mod create;
mod delete;
mod discovery;
mod expected;
mod field_validation;
mod openapi;
mod options;
mod past;
mod read;
mod review;
mod scale;
mod update;

pub(crate) use api::{Api, Shared};
