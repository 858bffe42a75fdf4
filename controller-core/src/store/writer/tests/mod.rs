//! Events in, changes out.
mod indexes;
mod lines;
mod lists;
mod scene;
mod sequences;
mod unreadable;
