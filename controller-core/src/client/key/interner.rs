use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use hashbrown::HashSet;
use parking_lot::Mutex;

/// The name of a namespace, of which there is one copy in the process. A pointer to one is a
/// thin pointer, which makes every key smaller.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Namespace(Box<str>);

/// A namespace as a set can look for it by its name.
#[derive(Debug, PartialEq, Eq)]
struct Interned(Arc<Namespace>);

/// The namespaces that are in use, each once. For the whole process: an object that is being
/// decoded knows of no other place to ask.
static NAMESPACES: LazyLock<Mutex<Interner>> = LazyLock::new(Mutex::default);

thread_local! {
    /// What this thread asked for last. A list is sorted by namespace, so that nearly all of
    /// its keys are made without the lock.
    static LAST: RefCell<Option<Arc<Namespace>>> = const { RefCell::new(None) };
}

#[derive(Debug, Default)]
struct Interner {
    names: HashSet<Interned>,
    /// The size at which names that nobody uses are looked for.
    sweep_at: usize,
}

/// The one copy of this namespace's name.
pub(super) fn namespace(name: &str) -> Arc<Namespace> {
    let known = LAST.try_with(|last| {
        let last = last.borrow();
        last.as_ref().filter(|last| last.as_str() == name).cloned()
    });
    // An error is a thread that ends, and drops something that makes a key.
    if let Ok(Some(known)) = known {
        return known;
    }
    let found = NAMESPACES.lock().intern(name);
    // As above: then there is nothing to remember it for.
    let _ = LAST.try_with(|last| last.replace(Some(Arc::clone(&found))));
    found
}

// === impl Namespace ===

impl Namespace {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

// === impl Interned ===

impl Borrow<str> for Interned {
    fn borrow(&self) -> &str {
        self.0.as_str()
    }
}

impl Hash for Interned {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_str().hash(state);
    }
}

// === impl Interner ===

impl Interner {
    /// Below it nothing is looked for.
    const FEW: usize = 64;

    fn intern(&mut self, name: &str) -> Arc<Namespace> {
        if let Some(Interned(known)) = self.names.get(name) {
            return Arc::clone(known);
        }
        self.sweep();
        let new = Arc::new(Namespace(name.into()));
        self.names.insert(Interned(Arc::clone(&new)));
        new
    }

    /// Namespaces come and go, in a cluster with one for each pull request by the thousand.
    fn sweep(&mut self) {
        if self.names.len() < self.sweep_at.max(Self::FEW) {
            return;
        }
        // One reference is ours. Nobody can take another while this is locked.
        self.names.retain(|name| Arc::strong_count(&name.0) > 1);
        self.sweep_at = self.names.len() * 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_copy_of_a_name_serves_all_threads() {
        let names = ["red", "green", "blue"];
        let mut all: Vec<Vec<Arc<Namespace>>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| names.map(namespace).to_vec()))
                .collect();
            let results = threads.into_iter().map(|thread| thread.join().unwrap());
            results.collect()
        });
        let first = all.pop().unwrap();
        for other in all {
            let mut pairs = first.iter().zip(&other);
            assert!(pairs.all(|(a, b)| Arc::ptr_eq(a, b)));
        }
    }

    #[test]
    fn what_nobody_uses_is_let_go() {
        let mut interner = Interner::default();
        let used = interner.intern("used");
        let mut most = 0;
        for index in 0..10_000 {
            interner.intern(&format!("preview-{index}"));
            most = most.max(interner.names.len());
        }
        assert!(most <= Interner::FEW, "{most}");
        assert!(Arc::ptr_eq(&used, &interner.intern("used")));
    }
}
