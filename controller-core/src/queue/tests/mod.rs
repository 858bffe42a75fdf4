//! The rules of the queue, held against a naive model.
mod model;
mod properties;
