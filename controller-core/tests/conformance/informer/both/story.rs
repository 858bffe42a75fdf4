use std::time::Duration;

use controller_core::watch::Streaming;
use sim_apiserver::faults::{Action, Rule};

use crate::server::{Server, first_watch, lists};
use crate::watch_of::Informed;

/// What is done to the ConfigMaps of a server.
pub(super) enum Step {
    Put(&'static str, &'static str),
    Delete(&'static str),
}

/// What one handler hears of all of it.
pub(super) struct Story {
    /// What the first list brings.
    pub(super) known: &'static [(&'static str, &'static str)],
    /// What the first watch brings. Then its version expires.
    pub(super) seen: &'static [Step],
    /// What happens before the second list is answered.
    pub(super) missed: &'static [Step],
}

/// So long the second list is late, for those who make the changes that it is to bring.
const LATE: Duration = Duration::from_secs(3);
/// An object after everything else.
const LAST: &str = "the-last";

// === impl Story ===

impl Story {
    /// Like `added foo 10`, in order.
    pub(super) async fn heard(&self, streaming: Streaming) -> Vec<String> {
        let server = Server::start().await;
        for (name, value) in self.known {
            server.put(name, value).await;
        }
        let (known, seen) = (self.known.len() as u64, self.seen.len() as u64);
        let expired = Action::expired_in_stream;
        server
            .faults()
            .add(first_watch(streaming, known, seen, expired));
        let late = Rule::new(Action::Delay(LATE));
        server.faults().add(lists(streaming, late).attempts(2));

        let informed = Informed::start(&server, server.options(streaming));
        assert!(informed.registration.synced().await);
        for step in self.seen {
            step.take(&server).await;
        }
        server.asked_until(second_list(streaming)).await;
        for step in self.missed {
            step.take(&server).await;
        }
        informed.status_until(|now| now.lists >= 2).await;
        server.put(LAST, "").await;
        let is_last = |name: &str| name == LAST;
        let notes = informed
            .heard
            .until_notes(|notes| notes.iter().any(|note| is_last(&note.name)))
            .await;
        informed.stop().await;
        server.stop().await;
        let words = notes
            .iter()
            .take_while(|note| !is_last(&note.name))
            .map(|note| format!("{} {}", note.words(), note.value));
        words.collect()
    }
}

/// Which request it is, where the watch before it expires.
fn second_list(streaming: Streaming) -> usize {
    match streaming {
        Streaming::Auto => 2,
        Streaming::Never => 3,
    }
}

// === impl Step ===

impl Step {
    async fn take(&self, server: &Server) {
        match self {
            Self::Put(name, value) => drop(server.put(name, value).await),
            Self::Delete(name) => server.delete(name).await,
        }
    }
}
