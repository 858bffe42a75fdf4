//! What is expected of requests, as [`Server::asked`](crate::server::Server::asked) tells them.

use controller_core::watch::Streaming;

use crate::time::is_real;

/// The first list, in whichever way it is read.
pub(crate) fn first_list(streaming: Streaming) -> String {
    match streaming {
        Streaming::Auto => "stream rv=".to_owned(),
        Streaming::Never => "list rv=0 limit=500".to_owned(),
    }
}

/// A later list: nothing older than what was seen.
pub(crate) fn later_list(streaming: Streaming, version: &str) -> String {
    match streaming {
        Streaming::Auto => format!("stream rv={version}"),
        Streaming::Never => format!("list rv={version}"),
    }
}

pub(crate) fn plain_watch(version: &str) -> String {
    format!("watch rv={version}")
}

/// All of a list and its watch: so many requests.
pub(crate) fn of_list_and_watch(streaming: Streaming) -> usize {
    match streaming {
        Streaming::Auto => 1,
        Streaming::Never => 2,
    }
}

/// Fails unless the pauses are those of a backoff with these floors.
pub(crate) fn assert_waits(pauses: &[f64], floors: &[f64]) {
    assert_eq!(pauses.len(), floors.len());
    // Timers are rounded up to the next millisecond; a real server takes its time.
    let slack = if is_real() { 1.0 } else { 0.005 };
    for (pause, floor) in pauses.iter().zip(floors) {
        let expected = *floor..floor * 2.0 + slack;
        assert!(expected.contains(pause), "{pause} of {pauses:?}");
    }
}

/// Fails if there was a pause.
pub(crate) fn assert_at_once(pause: f64) {
    let slack = if is_real() { 0.6 } else { 0.005 };
    assert!(pause < slack, "{pause}");
}
