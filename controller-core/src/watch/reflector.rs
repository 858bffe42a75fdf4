use std::convert::Infallible;
use std::marker::PhantomData;

use tokio::sync::watch;
use tokio::time::{Duration, Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::backoff::{Backoff, Health};
use super::follow::{Next, Open};
use super::hearing::Hearing;
use super::list::Cursor;
use super::status::{ReflectorStatus, StatusReport};
use super::streaming::Streamed;
use super::{EventSink, FirstList, ListError, Object, Streaming, WatchEvent, WatchOptions};
use crate::client::{ApiError, ResourceType, Retried};

/// Lists a kind once and then follows it for ever.
///
/// It never gives up: whatever goes wrong it tries again, with backoff, and tells the
/// [status](ReflectorStatus). A watch that ends is opened again where it ended, without
/// another list; only an expired version, a refusal that a new watch cannot mend, watches
/// that come to nothing, or a line that hid an unknown object makes it list anew.
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
    pub(super) client: kube::Client,
    pub(super) resource: ResourceType,
    pub(super) options: WatchOptions,
    /// Where the next list and the next watch start. Moved on by every list that is
    /// complete and by every line of a watch, never back.
    pub(super) cursor: Cursor,
    /// One for lists and watches together: it is the same server that has to recover.
    backoff: Backoff,
    pub(super) report: StatusReport,
    /// A line, or an item of the last list, could not be attributed to an object, or a line did
    /// not tell whether its object is gone: only a list can tell what it said. An item without a
    /// key keeps alive in a cache whatever it may be, and the watch, which goes on from that
    /// list, tells of no earlier end. The next list is sent when the watch ends, which the
    /// server sees to within ten minutes: a proxy that garbles lines would otherwise turn each
    /// into a list.
    pub(super) missed: bool,
    /// This server sends bookmarks, so that silence means something, from the first second
    /// of every watch on.
    pub(super) sends_bookmarks: bool,
    /// How many streamed lists in a row broke.
    pub(super) broken_streams: u32,
    /// How many watches in a row ended as soon as they were open.
    pub(super) ended_at_once: u32,
    /// How many watches in a row ended within a second, with news or without.
    pub(super) short_watches: u32,
    /// How many watches in a row came to nothing, since the last list.
    pub(super) futile_watches: u32,
    /// Whether watches that come to something say anything, since the last list.
    pub(super) hearing: Hearing,
    /// How many lists in a row were needed again within a minute.
    short_lists: u32,
    listed_at: Instant,
    object: PhantomData<fn() -> T>,
}

// === impl Reflector ===

impl<T: Object> Reflector<T> {
    /// So many lists, and so many short watches, may follow each other without a pause.
    const AT_ONCE: u32 = 2;
    /// So many watches in a row may come to nothing before a list is sent.
    const FUTILE: u32 = 2;
    /// What is needed again within this time goes in a circle.
    const CALM: Duration = Duration::from_secs(60);

    /// Nothing is sent before [`run`](Self::run).
    pub fn new(client: kube::Client, resource: ResourceType, options: WatchOptions) -> Self {
        let status = watch::Sender::new(ReflectorStatus::default());
        Self {
            client,
            report: StatusReport::new(resource.clone(), status),
            resource,
            cursor: Cursor::new(Retried::ByCaller),
            backoff: Backoff::new(options.first_wait, options.last_wait),
            options,
            missed: false,
            sends_bookmarks: false,
            broken_streams: 0,
            ended_at_once: 0,
            short_watches: 0,
            futile_watches: 0,
            hearing: Hearing::new(),
            short_lists: 0,
            listed_at: Instant::now(),
            object: PhantomData,
        }
    }

    /// Goes on where the reflector ended that reported to `status`, and reports there itself.
    ///
    /// It begins with a list, because changes were missed, but takes none that is older than
    /// what that one had told. A cache that both feed never goes back in time, and whoever
    /// waits on the status needs not know that there were two. Counts go on, too; what was
    /// `synced` stays so, while `listed_this_run` begins anew.
    ///
    /// ```
    /// use controller_core::client::ResourceType;
    /// use controller_core::watch::{Reflector, ReflectorStatus, WatchOptions};
    /// use k8s_openapi::api::core::v1::Pod;
    /// use tokio::sync::watch;
    ///
    /// /// May be called again once the last one has ended.
    /// fn again(
    ///     client: kube::Client,
    ///     pods: ResourceType,
    ///     options: WatchOptions,
    ///     status: &watch::Sender<ReflectorStatus>,
    /// ) -> Reflector<Pod> {
    ///     Reflector::new(client, pods, options).resume(status.clone())
    /// }
    /// ```
    ///
    /// The dangerous mistake is to give it another cache than the first one had: a list that
    /// is older is refused although that cache is empty.
    #[must_use]
    pub fn resume(mut self, status: watch::Sender<ReflectorStatus>) -> Self {
        self.report = StatusReport::new(self.resource.clone(), status);
        self.cursor.last = self.report.resume_at();
        self
    }

    /// How it is doing. The receiver outlives the reflector: take it before
    /// [`run`](Self::run), which consumes it. Once the reflector has ended, waiting for a
    /// change fails, unless somebody keeps the sender that it was [resumed](Self::resume)
    /// with.
    pub fn status(&self) -> watch::Receiver<ReflectorStatus> {
        self.report.subscribe()
    }

    /// Feeds `sink` until `shutdown`. A request under way is given up then, and its
    /// connection closed.
    ///
    /// Dropping the future does the same at any time. `sink` may then have seen a list that
    /// never ends with [`ListDone`](super::WatchEvent::ListDone).
    pub async fn run(mut self, mut sink: impl EventSink<T>, shutdown: CancellationToken) {
        if self.options.first_list == FirstList::MostRecent {
            self.cursor.want_newest();
        }
        // Not even one request where the end has come first.
        if !shutdown.is_cancelled() {
            shutdown
                .run_until_cancelled(self.list_and_watch(&mut sink))
                .await;
        }
    }

    async fn list_and_watch(&mut self, sink: &mut impl EventSink<T>) -> Infallible {
        loop {
            self.report.listing();
            self.missed = false;
            match self.list(sink).await {
                Ok(open) => {
                    self.report.at(self.cursor.last.as_ref());
                    self.report.listed();
                    self.listed_at = Instant::now();
                    self.futile_watches = 0;
                    self.hearing = Hearing::new();
                    self.watch_until_list(open, sink).await;
                }
                Err(error) => self.fail(error).await,
            }
        }
    }

    /// Lists everything. A list that was streamed comes with the watch that goes on from it.
    async fn list(&mut self, sink: &mut impl EventSink<T>) -> Result<Option<Box<Open>>, ListError> {
        let streams = self.options.streaming == Streaming::Auto
            && self.options.server_memory.streams(&self.resource);
        let streamed = if streams {
            self.stream(sink).await
        } else {
            Streamed::NotNow
        };
        let is_suspect = match streamed {
            Streamed::Whole(open) => return Ok(Some(open)),
            Streamed::Failed(error) => return Err(error),
            Streamed::NotNow => false,
            Streamed::Suspect => true,
        };
        let missed = &mut self.missed;
        let mut noting = |event: WatchEvent<T>| {
            match &event {
                // What an attempt hid that came to nothing, this one may show.
                WatchEvent::ListStarted { .. } => *missed = false,
                WatchEvent::Unreadable(unreadable) => *missed |= unreadable.key.is_none(),
                _ => {}
            }
            sink.accept(event);
        };
        self.cursor
            .list(&self.client, &self.resource, &self.options, &mut noting)
            .await?;
        if is_suspect {
            // The server is well, so it was the stream.
            self.options.server_memory.does_not_stream(&self.resource);
            self.tell_that_lists_are_paged();
        }
        Ok(None)
    }

    /// Returns when a new list is needed and may be sent. `open` is the watch that came with
    /// the last list.
    async fn watch_until_list(
        &mut self,
        mut open: Option<Box<Open>>,
        sink: &mut impl EventSink<T>,
    ) {
        loop {
            let next = match open.take() {
                Some(open) => {
                    self.report.opened();
                    self.follow(*open, sink).await
                }
                None => self.watch(sink).await,
            };
            match next {
                Next::Watch if self.missed => return self.need_list(None).await,
                Next::Watch => {}
                Next::List => return self.need_list(None).await,
                Next::ListLater(error) => return self.need_list(Some(error)).await,
                Next::WatchLater(error) if self.came_to_nothing(error.as_ref()) => {
                    let error = error.unwrap_or(ListError::WatchesEndAtOnce);
                    return self.need_list(Some(error)).await;
                }
                Next::WatchLater(error) => {
                    match error {
                        Some(error) => self.fail(error).await,
                        None => sleep(self.backoff.next_wait()).await,
                    }
                    if self.missed {
                        return self.need_list(None).await;
                    }
                }
            }
        }
    }

    /// Waits until the next list may be sent: for as long as `error` demands, otherwise only
    /// if there have been too many.
    async fn need_list(&mut self, error: Option<ListError>) {
        self.calm_down();
        self.short_lists += 1;
        let restless = self.is_restless().then_some(ListError::Restless);
        if let Some(error) = error.or(restless) {
            self.fail(error).await;
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
        self.report.failed(error, wait);
        sleep(wait).await;
    }

    /// The watch brought news, or was quiet for long enough.
    pub(super) fn well(&mut self, health: &Health) {
        self.calm_down();
        self.ended_at_once = 0;
        self.futile_watches = 0;
        if !health.is_short() {
            self.short_watches = 0;
        }
        // News alone are no health where each costs a list or a watch.
        if !self.is_restless() {
            self.backoff.reset();
        }
        self.report.well();
    }

    /// Counts a watch that brought nothing, and whether there were so many in a row that lists
    /// have to tell what watches do not: where only these fail, the cache would stay as it is
    /// for ever. As client-go, it asks for none where a list would fare no better.
    pub(super) fn came_to_nothing(&mut self, error: Option<&ListError>) -> bool {
        let counts = match error {
            Some(ListError::Api(error)) => match error.code() {
                Some(code) => code >= 500,
                None => matches!(
                    error,
                    ApiError::Timeout { .. } | ApiError::Disconnected { .. }
                ),
            },
            // It ended without a word, or it was a gateway that answered.
            _ => true,
        };
        self.futile_watches += u32::from(counts);
        self.futile_watches > Self::FUTILE
    }

    /// Whether lists or watches follow each other in a circle.
    pub(super) fn is_restless(&self) -> bool {
        self.short_lists > Self::AT_ONCE || self.short_watches > Self::AT_ONCE
    }

    fn calm_down(&mut self) {
        if self.listed_at.elapsed() >= Self::CALM {
            self.short_lists = 0;
        }
    }
}
