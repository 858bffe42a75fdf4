//! Faults that only a server that knows its own past can carry out.

/// A moment in a server's past, named by its resourceVersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Past {
    /// Just after the change with this resourceVersion.
    Revision(u64),
    /// So many revisions before the present, whatever the present is when the request arrives.
    Behind(u64),
}

/// What the layer asks of the server behind it.
///
/// It is in the extensions of a request that such a rule acted on, and of no other. The layer itself cannot
/// carry it out; a service that does not look for it behaves as if nothing were wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerFaults {
    /// Get, list and watch show the state as of then and nothing newer, as a stale endpoint does. Writes are
    /// not touched.
    pub answer_from: Option<Past>,
    /// Before it answers this request the server comes back from a backup that was made then: the state is
    /// as of then, resourceVersions count on from there, and open watches end.
    pub restore: Option<Past>,
}

// === impl Past ===

impl Past {
    /// The resourceVersion meant, seen from a server whose newest is `present`; never above `present`.
    #[must_use]
    pub fn revision(self, present: u64) -> u64 {
        match self {
            Self::Revision(revision) => revision.min(present),
            Self::Behind(revisions) => present.saturating_sub(revisions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_ends_at_the_present() {
        assert_eq!(Past::Revision(40).revision(50), 40);
        assert_eq!(Past::Revision(60).revision(50), 50);
        assert_eq!(Past::Behind(10).revision(50), 40);
        assert_eq!(Past::Behind(60).revision(50), 0);
    }
}
