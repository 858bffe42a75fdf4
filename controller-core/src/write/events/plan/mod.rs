//! A recorded event, and when → create, patch, count or drop.
//!
//! The rules of the recorder, and nothing else: no client, no clock, no waiting. What time
//! it is and what the server answered is passed in, so that every rule can be tested as a
//! table, hours of it in a microsecond. [`Correlator`] is the whole of it; client-go's name
//! for the same thing is `EventCorrelator`.
//!
//! Its three bounds are in `limits`: how many series are remembered, how many new events wait
//! for the server, and how many objects the spam filter remembers.
mod correlator;
mod event_name;
mod limits;
mod lines;
mod series;
mod series_key;
mod spam_filter;
#[cfg(test)]
mod tests;

pub(super) use correlator::{Correlator, Observed};
pub(super) use series::{Moment, Outcome, Repeats, Write, WriteKind};
pub(super) use series_key::{Recorded, SeriesKey};
pub use spam_filter::{SpamKey, SpamLimit};
