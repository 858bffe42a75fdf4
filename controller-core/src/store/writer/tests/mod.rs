//! Events in, changes out.
mod histories;
mod indexes;
mod lines;
mod lists;
mod scene;
mod sequences;
mod unreadable;
