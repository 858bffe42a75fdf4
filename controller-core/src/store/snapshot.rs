use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::select::SelectorOf;
use crate::watch::Object;

/// All objects of a cache at one moment, in no particular order.
///
/// Several reads of a [`Lister`](super::Lister) are several moments. Here is one, with the
/// version that it had. While nothing changes, every snapshot is the same list: taking one
/// costs a reference count. After a change the next one copies a pointer for each object.
///
/// ```
/// use controller_core::store::{SelectorOf, cache};
/// use controller_core::watch::WatchEvent;
/// use k8s_openapi::api::core::v1::ConfigMap;
///
/// let (mut writer, lister) = cache::<ConfigMap>(Vec::new());
/// writer.apply(WatchEvent::Added(serde_json::from_str(r#"{"metadata": {
///     "name": "colours", "namespace": "shop", "uid": "u1", "resourceVersion": "4"
/// }}"#)?));
/// let then = lister.snapshot();
/// writer.apply(WatchEvent::Bookmark { resource_version: "9".into() });
///
/// assert_eq!((then.len(), then.resource_version()), (1, Some("4")));
/// assert_eq!(lister.resource_version().as_deref(), Some("9"));
/// assert_eq!(then.select(Some("shop"), &SelectorOf::everything()).count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The dangerous mistake is to keep one: it holds every object that it shows, long after the
/// cache has let go of them.
pub struct Snapshot<T> {
    objects: Arc<Vec<Arc<T>>>,
    resource_version: Option<Box<str>>,
}

// === impl Snapshot ===

impl<T> Snapshot<T> {
    pub(super) fn new(objects: Arc<Vec<Arc<T>>>, resource_version: Option<&str>) -> Self {
        Self {
            objects,
            resource_version: resource_version.map(Box::from),
        }
    }

    /// The version that the cache had, `None` before the first list.
    pub fn resource_version(&self) -> Option<&str> {
        self.resource_version.as_deref()
    }
}

impl<T: Object> Snapshot<T> {
    /// The objects of `namespace`, or of all namespaces, that `selector` selects. It looks at
    /// each object: nothing is indexed here.
    pub fn select(
        &self,
        namespace: Option<&str>,
        selector: &SelectorOf<T>,
    ) -> impl Iterator<Item = &Arc<T>> {
        self.iter().filter(move |object| {
            namespace.is_none_or(|wanted| object.key().namespace() == Some(wanted))
                && selector.matches(object)
        })
    }
}

impl<T> Deref for Snapshot<T> {
    type Target = [Arc<T>];

    fn deref(&self) -> &[Arc<T>] {
        &self.objects
    }
}

impl<T> Clone for Snapshot<T> {
    fn clone(&self) -> Self {
        Self {
            objects: Arc::clone(&self.objects),
            resource_version: self.resource_version.clone(),
        }
    }
}

impl<T> fmt::Debug for Snapshot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("len", &self.len())
            .field("resource_version", &self.resource_version)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
