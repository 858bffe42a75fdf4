use std::sync::Arc;

use kube::client::Body;
use tokio::task::consume_budget;

use super::codec::codec_of;
use super::json::Json;
use super::list_error::lacks_version;
use super::page::{Page, Part};
use super::resource_version::is_older;
use super::seen::Seen;
use super::{EventSink, ListError, Object, Unreadable, WatchEvent, WatchOptions};
use crate::client::{Call, ObjectKey, ResourceType, Retried, send};

/// How far a list got, and what the next list and watch start from.
#[derive(Debug)]
pub(super) struct Cursor {
    /// The version up to which the cache is known to be right.
    pub(super) last: Option<Arc<str>>,
    /// The server no longer has that version, or does not have it yet: ask for the newest,
    /// by naming none. Set by a refusal, taken away by the next list that succeeds.
    unavailable: bool,
    /// The newest is asked for by choice, and not because the server lacks what was known: an
    /// older answer is to be given twice before it is another history.
    is_doubtful: bool,
    /// How many lists in a row were older than what was known.
    stale: u32,
    /// Who repeats a list that failed: for a reflector its own loop.
    retried: Retried,
}

/// One list request to make.
struct Request<'a> {
    resource: &'a ResourceType,
    options: &'a WatchOptions,
    client: &'a kube::Client,
    retried: Retried,
}

// === impl Cursor ===

impl Cursor {
    /// How many objects a page holds where nobody says otherwise: client-go's number.
    const PAGE: u32 = 500;
    /// So many stale lists in a row, half a minute of them, are a server that lags. More are
    /// one that does not heed the version it is asked for, and then only a list without one
    /// can tell whether it was restored.
    const PATIENCE: u32 = 5;
    /// So many pages in a row may bring no key although there are more: a server that goes
    /// through many objects which are not selected might send empty ones.
    const EMPTY_PAGES: u32 = 100;

    pub(super) fn new(retried: Retried) -> Self {
        Self {
            last: None,
            unavailable: false,
            is_doubtful: false,
            stale: 0,
            retried,
        }
    }

    /// The version to ask for: none below what was seen; `first` where nothing was.
    pub(super) fn wanted(&self, first: &str) -> String {
        match &self.last {
            _ if self.unavailable => String::new(),
            Some(last) => last.to_string(),
            None => first.to_owned(),
        }
    }

    /// The next list takes whatever the store has.
    pub(super) fn forget_version(&mut self) {
        self.unavailable = true;
    }

    /// The same, though nothing speaks against the version that is known. A server whose copies
    /// lag answers that with any of them.
    pub(super) fn want_newest(&mut self) {
        self.forget_version();
        self.is_doubtful = true;
    }

    /// Whether an answer to `asked` may turn out to be another history.
    pub(super) fn is_fresh(&self, asked: &str) -> bool {
        asked.is_empty() && self.last.is_some()
    }

    /// Whether the server's history starts anew; an error if the answer goes back in time.
    pub(super) fn check(&mut self, asked: &str, got: &str) -> Result<bool, ListError> {
        // A watch from `0` starts from any state, not from this one.
        if got.is_empty() || got == "0" {
            return Err(ListError::NoVersion);
        }
        match &self.last {
            // Without a version the answer comes from the store itself: it is the truth,
            // even if it is older than what was true before.
            Some(last)
                if is_older(got, last)
                    && asked.is_empty()
                    && !std::mem::take(&mut self.is_doubtful) =>
            {
                Ok(true)
            }
            Some(last) if is_older(got, last) => {
                self.stale += 1;
                self.unavailable |= self.stale >= Self::PATIENCE;
                Err(ListError::Stale {
                    got: got.to_owned(),
                    known: last.to_string(),
                })
            }
            _ => Ok(false),
        }
    }

    /// A list of this version is complete.
    pub(super) fn complete(&mut self, version: &str) {
        self.last = Some(version.into());
        self.unavailable = false;
        self.is_doubtful = false;
        self.stale = 0;
    }

    /// Lists everything into `sink` and remembers the list's version.
    ///
    /// As client-go: the first list takes any version (`0`), later ones none below what
    /// was seen; a version that the server does not have (any more, or yet) is asked for
    /// once more without one; a page that expired is followed by one list in one piece, and so
    /// are, unlike there, pages that go in a circle.
    pub(super) async fn list<T: Object>(
        &mut self,
        client: &kube::Client,
        resource: &ResourceType,
        options: &WatchOptions,
        sink: &mut impl EventSink<T>,
    ) -> Result<(), ListError> {
        let request = Request {
            resource,
            options,
            client,
            retried: self.retried,
        };
        let version = self.wanted("0");
        let listed = match self.list_at(&request, &version, sink).await {
            Err(ListError::Api(error)) if !version.is_empty() && lacks_version(&error) => {
                self.forget_version();
                self.list_at(&request, "", sink).await
            }
            other => other,
        };
        self.complete(&listed?);
        Ok(())
    }

    async fn list_at<T: Object>(
        &mut self,
        request: &Request<'_>,
        version: &str,
        sink: &mut impl EventSink<T>,
    ) -> Result<String, ListError> {
        let limit = request.limit(version);
        if let Some(listed) = self.list_pages(request, version, limit, sink).await? {
            return Ok(listed);
        }
        // A later page has expired, and going on with the fresh token that such an answer may
        // carry would give a list in which objects appear twice or not at all. Or the pages go in
        // a circle: a server that orders them otherwise than its tokens do so for ever, and can
        // still send all of them at once.
        match self.list_pages(request, version, None, sink).await? {
            Some(listed) => Ok(listed),
            None => Err(ListError::PagesExpire),
        }
    }

    /// `None` if a later page has expired, or the pages that were asked for go in a circle.
    async fn list_pages<T: Object>(
        &mut self,
        request: &Request<'_>,
        version: &str,
        limit: Option<u32>,
        sink: &mut impl EventSink<T>,
    ) -> Result<Option<String>, ListError> {
        let fresh = self.is_fresh(version);
        // Told before the first item, and only of a list that came.
        let mut start = Some(WatchEvent::ListStarted { fresh });
        let mut listed = None;
        let mut token: Option<String> = None;
        // A server may make a new token for a page that it has sent, but no two pages share an
        // object.
        let (mut tokens, mut firsts) = (Seen::default(), Seen::default());
        let mut empty_pages = 0;
        loop {
            let mut page = match request.page(version, limit, token.as_deref()).await {
                // 400 is what a server says of a token that it cannot read.
                Err(ListError::Api(error))
                    if token.is_some() && (error.is_gone() || error.code() == Some(400)) =>
                {
                    return Ok(None);
                }
                other => other?,
            };
            let mut meta = None;
            // Whose object nobody knows cannot be seen to come again: a page of such items alone
            // is as good as an empty one.
            let mut has_key = false;
            while let Some(part) = page.next().await? {
                match part {
                    Part::Meta(found) => {
                        if token.is_none() {
                            let restored = self.check(version, &found.resource_version)?;
                            listed = Some((found.resource_version.clone(), restored));
                        }
                        meta = Some(found);
                    }
                    Part::Item(item) => {
                        if !has_key && let Some(key) = key_of(&item) {
                            has_key = true;
                            if !firsts.is_new(&key) {
                                return repeats(limit);
                            }
                        }
                        if let Some(start) = start.take() {
                            sink.accept(start);
                        }
                        sink.accept(match item {
                            Ok(object) => WatchEvent::Listed(object),
                            Err(unreadable) => WatchEvent::Unreadable(unreadable),
                        });
                    }
                }
                // A page whose bytes are there already would keep the thread for itself.
                consume_budget().await;
            }
            if let Some(start) = start.take() {
                sink.accept(start);
            }
            // Without its metadata nobody knows whether it was the last page.
            let next = meta.ok_or(ListError::NoVersion)?.next;
            if next.is_empty() {
                break;
            }
            if token.is_none() && version == "0" {
                request.options.server_memory.has_paged(request.resource);
            }
            empty_pages = if has_key { 0 } else { empty_pages + 1 };
            if !tokens.is_new(&next) || empty_pages > Self::EMPTY_PAGES {
                return repeats(limit);
            }
            token = Some(next);
        }
        let (resource_version, restored) = listed.ok_or(ListError::NoVersion)?;
        sink.accept(WatchEvent::ListDone {
            resource_version: resource_version.clone(),
            restored,
        });
        Ok(Some(resource_version))
    }
}

// === impl Request ===

impl Request<'_> {
    /// `None` is a list in one piece.
    fn limit(&self, version: &str) -> Option<u32> {
        let cacheable = !matches!(version, "" | "0");
        let memory = &self.options.server_memory;
        match self.options.page_size {
            Some(size) => Some(size),
            None if cacheable && !memory.pages_everything(self.resource) => None,
            None => Some(Cursor::PAGE),
        }
    }

    /// The first page at `version`, or the one that `token` stands for.
    async fn page<T: Object>(
        &self,
        version: &str,
        limit: Option<u32>,
        token: Option<&str>,
    ) -> Result<Page<Body, Json, T>, ListError> {
        let size = limit.map(|limit| limit.to_string());
        // A token carries its version.
        let version = Some(version).filter(|version| !version.is_empty() && token.is_none());
        // With a limit alone a server would take the version for the one it has to answer
        // from: the past, or 410.
        let rule = match version {
            Some(version) if version != "0" && limit.is_some() => Some("NotOlderThan"),
            _ => None,
        };
        let call = self
            .options
            .select(Call::list(self.resource, &self.options.scope))
            .with_retries_by(self.retried)
            .with_query(
                [
                    ("limit", size.as_deref()),
                    ("continue", token),
                    ("resourceVersion", version),
                    ("resourceVersionMatch", rule),
                ]
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
            );
        let line = call.line();
        let response = send(self.client, call).await?;
        let codec = codec_of(response.headers(), self.resource)?;
        Ok(Page::new(response.into_body(), codec, self.resource, line))
    }
}

/// The pages go in a circle. Where there were to be any, the list is read without them.
fn repeats(limit: Option<u32>) -> Result<Option<String>, ListError> {
    match limit {
        Some(_) => Ok(None),
        None => Err(ListError::PagesRepeat),
    }
}

fn key_of<T: Object>(item: &Result<T, Unreadable>) -> Option<ObjectKey> {
    match item {
        Ok(object) => Some(object.key()),
        Err(unreadable) => unreadable.key.clone(),
    }
}

/// Lists everything once into `sink`, from the store itself and not from a watch cache
/// that may lag: for whoever will not hear of what changes next.
///
/// It is one try: what the client's own layers do not retry is returned at once.
///
/// ```
/// use controller_core::client::{ClientOptions, Scope, layered};
/// use controller_core::controllers::min_replicas::Deployment;
/// use controller_core::store::cache;
/// use controller_core::watch::{WatchOptions, list_once};
/// # use sim_apiserver::SimApiServer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = SimApiServer::builder().start().await?;
/// # server.seed(serde_json::json!({
/// #     "apiVersion": "apps/v1", "kind": "Deployment",
/// #     "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3},
/// # }));
/// # let client = layered(server.service(), &ClientOptions::new("example/1.0"));
/// let (mut writer, lister) = cache::<Deployment>(Vec::new());
/// let mut sink = |event| {
///     writer.apply(event);
/// };
/// let everything = WatchOptions::new(Scope::All);
/// list_once(&client, &Deployment::RESOURCE, &everything, &mut sink).await?;
/// assert_eq!(lister.list()[0].replicas(), 3);
/// # server.shutdown().await;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// If the list could not be read to its end. `sink` has then seen no
/// [`ListDone`](WatchEvent::ListDone).
pub async fn list_once<T: Object>(
    client: &kube::Client,
    resource: &ResourceType,
    options: &WatchOptions,
    sink: &mut impl EventSink<T>,
) -> Result<(), ListError> {
    let mut cursor = Cursor::new(Retried::ByClient);
    // None that may be had from a cache.
    cursor.forget_version();
    cursor.list(client, resource, options, sink).await
}
