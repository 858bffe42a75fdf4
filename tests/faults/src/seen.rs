//! The requests that a test wants to look at.

use std::sync::Arc;

use tokio::{sync::watch, time::Instant};

use crate::RequestInfo;

/// A request that the layer was given, whatever became of it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When, by tokio's clock.
    pub at: Instant,
    /// What it asked for.
    pub info: RequestInfo,
    /// When its answer had been sent to the end, or its client was gone. `None` while it is under way.
    pub ended: Option<Instant>,
}

/// Those that were kept; nothing is kept before it is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<watch::Sender<Option<Vec<Seen>>>>);

/// A request whose end is to be noted: when this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay {
    kept: Kept,
    index: usize,
}

// === impl Kept ===

impl Kept {
    pub(crate) fn begin(&self) {
        self.0.send_modify(|seen| {
            seen.get_or_insert_default();
        });
    }

    pub(crate) fn all(&self) -> Vec<Seen> {
        self.0.borrow().clone().unwrap_or_default()
    }

    pub(crate) async fn until(&self, enough: impl Fn(&[Seen]) -> bool) -> Vec<Seen> {
        let mut seen = self.0.subscribe();
        let seen = seen
            .wait_for(|seen| {
                enough(
                    seen.as_deref()
                        .expect("invariant: requests are kept before they are waited for"),
                )
            })
            .await;
        let seen = seen.expect("invariant: the sender is here");
        seen.clone().unwrap_or_default()
    }

    pub(crate) fn note(&self, info: &RequestInfo) -> Option<UnderWay> {
        let mut index = None;
        self.0.send_if_modified(|seen| {
            let Some(seen) = seen else {
                return false;
            };
            index = Some(seen.len());
            seen.push(Seen {
                at: Instant::now(),
                info: info.clone(),
                ended: None,
            });
            true
        });
        let kept = self.clone();
        index.map(|index| UnderWay { kept, index })
    }
}

// === impl UnderWay ===

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.kept.0.send_modify(|seen| {
            let seen = seen.as_mut().and_then(|seen| seen.get_mut(self.index));
            if let Some(seen) = seen {
                seen.ended = Some(Instant::now());
            }
        });
    }
}
