use std::convert::Infallible;
use std::error::Error;
use std::marker::PhantomData;

use rand::RngExt;
use tokio::sync::watch;
use tokio::time::{Duration, Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use super::backoff::{Backoff, Health};
use super::codec::{Codec, Line, codec_of};
use super::lines::{Lines, NextLine};
use super::list::Cursor;
use super::list_error::lacks_version;
use super::resource_version::{advances, is_older};
use super::status::{ReflectorStatus, StatusReport};
use super::{EventSink, ListError, Object, WatchEvent, WatchOptions};
use crate::client::{Answer, ApiError, Call, ResourceType, Retried, send};

/// Lists a kind once and then follows it for ever.
///
/// It never gives up: whatever goes wrong it tries again, with backoff, and tells the
/// [status](ReflectorStatus). A watch that ends is opened again where it ended, without
/// another list; only an expired version, a refusal that a new watch cannot mend, or a
/// line that hid an unknown object makes it list anew.
///
/// Most programs never see one: a [`SharedInformer`](crate::informer::SharedInformer) owns
/// one and feeds a cache from it. Use it alone where no cache is wanted, to copy objects
/// elsewhere or to count them.
///
/// ```
/// use controller_core::client::{ClientOptions, Scope, layered};
/// use controller_core::controllers::min_replicas::Deployment;
/// use controller_core::watch::{Object, Reflector, WatchEvent, WatchOptions};
/// use tokio_util::sync::CancellationToken;
/// # use sim_apiserver::SimApiServer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = SimApiServer::builder().start().await?;
/// # server.seed(serde_json::json!({
/// #     "apiVersion": "apps/v1", "kind": "Deployment",
/// #     "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 1},
/// # }));
/// # let client = layered(server.service(), &ClientOptions::new("example/1.0"));
/// let shutdown = CancellationToken::new();
/// let stop = shutdown.clone();
/// let mut seen = Vec::new();
/// let sink = |event: WatchEvent<Deployment>| match event {
///     WatchEvent::ListStarted { .. } => seen.clear(), // an unfinished list is void
///     WatchEvent::Listed(deployment) => seen.push(deployment.key().to_string()),
///     WatchEvent::ListDone { .. } => stop.cancel(),
///     _ => {}
/// };
/// let everything = WatchOptions::new(Scope::All);
/// Reflector::new(client, Deployment::RESOURCE, everything).run(sink, shutdown).await;
/// assert_eq!(seen, ["default/web"]);
/// # server.shutdown().await;
/// # Ok(())
/// # }
/// ```
///
/// What it tells the log: one warning a kind of failure, for as long as that lasts, and one
/// line when it is over. The first failure of all is no warning yet, because whoever started
/// it may be about to give up and say so.
pub struct Reflector<T> {
    client: kube::Client,
    resource: ResourceType,
    options: WatchOptions,
    /// Where the next list and the next watch start. Moved on by every list that is
    /// complete and by every line of a watch, never back.
    cursor: Cursor,
    /// One for lists and watches together: it is the same server that has to recover.
    backoff: Backoff,
    report: StatusReport,
    /// A line could not be attributed to an object: only a list can tell what it said. That
    /// list is sent when the watch ends, which the server sees to within ten minutes: a
    /// proxy that garbles lines would otherwise turn each into a list.
    missed: bool,
    /// How many watches in a row ended as soon as they were open.
    ended_at_once: u32,
    object: PhantomData<fn() -> T>,
}

/// What to do after a watch has ended. *Later* is after the next wait of the backoff.
#[derive(Debug)]
enum Next {
    /// It had been well, so the next one is opened at once, where it ended.
    Watch,
    /// The same, but not in a hot loop.
    WatchLater(Option<ListError>),
    /// The version expired under a healthy watch: only a list helps.
    List,
    /// What the server said makes a watch pointless.
    ListLater(ListError),
}

// === impl Reflector ===

impl<T: Object> Reflector<T> {
    /// A watch is silent for at most this long where the server sends bookmarks (one a
    /// minute), or it hangs on a connection that is dead without knowing it.
    const SILENCE: Duration = Duration::from_secs(150);
    /// What is granted on top of the time after which the server ends the watch itself.
    const GRACE: Duration = Duration::from_secs(30);
    /// So many watches in a row may end at once before that counts as a failure.
    const CUT_BY_CHANCE: u32 = 2;

    /// Nothing is sent before [`run`](Self::run).
    pub fn new(client: kube::Client, resource: ResourceType, options: WatchOptions) -> Self {
        Self {
            client,
            report: StatusReport::new(resource.clone()),
            resource,
            cursor: Cursor::new(Retried::ByCaller),
            backoff: Backoff::new(options.first_wait, options.last_wait),
            options,
            missed: false,
            ended_at_once: 0,
            object: PhantomData,
        }
    }

    /// How it is doing. The receiver outlives the reflector: take it before
    /// [`run`](Self::run), which consumes it. Once the reflector has ended, waiting for a
    /// change fails.
    pub fn status(&self) -> watch::Receiver<ReflectorStatus> {
        self.report.subscribe()
    }

    /// Feeds `sink` until `shutdown`. A request under way is given up then, and its
    /// connection closed.
    ///
    /// Dropping the future does the same at any time. `sink` may then have seen a list that
    /// never ends with [`ListDone`](WatchEvent::ListDone).
    pub async fn run(mut self, mut sink: impl EventSink<T>, shutdown: CancellationToken) {
        shutdown
            .run_until_cancelled(self.list_and_watch(&mut sink))
            .await;
    }

    async fn list_and_watch(&mut self, sink: &mut impl EventSink<T>) -> Infallible {
        loop {
            self.report.listing();
            self.missed = false;
            let listed = self
                .cursor
                .list(&self.client, &self.resource, &self.options, sink)
                .await;
            if let Err(error) = listed {
                self.fail(error).await;
                continue;
            }
            self.report.listed();
            self.watch_until_list(sink).await;
        }
    }

    /// Returns when a new list is needed and may be sent.
    async fn watch_until_list(&mut self, sink: &mut impl EventSink<T>) {
        loop {
            match self.watch(sink).await {
                Next::Watch if self.missed => return,
                Next::Watch => {}
                Next::List => return,
                Next::WatchLater(error) => {
                    match error {
                        Some(error) => self.fail(error).await,
                        None => sleep(self.backoff.next_wait()).await,
                    }
                    if self.missed {
                        return;
                    }
                }
                Next::ListLater(error) => {
                    self.fail(error).await;
                    return;
                }
            }
        }
    }

    /// Tells of a failure, and waits: for as long as the server asked, for long where only a
    /// person can mend it, otherwise as the ramp says.
    async fn fail(&mut self, error: ListError) {
        let wait = if error.denial().is_some() {
            self.backoff.slow_wait()
        } else {
            self.backoff.next_wait_at_least(error.retry_after())
        };
        self.report.failed(error);
        sleep(wait).await;
    }

    /// One watch, from its request to its end.
    async fn watch(&mut self, sink: &mut impl EventSink<T>) -> Next {
        let server_timeout = Duration::from_secs(rand::rng().random_range(300..600));
        let call = self.watch_call(server_timeout);
        let (verb, target) = (call.verb, call.target.clone());
        let opened = send(&self.client, call).await;
        let response = match opened {
            Ok(response) => response,
            Err(error) => return self.not_opened(error),
        };
        let resource = self.resource.clone();
        let codec = match codec_of(response.headers(), &resource) {
            Ok(codec) => codec,
            // What answers is not the server: no list is needed for that.
            Err(error) => return Next::WatchLater(Some(error)),
        };
        let mut lines = Lines::new(response.into_body());
        self.report.opened();
        let mut health = Health::opened_now();
        let mut bookmarks = false;
        let mut last_word = Instant::now();
        let ends_by = last_word + server_timeout + Self::GRACE;
        loop {
            let deadline = if bookmarks {
                last_word + Self::SILENCE
            } else {
                ends_by
            };
            let Ok(line) = timeout_at(deadline, lines.next()).await else {
                tracing::info!(resource = %self.resource, "watch went silent; opening it again");
                return Next::Watch;
            };
            let event = match line {
                NextLine::Line(line) => match codec.line(&line) {
                    Line::Event(event) => event,
                    Line::InitialEnd { resource_version } => {
                        WatchEvent::Bookmark { resource_version }
                    }
                    Line::Error(status) => {
                        let error = ApiError::from(Answer::from_status(verb, target, *status));
                        return self.ended_by(error, &health);
                    }
                },
                NextLine::TooLong(beginning) => {
                    WatchEvent::Unreadable(Codec::<T>::long_line(&codec, &beginning))
                }
                NextLine::End => return self.ended(&health, None),
                NextLine::Broken(error) => return self.ended(&health, Some(&*error)),
            };
            last_word = Instant::now();
            bookmarks |= matches!(event, WatchEvent::Bookmark { .. });
            let advanced = self.advance(&event);
            sink.accept(event);
            match advanced {
                Ok(true) => {
                    health.brought_news();
                    self.well();
                }
                Ok(false) => {}
                Err(stale) => return Next::ListLater(stale),
            }
            // A stream that always has a line ready would otherwise never let the other
            // tasks of this thread run.
            tokio::task::consume_budget().await;
        }
    }

    fn watch_call(&self, server_timeout: Duration) -> Call {
        let timeout = server_timeout.as_secs().to_string();
        let version = self.cursor.last.as_deref().unwrap_or_default();
        self.options
            .select(Call::watch(&self.resource, &self.options.scope))
            .with_query([
                ("allowWatchBookmarks", "true"),
                ("resourceVersion", version),
                ("timeoutSeconds", &timeout),
            ])
    }

    /// The server did not even open the watch.
    fn not_opened(&mut self, error: ApiError) -> Next {
        if lacks_version(&error) {
            // There was no healthy time in between: a server that lists and then refuses
            // to go on from that list must not be asked in a circle.
            return Next::ListLater(error.into());
        }
        match error.code() {
            Some(401 | 403 | 429) | None => Next::WatchLater(Some(error.into())),
            Some(code) if code >= 500 => Next::WatchLater(Some(error.into())),
            // The kind is gone, or the server does not understand the request.
            Some(_) => Next::ListLater(error.into()),
        }
    }

    /// The server ended the watch with an error line.
    fn ended_by(&mut self, error: ApiError, health: &Health) -> Next {
        if health.is_healthy() {
            self.well();
        }
        if lacks_version(&error) {
            if health.is_healthy() {
                tracing::info!(resource = %self.resource, "watch expired; listing again");
                return Next::List;
            }
            return Next::ListLater(error.into());
        }
        if error.code() == Some(429) {
            return Next::WatchLater(Some(error.into()));
        }
        // The server's view of the history is broken: what the list says counts (RF-33).
        Next::ListLater(error.into())
    }

    /// The stream ended without a word of the server's.
    fn ended(&mut self, health: &Health, error: Option<&dyn Error>) -> Next {
        if health.is_healthy() {
            self.well();
        }
        tracing::debug!(resource = %self.resource, error = error.map(tracing::field::display), "watch ended");
        if health.ended_at_once() {
            self.ended_at_once += 1;
            // A server that restarts cuts a watch or two; a proxy that cannot watch cuts
            // all of them, and leaves a cache that looks well and never changes.
            let is_habit = self.ended_at_once > Self::CUT_BY_CHANCE;
            return Next::WatchLater(is_habit.then_some(ListError::WatchesEndAtOnce));
        }
        self.ended_at_once = 0;
        Next::Watch
    }

    fn well(&mut self) {
        self.ended_at_once = 0;
        self.backoff.reset();
        self.report.well();
    }

    /// Moves the cursor; whether it moved. An error if the server tells of an older time:
    /// it lags, or was restored and counts anew, and nothing it says would ever be news.
    /// The list finds out which.
    fn advance(&mut self, event: &WatchEvent<T>) -> Result<bool, ListError> {
        let version = match event {
            WatchEvent::Added(object)
            | WatchEvent::Modified(object)
            | WatchEvent::Deleted(object) => object.resource_version(),
            WatchEvent::Bookmark { resource_version } => resource_version,
            WatchEvent::Unreadable(unreadable) => {
                self.missed |= unreadable.key.is_none();
                unreadable.resource_version.as_deref().unwrap_or_default()
            }
            WatchEvent::ListStarted { .. }
            | WatchEvent::Listed(_)
            | WatchEvent::ListDone { .. } => "",
        };
        let last = self.cursor.last.as_deref().unwrap_or_default();
        if is_older(version, last) {
            return Err(ListError::Stale {
                got: version.to_owned(),
                known: last.to_owned(),
            });
        }
        let advanced = advances(version, last);
        if advanced {
            self.cursor.last = Some(version.into());
        }
        Ok(advanced)
    }
}
