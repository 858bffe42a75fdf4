use controller_core::client::ObjectKey;
use controller_core::queue::WorkQueue;

use super::error::{QueueError, expect};
use super::keys::{Keys, place};

/// What one worker was served, or several.
pub(super) struct Tally {
    names: usize,
    served: u64,
    seen: Vec<bool>,
}

// === impl Tally ===

impl Tally {
    pub(super) fn new(keys: &Keys) -> Self {
        Self {
            names: keys.names(),
            served: 0,
            seen: vec![false; keys.keys.len()],
        }
    }

    pub(super) fn count(&mut self, key: &ObjectKey) {
        self.served += 1;
        self.seen[place(key, self.names)] = true;
    }

    /// Adds what another worker was served.
    pub(super) fn merge(&mut self, other: &Self) {
        self.served += other.served;
        for (mine, theirs) in self.seen.iter_mut().zip(&other.seen) {
            *mine |= theirs;
        }
    }

    /// Was every key served?
    pub(super) fn expect_all(&self) -> Result<(), QueueError> {
        let distinct = self.seen.iter().filter(|seen| **seen).count();
        expect("distinct keys", distinct as u64, self.seen.len() as u64)
    }

    /// Was every key served, and none twice?
    pub(super) fn expect_each_once(&self) -> Result<(), QueueError> {
        self.expect_all()?;
        expect("keys served", self.served, self.seen.len() as u64)
    }
}

/// Closes the queue, serves what is in line, and checks that it is each key once.
pub(super) async fn expect_each_once_in_line(
    queue: &WorkQueue<ObjectKey>,
    keys: &Keys,
) -> Result<(), QueueError> {
    expect("keys in line", queue.len() as u64, keys.count())?;
    queue.shut_down();
    let mut tally = Tally::new(keys);
    while let Some(ticket) = queue.get().await {
        tally.count(&ticket);
    }
    tally.expect_each_once()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lost_key_is_found() {
        let keys = Keys::new(2, 3);
        let queue = WorkQueue::new("race");
        for key in &keys.keys[1..] {
            queue.add(key.clone());
        }
        let error = expect_each_once_in_line(&queue, &keys).await.unwrap_err();
        assert_eq!(error.to_string(), "keys in line: 5 instead of 6");
    }

    #[test]
    fn a_key_in_place_of_another_and_one_too_many_are_found() {
        let keys = Keys::new(1, 2);
        let (mut first, mut second) = (Tally::new(&keys), Tally::new(&keys));
        first.count(&keys.keys[0]);
        second.count(&keys.keys[0]);
        first.merge(&second);
        let error = first.expect_each_once().unwrap_err();
        assert_eq!(error.to_string(), "distinct keys: 1 instead of 2");

        first.count(&keys.keys[1]);
        assert!(first.expect_all().is_ok());
        let error = first.expect_each_once().unwrap_err();
        assert_eq!(error.to_string(), "keys served: 3 instead of 2");
    }
}
