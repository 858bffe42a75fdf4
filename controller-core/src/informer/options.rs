use std::time::Duration;

use super::transform::{Transform, TransformError};
use crate::store::{IndexFunction, LabelNotKept};
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
    pub(super) transform: Option<Transform<T>>,
    pub(super) stop_within: Duration,
}

// === impl InformerOptions ===

impl<T: Object> InformerOptions<T> {
    /// How many changes wait for a slow handler one by one before they are merged by key.
    pub const BUFFER: usize = 1024;

    /// How long the end of a run waits for the calls of handlers.
    pub const STOP_WITHIN: Duration = Duration::from_secs(10);

    /// Watches what `watch` selects, with the namespace index only.
    pub fn new(watch: WatchOptions) -> Self {
        Self {
            watch,
            indexes: Vec::new(),
            buffer: Self::BUFFER,
            transform: None,
            stop_within: Self::STOP_WITHIN,
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

    /// Adds an index of the label `key`, under the name of that key: what has `tier=web` is
    /// then found by `lister.by_index("tier", "web")`, however many objects there are.
    ///
    /// # Errors
    ///
    /// If `T` does not keep that label.
    pub fn index_by_label(self, key: &'static str) -> Result<Self, LabelNotKept> {
        LabelNotKept::check::<T>(key)?;
        Ok(self.index(key, move |object| {
            object.label(key).map(str::to_owned).into_iter().collect()
        }))
    }

    /// Sets what is done to each object before it is cached: fields that nobody reads are
    /// dropped, names are made comparable. A second call replaces the first.
    ///
    /// It is called exactly once for each object that was decoded, also for the last state of
    /// one that is deleted, and never for a resync or a tombstone. client-go may call it more
    /// than once for one object, so that there it has to be idempotent.
    ///
    /// ```
    /// use controller_core::client::Scope;
    /// use controller_core::informer::InformerOptions;
    /// use controller_core::watch::WatchOptions;
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// let options = InformerOptions::new(WatchOptions::new(Scope::All)).transform(|mut pod: Pod| {
    ///     pod.metadata.managed_fields = None; // often a third of an object
    ///     Ok(pod)
    /// });
    /// ```
    ///
    /// An object that it refuses, panics on, or gives another key, uid or version is treated
    /// as one that cannot be read: the copy in the cache stays and is marked, see
    /// [`Lister::quarantine`](crate::store::Lister::quarantine). If it was the news of a
    /// deletion the object goes all the same, with a tombstone. client-go drops the object in
    /// silence.
    ///
    /// The dangerous mistake is to use it to save memory where a projection would do: it sees
    /// whole objects, which have been decoded and allocated by then. A projection never
    /// allocates what it does not keep, see [`Object`].
    #[must_use]
    pub fn transform(
        mut self,
        function: impl Fn(T) -> Result<T, TransformError> + Send + Sync + 'static,
    ) -> Self {
        self.transform = Some(Transform::new(function));
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

    /// Sets for how long the end of a run waits for handlers' calls that are under way.
    ///
    /// A call that hangs cannot be ended from outside. Past this time it is reported and left
    /// behind, so that one handler cannot keep a program from ending. It goes on for as long
    /// as it hangs, and its handler hears nothing else meanwhile, also not in a next run.
    #[must_use]
    pub fn stop_within(mut self, time: Duration) -> Self {
        self.stop_within = time;
        self
    }
}

impl<T> std::fmt::Debug for InformerOptions<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InformerOptions")
            .field("watch", &self.watch)
            .field("buffer", &self.buffer)
            .field("transform", &self.transform.is_some())
            .field("stop_within", &self.stop_within)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::client::Scope;
    use crate::store::cache;
    use crate::watch::WatchEvent;
    use crate::watch::testing::Widget;

    #[test]
    fn a_label_is_an_index_if_the_type_keeps_it() {
        let options = || WatchOptions::new(Scope::All);
        let refused = InformerOptions::<Widget>::new(options()).index_by_label("tier");
        assert_eq!(refused.unwrap_err().label, "tier");

        let options = InformerOptions::new(options()).index_by_label("tier");
        let (mut writer, lister) = cache::<ConfigMap>(options.unwrap().indexes);
        for (name, labels) in [("a", r#"{"tier": "web"}"#), ("b", "{}")] {
            let json = format!(r#"{{"metadata": {{"name": "{name}", "labels": {labels}}}}}"#);
            writer.apply(WatchEvent::Added(serde_json::from_str(&json).unwrap()));
        }
        assert_eq!(lister.by_index("tier", "web").unwrap().len(), 1);
        assert_eq!(lister.index_values("tier").unwrap(), ["web"]);
    }
}
