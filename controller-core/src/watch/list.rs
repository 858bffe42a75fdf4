use tokio::time::Duration;

use super::json::{Page, decode_page};
use super::resource_version::is_older;
use super::{EventSink, Object, WatchEvent, WatchOptions};
use crate::client::{Answer, ApiError, Call, ResourceType, Retried, fetch_with};

/// How far a list got, and what the next list and watch start from.
#[derive(Debug)]
pub(super) struct Cursor {
    /// The version up to which the cache is known to be right.
    pub(super) last: Option<String>,
    /// The server no longer has that version, or does not have it yet: ask for the newest,
    /// by naming none. Set by a refusal, taken away by the next list that succeeds.
    unavailable: bool,
    /// The server answers even its watch cache's version in pages, so it has no watch
    /// cache: page always. Once learned, never forgotten.
    pages_everything: bool,
    /// Who repeats a list that failed: for a reflector its own loop.
    retried: Retried,
}

/// Why a list brought nothing.
///
/// | variant | who can mend it |
/// |---|---|
/// | `Api` | see the table at [`ApiError`]; for 403 whoever grants permissions |
/// | `Stale` | time: the lagging server catches up, usually within seconds |
/// | `NoVersion` | nobody here: what answers is not a Kubernetes API server, or a broken one |
/// | `PagesExpire` | a bigger [`page_size`](super::WatchOptions::page_size), or a narrower selection |
///
/// None of them changes the cache: what was known stays known.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The request failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The answer is older than what an earlier answer already told: another API server
    /// behind the same address lags. Taking it would bring deleted objects back to life.
    #[error("the server answered with version {got}, older than version {known} seen before")]
    Stale {
        /// The version of the answer.
        got: String,
        /// The version that was known.
        known: String,
    },
    /// The list carries no version, or `0`, so no watch can start from it.
    #[error("the list has no resourceVersion")]
    NoVersion,
    /// Pages expire faster than they can be read, even when none were asked for.
    #[error("the pages of the list expire before they are read")]
    PagesExpire,
    /// Something between here and the server answers a watch and closes it: the cache
    /// would never change again.
    #[error("watches end as soon as they are open; does a proxy cut them?")]
    WatchesEndAtOnce,
}

/// One list request to make.
struct Request<'a> {
    retried: Retried,
    resource: &'a ResourceType,
    options: &'a WatchOptions,
    client: &'a kube::Client,
}

// === impl ListError ===

impl ListError {
    /// The refusal that only a person can lift: a permission is missing (403), or the
    /// credentials are not taken (401). It names the verb, the resource and the namespace.
    pub fn denial(&self) -> Option<&Answer> {
        match self {
            Self::Api(ApiError::Unauthorized(answer) | ApiError::Forbidden(answer)) => Some(answer),
            _ => None,
        }
    }

    /// How long the server asked to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Api(error) => error.retry_after(),
            _ => None,
        }
    }
}

// === impl Cursor ===

impl Cursor {
    /// How many objects a page holds where nobody says otherwise: client-go's number.
    const PAGE: u32 = 500;

    pub(super) fn new(retried: Retried) -> Self {
        Self {
            last: None,
            unavailable: false,
            pages_everything: false,
            retried,
        }
    }

    /// Lists everything into `sink` and remembers the list's version.
    ///
    /// As client-go: the first list takes any version (`0`), later ones none below what
    /// was seen; a version that the server does not have (any more, or yet) is asked for
    /// once more without one; a page that expired is followed by one list in one piece.
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
        let version = match &self.last {
            _ if self.unavailable => String::new(),
            Some(last) => last.clone(),
            None => "0".to_owned(),
        };
        let listed = match self.list_at(&request, &version, sink).await {
            Err(ListError::Api(error)) if !version.is_empty() && lacks_version(&error) => {
                self.unavailable = true;
                self.list_at(&request, "", sink).await
            }
            other => other,
        };
        self.last = Some(listed?);
        self.unavailable = false;
        Ok(())
    }

    async fn list_at<T: Object>(
        &mut self,
        request: &Request<'_>,
        version: &str,
        sink: &mut impl EventSink<T>,
    ) -> Result<String, ListError> {
        let limit = self.limit(request.options, version);
        if let Some(listed) = self.list_pages(request, version, limit, sink).await? {
            return Ok(listed);
        }
        // A later page has expired. Going on with the fresh token that such an answer may
        // carry would give a list in which objects appear twice or not at all.
        match self.list_pages(request, version, None, sink).await? {
            Some(listed) => Ok(listed),
            None => Err(ListError::PagesExpire),
        }
    }

    /// `None` if a later page has expired.
    async fn list_pages<T: Object>(
        &mut self,
        request: &Request<'_>,
        version: &str,
        limit: Option<u32>,
        sink: &mut impl EventSink<T>,
    ) -> Result<Option<String>, ListError> {
        let mut page: Page<T> = request.page(version, limit, None).await?;
        let restored = self.check(version, &page.resource_version)?;
        let fresh = version.is_empty() && self.last.is_some();
        let list_version = page.resource_version.clone();
        if page.next.is_some() && version == "0" {
            self.pages_everything = true;
        }
        sink.accept(WatchEvent::ListStarted { fresh });
        loop {
            for item in page.items {
                sink.accept(match item {
                    Ok(object) => WatchEvent::Listed(object),
                    Err(unreadable) => WatchEvent::Unreadable(unreadable),
                });
            }
            let Some(next) = page.next else { break };
            page = match request.page("", limit, Some(&next)).await {
                Err(error) if error.is_gone() => return Ok(None),
                other => other?,
            };
        }
        sink.accept(WatchEvent::ListDone {
            resource_version: list_version.clone(),
            restored,
        });
        Ok(Some(list_version))
    }

    /// `None` is a list in one piece.
    fn limit(&self, options: &WatchOptions, version: &str) -> Option<u32> {
        let cacheable = !version.is_empty() && version != "0";
        match options.page_size {
            Some(size) => Some(size),
            None if cacheable && !self.pages_everything => None,
            None => Some(Self::PAGE),
        }
    }

    /// Whether the server's history starts anew; an error if the answer goes back in time.
    fn check(&self, asked: &str, got: &str) -> Result<bool, ListError> {
        // A watch from `0` starts from any state, not from this one.
        if got.is_empty() || got == "0" {
            return Err(ListError::NoVersion);
        }
        match &self.last {
            // Without a version the answer comes from the store itself: it is the truth,
            // even if it is older than what was true before.
            Some(last) if is_older(got, last) && asked.is_empty() => Ok(true),
            Some(last) if is_older(got, last) => Err(ListError::Stale {
                got: got.to_owned(),
                known: last.clone(),
            }),
            _ => Ok(false),
        }
    }
}

// === impl Request ===

impl Request<'_> {
    async fn page<T: Object>(
        &self,
        version: &str,
        limit: Option<u32>,
        next: Option<&str>,
    ) -> Result<Page<T>, ApiError> {
        let limit = limit.map(|limit| limit.to_string());
        let version = Some(version).filter(|version| !version.is_empty());
        let call = self
            .options
            .select(Call::list(self.resource, &self.options.scope))
            .with_retries_by(self.retried)
            .with_query(
                [
                    ("limit", limit.as_deref()),
                    ("continue", next),
                    ("resourceVersion", version),
                ]
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?))),
            );
        fetch_with(self.client, call, decode_page).await
    }
}

/// 410, or a version from the future, which a server that was restored or that lags does
/// not have.
pub(super) fn lacks_version(error: &ApiError) -> bool {
    error.is_gone() || is_too_large(error)
}

fn is_too_large(error: &ApiError) -> bool {
    let Some(answer) = error.answer() else {
        return false;
    };
    let said_so = |text: &str| text.contains("Too large resource version");
    // The three shapes that servers have used, see RF-30.
    let causes = answer.details.iter().flat_map(|details| &details.causes);
    answer.code == 504
        && (said_so(&answer.message)
            || causes
                .into_iter()
                .any(|cause| cause.reason == "ResourceVersionTooLarge" || said_so(&cause.message)))
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
    let mut cursor = Cursor {
        unavailable: true,
        ..Cursor::new(Retried::ByClient)
    };
    cursor.list(client, resource, options, sink).await
}
