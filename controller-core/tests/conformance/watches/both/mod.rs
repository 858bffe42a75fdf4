//! What a real server can be made to do, too.

mod crowds;
mod denied;
mod errors;
mod refused;
mod versions;
mod waits;
