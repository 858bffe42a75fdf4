use rand::RngExt;
use tokio::time::Duration;

use super::backoff::Backoff;
use super::{LabelSelector, ServerMemory};
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
    /// Whether lists are streamed where the server does that.
    pub streaming: Streaming,
    /// How new the first list has to be.
    pub first_list: FirstList,
    /// The least time after which the server is told to end a watch; the most is twice that,
    /// and each watch draws between the two. Less than five minutes is five minutes, more than
    /// a year a year.
    ///
    /// More is good where opening watches is dear, and where nothing between here and the
    /// server cuts them anyway.
    pub min_watch_timeout: Duration,
    /// The floor of the first wait after a failure, see
    /// [`backoff`](WatchOptions::backoff).
    pub first_wait: Duration,
    /// The highest floor of a wait after a failure.
    pub last_wait: Duration,
    /// What was learned about the server: see [`ServerMemory`].
    pub server_memory: ServerMemory,
}

/// Whether a list is streamed as the beginning of a watch (`sendInitialEvents`), or read page
/// by page.
///
/// A streamed list is cheaper for the server, which serves it from memory object by object
/// instead of making one large answer, and it is as new as one from etcd. It is not
/// compressed, though: a watch never is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streaming {
    /// Streamed where the server offers that, which it has by default since 1.34. What it
    /// does not offer is found out by asking, once.
    #[default]
    Auto,
    /// Always page by page. For a server, or a proxy in front of it, that handles the other
    /// badly in a way that does not show; or for a slow line, since pages are compressed.
    Never,
}

/// How new the first list of a run has to be, where it is not streamed. A streamed one always
/// is as new as etcd.
///
/// The words are Kubernetes' own, for the meaning of `resourceVersion` in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstList {
    /// What an API server has at hand (`resourceVersion=0`), as client-go: cheap, and good
    /// where whatever is missed comes with the watch. An API server that lags answers from
    /// before what was done a moment ago, and that is acted on until the watch catches up.
    #[default]
    Any,
    /// What etcd holds, page by page (no `resourceVersion`). For kinds that *forbid* what the
    /// controller does, an autoscaler or a pause: one that is not seen yet forbids nothing.
    MostRecent,
}

// === impl WatchOptions ===

impl WatchOptions {
    /// The least [`min_watch_timeout`](Self::min_watch_timeout): client-go's.
    const MIN_WATCH_TIMEOUT: Duration = Duration::from_secs(300);
    /// The most of it: more cannot be added to every clock.
    const MAX_WATCH_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

    /// Everything in `scope`.
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            label_selector: None,
            field_selector: None,
            page_size: None,
            streaming: Streaming::Auto,
            first_list: FirstList::Any,
            min_watch_timeout: Self::MIN_WATCH_TIMEOUT,
            first_wait: Backoff::FIRST,
            last_wait: Backoff::LAST,
            server_memory: ServerMemory::default(),
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

    /// Whether lists are streamed.
    #[must_use]
    pub fn streaming(mut self, streaming: Streaming) -> Self {
        self.streaming = streaming;
        self
    }

    /// How new the first list has to be.
    #[must_use]
    pub fn first_list(mut self, first_list: FirstList) -> Self {
        self.first_list = first_list;
        self
    }

    /// The least time after which the server ends a watch.
    #[must_use]
    pub fn min_watch_timeout(mut self, least: Duration) -> Self {
        self.min_watch_timeout = least;
        self
    }

    /// How long to wait after failures. Each wait is drawn evenly between a floor and twice
    /// the floor; the floor doubles from `first` to `last`. The defaults, 0.8 s and 15 s,
    /// are client-go's.
    ///
    /// The dangerous mistake is a short `last` in a program that runs often: what a thousand
    /// of them ask together is what keeps a server down that wants to come back.
    #[must_use]
    pub fn backoff(mut self, first: Duration, last: Duration) -> Self {
        self.first_wait = first;
        self.last_wait = last;
        self
    }

    /// Shares what is learned about the server.
    #[must_use]
    pub fn remembered_by(mut self, memory: &ServerMemory) -> Self {
        self.server_memory = memory.clone();
        self
    }

    /// When the server shall end the next watch.
    pub(super) fn watch_timeout(&self) -> Duration {
        let least = self
            .min_watch_timeout
            .clamp(Self::MIN_WATCH_TIMEOUT, Self::MAX_WATCH_TIMEOUT)
            .as_secs();
        Duration::from_secs(rand::rng().random_range(least..least * 2))
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
