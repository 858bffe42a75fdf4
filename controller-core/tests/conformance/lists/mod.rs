//! Streamed lists, lists in pages, and what a list does not bring.

mod bad_items;
mod both;
mod patience;
mod queries;
mod streaming;
