//! What the process and its threads use, as Linux tells.

use std::{fs, time::Duration};

const PAGE: u64 = 4096;

/// A thread of this process, to be asked from another one.
pub(crate) struct Thread(String);

/// The resident memory of this process in bytes.
pub(crate) fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * PAGE
}

impl Thread {
    /// The thread that calls.
    pub(crate) fn current() -> Self {
        let link = fs::read_link("/proc/thread-self").unwrap();
        Self(format!("/proc/{}/schedstat", link.display()))
    }

    /// How long it was on a processor.
    pub(crate) fn busy(&self) -> Duration {
        let schedstat = fs::read_to_string(&self.0).unwrap();
        let nanoseconds = schedstat.split(' ').next().unwrap();
        Duration::from_nanos(nanoseconds.parse().unwrap())
    }
}
