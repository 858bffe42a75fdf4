use hashbrown::{HashMap, HashSet};
use tokio::time::{Duration, Instant};

use super::reason::Reason;
use super::verdict::{Effect, Verdict};
use crate::client::ObjectKey;

/// The shortest time between two lines about one message.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Decides which failures are worth a line.
///
/// Grouped by message: the first object with it is told at once, the others are counted
/// and told together. An object is counted once for as long as it fails with the same
/// message, however often it is tried.
#[derive(Debug, Default)]
pub(super) struct FailureLog {
    groups: HashMap<String, Group>,
    /// The group of each object that is failing now.
    failing: HashMap<ObjectKey, String>,
}

/// A line that is due.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FailureLine {
    /// The verdict at hand is the first with its message.
    First,
    /// Some others failed with a message that was told before.
    Others {
        /// How many since that message's last line.
        count: usize,
        /// How many are failing with it now, told ones included.
        failing: usize,
        /// The newest of them.
        message: String,
    },
}

/// The objects that fail, or just failed, with one message.
#[derive(Debug)]
struct Group {
    failing: HashSet<ObjectKey>,
    /// How many joined since the last line.
    untold: usize,
    last_line: Instant,
}

// === impl FailureLog ===

impl FailureLog {
    /// Takes note of any verdict, for one that is no failure may end one.
    pub(super) fn note(&mut self, verdict: &Verdict, now: Instant) -> Option<FailureLine> {
        let message = match &verdict.effect {
            Effect::Failed(failure) => failure.message(),
            // Its turn has not come: nothing was tried, and what failed is not over.
            _ if matches!(verdict.reason, Reason::Budget { .. }) => return None,
            _ => {
                self.leave(&verdict.key);
                return None;
            }
        };
        let group = group_of(&message, verdict.key.name());
        if self.failing.get(&verdict.key) != Some(&group) {
            self.leave(&verdict.key);
            self.failing.insert(verdict.key.clone(), group.clone());
        }
        self.join(&group, &verdict.key, message, now)
    }

    fn join(
        &mut self,
        name: &str,
        key: &ObjectKey,
        message: String,
        now: Instant,
    ) -> Option<FailureLine> {
        let Some(group) = self.groups.get_mut(name) else {
            // A group outlives its last object until its next line would be due:
            // objects that fail and recover one after the other must not each be first.
            self.groups
                .retain(|_, group| !group.failing.is_empty() || !group.is_due(now));
            self.groups.insert(
                name.to_owned(),
                Group {
                    failing: HashSet::from_iter([key.clone()]),
                    untold: 0,
                    last_line: now,
                },
            );
            return Some(FailureLine::First);
        };
        if group.failing.insert(key.clone()) {
            group.untold += 1;
        }
        if group.untold == 0 || !group.is_due(now) {
            return None;
        }
        group.last_line = now;
        Some(FailureLine::Others {
            count: std::mem::take(&mut group.untold),
            failing: group.failing.len(),
            message,
        })
    }

    fn leave(&mut self, key: &ObjectKey) {
        let Some(name) = self.failing.remove(key) else {
            return;
        };
        if let Some(group) = self.groups.get_mut(&name) {
            group.failing.remove(key);
        }
    }
}

// === impl Group ===

impl Group {
    fn is_due(&self, now: Instant) -> bool {
        now.duration_since(self.last_line) >= BETWEEN_LINES
    }
}

/// The message without what differs from object to object and from try to try: the
/// object's name, and every word with a digit in it (request ids, versions, times).
fn group_of(message: &str, name: &str) -> String {
    let message = message.replace(&format!("\"{name}\""), "\"…\"");
    let mut group = String::with_capacity(message.len());
    for word in message.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let end = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        if end.contains(|c: char| c.is_ascii_digit()) {
            group.push('#');
            group.push_str(&word[end.len()..]);
        } else {
            group.push_str(word);
        }
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_blind_for_names_and_numbers() {
        let group = |name: &str, id: &str| {
            group_of(
                &format!("deployments.apps \"{name}\" is forbidden (request {id})"),
                name,
            )
        };
        insta::assert_snapshot!(
            group("web-1", "7f3a-22-01"),
            @r#"deployments.apps "…" is forbidden (request #-#-#)"#
        );
        assert_eq!(group("web", "77-22-01"), group("api", "11-0-99"));
        assert_ne!(group_of("quota exceeded", "web"), group_of("denied", "web"));
    }
}
