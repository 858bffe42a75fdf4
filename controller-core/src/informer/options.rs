use crate::store::IndexFunction;
use crate::watch::{Object, WatchOptions};

/// What a [`SharedInformer`](super::SharedInformer) watches and how it keeps it.
pub struct InformerOptions<T> {
    pub(super) watch: WatchOptions,
    pub(super) indexes: Vec<(&'static str, IndexFunction<T>)>,
    pub(super) buffer: usize,
}

// === impl InformerOptions ===

impl<T: Object> InformerOptions<T> {
    /// How many changes wait for a slow handler one by one before they are merged by key.
    pub const BUFFER: usize = 1024;

    /// Watches what `watch` selects, with the namespace index only.
    pub fn new(watch: WatchOptions) -> Self {
        Self {
            watch,
            indexes: Vec::new(),
            buffer: Self::BUFFER,
        }
    }

    /// Adds an index. The function is pure and quick; a panic in it leaves the object out
    /// of this index and is counted.
    #[must_use]
    pub fn index(
        mut self,
        name: &'static str,
        function: impl Fn(&T) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.indexes.push((name, Box::new(function)));
        self
    }

    /// Sets how many changes wait for a handler one by one.
    #[must_use]
    pub fn buffer(mut self, entries: usize) -> Self {
        self.buffer = entries;
        self
    }
}

impl<T> std::fmt::Debug for InformerOptions<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InformerOptions")
            .field("watch", &self.watch)
            .field("buffer", &self.buffer)
            .finish_non_exhaustive()
    }
}
