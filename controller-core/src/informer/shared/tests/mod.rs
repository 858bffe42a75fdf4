//! An informer whose watch is the test itself, and what its handlers hear.
mod handlers;
mod scene;
mod transforms;
