use hashbrown::HashSet;

use crate::client::ObjectKey;
use crate::watch::Unreadable;

/// Tells once of each object that cannot be read, until it can be read again or is gone.
///
/// An object that cannot be read may change every second, and a gateway's page in place of
/// a watch is a hundred lines of garbage: one line in the log each would bury all others.
/// The [counts](crate::store::CacheCounts::unreadable) count them all.
#[derive(Debug, Default)]
pub(super) struct UnreadableLog {
    told: HashSet<ObjectKey>,
    /// Told of something that had not even a key, since the last list.
    told_keyless: bool,
}

// === impl UnreadableLog ===

impl UnreadableLog {
    pub(super) fn note(&mut self, unreadable: &Unreadable) {
        let error = &unreadable.error;
        let key = unreadable.key.as_ref().map(ToString::to_string);
        if self.is_news(unreadable.key.as_ref()) {
            tracing::warn!(key, error, "unreadable object; its last known copy stays");
        } else {
            tracing::debug!(key, error, "object is still unreadable");
        }
    }

    /// The object could be read, or is gone.
    pub(super) fn forget(&mut self, key: &ObjectKey) {
        // Nearly always empty: no hash for every event.
        if !self.told.is_empty() {
            self.told.remove(key);
        }
    }

    /// A list is complete: what it could read, or did not bring, is told of anew.
    pub(super) fn keep_only(&mut self, unreadable: impl Fn(&ObjectKey) -> bool) {
        self.told.retain(|key| unreadable(key));
        self.told_keyless = false;
    }

    fn is_news(&mut self, key: Option<&ObjectKey>) -> bool {
        match key {
            Some(key) => self.told.insert(key.clone()),
            None => !std::mem::replace(&mut self.told_keyless, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_told_of_once_until_it_can_be_read() {
        let mut log = UnreadableLog::default();
        let (a, b) = (ObjectKey::cluster("a"), ObjectKey::cluster("b"));
        assert!(log.is_news(Some(&a)) && log.is_news(Some(&b)));
        assert!(!log.is_news(Some(&a)));
        log.forget(&a);
        assert!(log.is_news(Some(&a)) && !log.is_news(Some(&b)));
        log.keep_only(|key| *key == a);
        assert!(!log.is_news(Some(&a)) && log.is_news(Some(&b)));
    }

    #[test]
    fn garbage_without_a_key_is_told_of_once_between_two_lists() {
        let mut log = UnreadableLog::default();
        assert!(log.is_news(None) && !log.is_news(None));
        log.keep_only(|_| false);
        assert!(log.is_news(None));
    }
}
