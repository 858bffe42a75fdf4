//! A stretch of keys: a namespace or all, from some key on.

use std::ops::{Bound, RangeBounds};

/// Keys in a row. It never ends before it starts: a map may be asked for it as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyRange {
    start: String,
    /// The first key behind it.
    end: Option<String>,
}

// === impl KeyRange ===

impl KeyRange {
    /// The keys of a namespace, or of all, from a key on (inclusive).
    pub(super) fn new(namespace: Option<&str>, from: Option<&str>) -> Self {
        let from = from.unwrap_or_default();
        let Some(namespace) = namespace else {
            return Self {
                start: from.to_owned(),
                end: None,
            };
        };
        let first = format!("{namespace}/");
        // The character behind the slash.
        let end = format!("{namespace}0");
        let start = first.as_str().max(from).min(&end).to_owned();
        Self {
            start,
            end: Some(end),
        }
    }

    /// The part of it behind a key.
    pub(super) fn behind(mut self, key: &str) -> Self {
        let next = format!("{key}\0");
        let end = self.end.as_deref().unwrap_or(&next);
        self.start = self.start.as_str().max(&next).min(end).to_owned();
        self
    }
}

impl RangeBounds<str> for KeyRange {
    fn start_bound(&self) -> Bound<&str> {
        Bound::Included(&self.start)
    }

    fn end_bound(&self) -> Bound<&str> {
        self.end
            .as_deref()
            .map_or(Bound::Unbounded, Bound::Excluded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(range: &KeyRange, keys: &[&str]) -> Vec<bool> {
        keys.iter().map(|key| range.contains(*key)).collect()
    }

    #[test]
    fn a_namespace_ends_before_its_neighbours() {
        let shop = KeyRange::new(Some("shop"), None);
        let keys = ["shop", "shop-2/a", "shop/a", "shop/z", "shop0", "shop1/a"];
        assert_eq!(
            contains(&shop, &keys),
            [false, false, true, true, false, false]
        );
        let from = KeyRange::new(Some("shop"), Some("shop/b"));
        assert_eq!(
            contains(&from, &["shop/a", "shop/b", "shop/c"]),
            [false, true, true]
        );
        assert_eq!(
            contains(&from.behind("shop/b"), &["shop/b", "shop/b1", "shop0"]),
            [false, true, false]
        );
    }

    /// A map panics when it is asked for a stretch that ends before it starts.
    #[test]
    fn a_start_in_another_namespace_leaves_nothing() {
        for from in ["zoo/a", "shop0"] {
            let nothing = KeyRange::new(Some("shop"), Some(from));
            assert_eq!(
                contains(&nothing, &["shop/a", "zoo/a", "zoo/b"]),
                [false; 3]
            );
            let mut map = std::collections::BTreeMap::from([("shop/a".to_owned(), 1)]);
            map.insert("zoo/a".to_owned(), 2);
            assert_eq!(map.range::<str, _>(nothing.behind("zoo/b")).count(), 0);
        }
        let before = KeyRange::new(Some("shop"), Some("a/a"));
        assert_eq!(before, KeyRange::new(Some("shop"), None));
    }
}
