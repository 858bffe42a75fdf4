use controller_core::client::ObjectKey;

/// Keys that were made before the clock runs. Adding one clones it, which copies a pointer
/// and counts a reference; the peer in Go copies two string headers.
pub(super) struct Keys {
    pub(super) keys: Vec<ObjectKey>,
    names: usize,
}

// === impl Keys ===

impl Keys {
    /// So many namespaces with so many names each, at most 10,000 of either.
    pub(super) fn new(namespaces: usize, names: usize) -> Self {
        let of_namespace = |namespace| {
            let namespace = format!("namespace-{namespace:04}");
            (0..names)
                .map(move |name| ObjectKey::namespaced(&namespace, format!("deployment-{name:04}")))
        };
        Self {
            keys: (0..namespaces).flat_map(of_namespace).collect(),
            names,
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.keys.len() as u64
    }

    /// How many names a namespace has.
    pub(super) fn names(&self) -> usize {
        self.names
    }
}

/// The place of a key among its [`Keys`]: a worker has to read a key to know it.
pub(super) fn place(key: &ObjectKey, names: usize) -> usize {
    number(key.namespace().unwrap_or_default()) * names + number(key.name())
}

/// The number that the last four digits make.
fn number(text: &str) -> usize {
    let digits = &text.as_bytes()[text.len().saturating_sub(4)..];
    digits.iter().fold(0, |number, digit| {
        number * 10 + usize::from(digit.wrapping_sub(b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_knows_its_place() {
        let keys = Keys::new(12, 30);
        assert_eq!(keys.count(), 360);
        for (at, key) in keys.keys.iter().enumerate() {
            assert_eq!(place(key, keys.names()), at);
        }
        assert_eq!(keys.keys[31].to_string(), "namespace-0001/deployment-0001");
    }
}
