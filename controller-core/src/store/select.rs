use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use crate::watch::{LabelSelector, Object};

/// A label selector that a cache of `T` can answer: it asks only for labels that `T` keeps.
///
/// Make it where the controller is put together, beside the informer. A projection that does
/// not keep a label would answer as if no object had it: `tier=web` would find nothing for
/// ever, and `!legacy` everything. Here that is an error before anything runs.
///
/// ```
/// use controller_core::controllers::min_replicas::Deployment;
/// use controller_core::store::{SelectorOf, cache};
/// use controller_core::watch::WatchEvent;
///
/// let web = SelectorOf::<Deployment>::new("tier=web".parse()?)?;
///
/// let (mut writer, lister) = cache(Vec::new());
/// for (name, tier, version) in [("shop", "web", "1"), ("stock", "back", "2")] {
///     writer.apply(WatchEvent::Added(serde_json::from_value(serde_json::json!({
///         "metadata": {"namespace": "prod", "name": name, "uid": name,
///                      "resourceVersion": version, "labels": {"tier": tier}},
///     }))?));
/// }
/// assert_eq!(lister.select(None, &web).len(), 1);
/// assert_eq!(lister.select(Some("test"), &web).len(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It looks at each object of the namespace, or of the cache. A selection that is asked for
/// all the time is worth an index:
/// [`InformerOptions::index_by_label`](crate::informer::InformerOptions::index_by_label).
pub struct SelectorOf<T> {
    selector: LabelSelector,
    of: PhantomData<fn(&T)>,
}

/// A label was asked for that the type does not keep: its copies in the cache cannot tell
/// whether the object has it.
///
/// Let the server select by it ([`WatchOptions::labels`](crate::watch::WatchOptions::labels)),
/// or let the type keep it ([`Object::LABELS`]).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("label {label} is not kept by {kind}")]
pub struct LabelNotKept {
    /// The label's key.
    pub label: String,
    /// The Rust type that does not keep it.
    pub kind: &'static str,
}

// === impl SelectorOf ===

impl<T: Object> SelectorOf<T> {
    /// Checks a selector.
    ///
    /// # Errors
    ///
    /// If it asks for a label that `T` does not keep.
    pub fn new(selector: LabelSelector) -> Result<Self, LabelNotKept> {
        selector.keys().try_for_each(LabelNotKept::check::<T>)?;
        Ok(Self {
            selector,
            of: PhantomData,
        })
    }

    /// Selects everything, whatever `T` keeps.
    pub fn everything() -> Self {
        Self {
            selector: LabelSelector::default(),
            of: PhantomData,
        }
    }

    /// Whether it selects this object, as the server would decide.
    pub fn matches(&self, object: &T) -> bool {
        self.selector.matches_with(|key| object.label(key))
    }

    /// What was checked.
    pub fn selector(&self) -> &LabelSelector {
        &self.selector
    }
}

impl<T> Clone for SelectorOf<T> {
    fn clone(&self) -> Self {
        Self {
            selector: self.selector.clone(),
            of: PhantomData,
        }
    }
}

impl<T> fmt::Debug for SelectorOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SelectorOf").field(&self.selector).finish()
    }
}

// === impl LabelNotKept ===

impl LabelNotKept {
    /// Whether `T` keeps the label `key`.
    pub(crate) fn check<T: Object>(key: &str) -> Result<(), Self> {
        if T::LABELS.keeps(key) {
            return Ok(());
        }
        Err(Self {
            label: key.to_owned(),
            kind: type_name::<T>(),
        })
    }
}

#[cfg(test)]
mod tests;
