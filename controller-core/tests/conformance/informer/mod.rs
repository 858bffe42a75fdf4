//! Rows about informers: what handlers hear, in which order, and what the cache says meanwhile.
mod bed;
mod both;
mod churn;
mod ends;
mod handlers;
mod heard;
mod lines;
mod panics;
mod relists;
mod resyncs;
mod slow;
mod unreadable;
