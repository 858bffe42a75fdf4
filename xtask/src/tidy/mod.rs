//! `cargo xtask tidy`: the rules of the code base that no compiler checks.
//!
//! One file a check, each a function from the [`Tree`] to its [`Findings`]. A check works
//! on parsed Rust wherever a text search could be fooled by a string or a comment.
mod banned_words;
mod checks;
mod code_map;
mod conformance;
mod doc_share;
mod file_order;
mod file_sizes;
mod findings;
mod imports;
mod mod_files;
mod module_names;
mod mutating_verbs;
mod prints;
mod pure_plans;
mod rust_file;
mod tokens;
mod top_level;
mod tree;
mod unwraps;

pub(crate) use checks::run;
use findings::Findings;
use rust_file::RustFile;
use tokens::Token;
use tree::{SourceFile, Tree};
