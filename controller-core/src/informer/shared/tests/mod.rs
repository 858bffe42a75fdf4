//! An informer whose watch is the test itself, and what its handlers hear.
mod handlers;
mod log;
mod runs;
mod scene;
mod sequences;
mod slow;
mod stress;
mod sync;
mod transforms;
