use super::LabelSelector;
use crate::client::{Call, Scope};

/// Which objects of a kind are listed and watched. The same options go into every list
/// and every watch of a reflector, so that the two never disagree.
///
/// ```
/// use controller_core::client::Scope;
/// use controller_core::watch::WatchOptions;
///
/// let web_tier = WatchOptions::new(Scope::Namespace("shop".into()))
///     .labels(Some("tier=web,!legacy".parse()?));
/// let one_object = WatchOptions::new(Scope::All).fields("metadata.name=web");
/// # Ok::<(), controller_core::watch::SelectorError>(())
/// ```
///
/// With a selector, "deleted" means "no longer in the selection". An object whose label
/// changes arrives as deleted while it lives on, and as added when it comes back. Who has to
/// tell the two apart asks the server for the one object.
///
/// The dangerous mistake is to select by what the controller itself changes: the very write
/// that finishes the work makes the object vanish from the cache, and the next look takes it
/// for gone. Select by what people set.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// Where to look.
    pub scope: Scope,
    /// Which labels the server selects by. Selecting on the server is the cheapest way to
    /// save memory. An object that leaves the selector arrives as deleted.
    pub label_selector: Option<LabelSelector>,
    /// A field selector such as `metadata.name=web`, passed on as it is. All kinds know
    /// `metadata.name` and `metadata.namespace`, few know more; the server answers 400 to
    /// any other, for ever, and [`ReflectorStatus::error`](super::ReflectorStatus::error)
    /// shows it.
    pub field_selector: Option<String>,
    /// The size of a list's pages. `None` does as client-go: 500, but no paging where the
    /// server can answer from its watch cache.
    ///
    /// Smaller pages bound the memory of a list, which is a page at a time. They cost the
    /// server more, for each is read from etcd, and a list that takes minutes may outlive
    /// its continue token. A server with a watch cache ignores the limit of the very first
    /// list, which asks for any version.
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

    /// Only the objects whose labels match. `None` takes an earlier selector away.
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
