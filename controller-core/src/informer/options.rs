use crate::store::IndexFunction;
use crate::watch::{Object, WatchOptions};

/// What a [`SharedInformer`](super::SharedInformer) watches and how it keeps it.
///
/// ```
/// use controller_core::client::Scope;
/// use controller_core::informer::InformerOptions;
/// use controller_core::watch::WatchOptions;
/// use k8s_openapi::api::core::v1::Pod;
///
/// let by_node = |pod: &Pod| -> Vec<String> {
///     let spec = pod.spec.as_ref();
///     spec.and_then(|spec| spec.node_name.clone()).into_iter().collect()
/// };
/// let options = InformerOptions::new(WatchOptions::new(Scope::All)).index("node", by_node);
/// ```
///
/// An index costs a look-up by value instead of a scan over all objects, for one pointer and
/// the value's text an object. Two hundred Pods need none; "which Pods run on this node",
/// asked for each of a thousand nodes, does.
pub struct InformerOptions<T> {
    pub(super) watch: WatchOptions,
    /// Beside the namespace index, which is always there. Of two with one name the last wins.
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

    /// Sets how many changes wait for a handler one by one, at least one.
    ///
    /// It is seldom worth setting. A handler that only enqueues needs none of it, and one
    /// that is slow gets the net change either way. A small buffer is good in a test that
    /// wants to see merging.
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
