//! Back to an earlier revision, for good: etcd restored from a snapshot.

use super::{State, state::FIRST_REVISION};

/// Why a server was not restored; it then goes on as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// Changes since that revision are no longer kept; see [`Builder::history`](crate::Builder::history).
    #[error("cannot restore revision {asked}: the history reaches back to {oldest} only")]
    TooOld {
        /// The wanted revision.
        asked: u64,
        /// The oldest that could be restored.
        oldest: u64,
    },
    /// That revision is still to come.
    #[error("cannot restore revision {asked}: the newest is {newest}")]
    ToCome {
        /// The wanted revision.
        asked: u64,
        /// The newest revision there is.
        newest: u64,
    },
}

// === impl State ===

impl State {
    /// Makes every kind what it was at `revision`; the next change gets the one after it. Open watches end.
    ///
    /// What came before that revision stays known, as in etcd's snapshot: pages of lists from before go on. But
    /// a watch cache begins anew: watches from an older revision are expired.
    pub(crate) fn restore(&mut self, revision: u64) -> Result<(), RestoreError> {
        let (asked, newest) = (revision, self.revision());
        if revision > newest {
            return Err(RestoreError::ToCome { asked, newest });
        }
        let compacted = self.tables().map(|table| table.history.compacted()).max();
        let oldest = compacted.unwrap_or_default().max(FIRST_REVISION);
        if revision < oldest {
            return Err(RestoreError::TooOld { asked, oldest });
        }
        for table in self.tables_mut() {
            for change in table.history.restore(revision) {
                let Some(key) = change.key() else { continue };
                match &change.old {
                    Some(old) => table.objects.insert(key.clone(), old.clone()),
                    None => table.objects.remove(key),
                };
            }
        }
        self.begin_anew_at(revision);
        Ok(())
    }
}
