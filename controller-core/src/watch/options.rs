use super::LabelSelector;
use crate::client::{Call, Scope};

/// Which objects of a kind are listed and watched. The same options go into every list
/// and every watch of a reflector, so that the two never disagree.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// Where to look.
    pub scope: Scope,
    /// Which labels the server selects by. Selecting on the server is the cheapest way to
    /// save memory. An object that leaves the selector arrives as deleted.
    pub label_selector: Option<LabelSelector>,
    /// A field selector such as `metadata.name=web`, passed on as it is.
    pub field_selector: Option<String>,
    /// The size of a list's pages. `None` does as client-go: 500, but no paging where the
    /// server can answer from its watch cache.
    pub page_size: Option<u32>,
}

// === impl WatchOptions ===

impl WatchOptions {
    /// Everything in `scope`.
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            label_selector: None,
            field_selector: None,
            page_size: None,
        }
    }

    /// Only the objects whose labels match.
    #[must_use]
    pub fn labels(mut self, selector: Option<LabelSelector>) -> Self {
        self.label_selector = selector;
        self
    }

    /// Only the objects whose fields match.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.field_selector = Some(selector.into());
        self
    }

    pub(super) fn select(&self, call: Call) -> Call {
        let labels = self.label_selector.as_ref().map(ToString::to_string);
        let labels = labels.filter(|labels| !labels.is_empty());
        call.with_query(
            [
                ("labelSelector", labels.as_deref()),
                ("fieldSelector", self.field_selector.as_deref()),
            ]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
        )
    }
}
