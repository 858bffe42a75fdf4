use std::convert::Infallible;
use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

use rand::RngExt;
use tokio::sync::watch;
use tokio::time::{Duration, Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use super::backoff::{Backoff, Health};
use super::json::{Line, decode_line};
use super::lines::{Lines, NextLine};
use super::list::{Cursor, ListError, lacks_version};
use super::resource_version::is_older;
use super::status::{Phase, ReflectorStatus};
use super::{EventSink, News, Object, Unreadable, WatchEvent, WatchOptions};
use crate::client::{Answer, ApiError, Call, ResourceType, send};

/// Lists a kind once and then follows it for ever.
///
/// It never gives up: whatever goes wrong it tries again, with backoff, and tells the
/// [status](ReflectorStatus). A watch that ends is opened again where it ended, without
/// another list; only an expired version, a refusal that a new watch cannot mend, or a
/// line that hid an unknown object makes it list anew.
pub struct Reflector<T> {
    client: kube::Client,
    resource: ResourceType,
    options: WatchOptions,
    cursor: Cursor,
    backoff: Backoff,
    status: watch::Sender<ReflectorStatus>,
    /// A line could not be attributed to an object: only a list can tell what it said.
    missed: bool,
    /// The failure that the log has a warning of, until things work again.
    warned_of: Option<String>,
    object: PhantomData<fn() -> T>,
}

/// What to do after a watch has ended.
#[derive(Debug)]
enum Next {
    Watch,
    WatchLater(Option<ApiError>),
    List,
    ListLater(ApiError),
}

// === impl Reflector ===

impl<T: Object> Reflector<T> {
    /// A watch is silent for at most this long where the server sends bookmarks (one a
    /// minute), or it hangs on a connection that is dead without knowing it.
    const SILENCE: Duration = Duration::from_secs(150);
    /// What is granted on top of the time after which the server ends the watch itself.
    const GRACE: Duration = Duration::from_secs(30);

    /// Nothing is sent before [`run`](Self::run).
    pub fn new(client: kube::Client, resource: ResourceType, options: WatchOptions) -> Self {
        Self {
            client,
            resource,
            options,
            cursor: Cursor::default(),
            backoff: Backoff::new(),
            status: watch::Sender::new(ReflectorStatus::default()),
            missed: false,
            warned_of: None,
            object: PhantomData,
        }
    }

    /// How it is doing. The receiver outlives the reflector.
    pub fn status(&self) -> watch::Receiver<ReflectorStatus> {
        self.status.subscribe()
    }

    /// Feeds `sink` until `shutdown`.
    pub async fn run(mut self, mut sink: impl EventSink<T>, shutdown: CancellationToken) {
        shutdown
            .run_until_cancelled(self.list_and_watch(&mut sink))
            .await;
    }

    async fn list_and_watch(&mut self, sink: &mut impl EventSink<T>) -> Infallible {
        loop {
            self.set_phase(Phase::Listing);
            self.missed = false;
            let listed = self
                .cursor
                .list(&self.client, &self.resource, &self.options, sink)
                .await;
            if let Err(error) = listed {
                self.failed(error);
                sleep(self.backoff.next_wait()).await;
                continue;
            }
            self.set_phase(Phase::Watching);
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
                    if let Some(error) = error {
                        self.failed(error.into());
                    }
                    sleep(self.backoff.next_wait()).await;
                    if self.missed {
                        return;
                    }
                }
                Next::ListLater(error) => {
                    self.failed(error.into());
                    sleep(self.backoff.next_wait()).await;
                    return;
                }
            }
        }
    }

    /// One watch, from its request to its end.
    async fn watch(&mut self, sink: &mut impl EventSink<T>) -> Next {
        let server_timeout = Duration::from_secs(rand::rng().random_range(300..600));
        let call = self.watch_call(server_timeout);
        let (verb, target) = (call.verb, call.target.clone());
        let opened = send(&self.client, call).await;
        let mut lines = match opened {
            Ok(response) => Lines::new(response.into_body()),
            Err(error) => return self.not_opened(error),
        };
        self.well();
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
                NextLine::Line(line) => match decode_line::<T>(&line) {
                    Line::Event(event) => event,
                    Line::Error(status) => {
                        let error = ApiError::from(Answer::from_status(verb, target, *status));
                        return self.ended_by(error, &health);
                    }
                },
                NextLine::TooLong => WatchEvent::Unreadable(Unreadable {
                    key: None,
                    resource_version: None,
                    during: News::Unknown,
                    error: "line over 16 MiB".to_owned(),
                }),
                NextLine::End => return self.ended(&health, None),
                NextLine::Broken(error) => return self.ended(&health, Some(&*error)),
            };
            last_word = Instant::now();
            health.heard();
            self.backoff.reset();
            bookmarks |= matches!(event, WatchEvent::Bookmark { .. });
            self.advance(&event);
            sink.accept(event);
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
            return Next::ListLater(error);
        }
        match error.code() {
            Some(401 | 403 | 429) | None => Next::WatchLater(Some(error)),
            Some(code) if code >= 500 => Next::WatchLater(Some(error)),
            // The kind is gone, or the server does not understand the request.
            Some(_) => Next::ListLater(error),
        }
    }

    /// The server ended the watch with an error line.
    fn ended_by(&mut self, error: ApiError, health: &Health) -> Next {
        if health.is_healthy() {
            self.backoff.reset();
        }
        if lacks_version(&error) {
            if health.is_healthy() {
                tracing::info!(resource = %self.resource, "watch expired; listing again");
                return Next::List;
            }
            return Next::ListLater(error);
        }
        if error.code() == Some(429) {
            return Next::WatchLater(Some(error));
        }
        // The server's view of the history is broken: what the list says counts (RF-33).
        Next::ListLater(error)
    }

    /// The stream ended without a word of the server's.
    fn ended(&mut self, health: &Health, error: Option<&dyn Error>) -> Next {
        if health.is_healthy() {
            self.backoff.reset();
        }
        tracing::debug!(resource = %self.resource, error = error.map(tracing::field::display), "watch ended");
        if health.ended_at_once() {
            return Next::WatchLater(None);
        }
        Next::Watch
    }

    fn advance(&mut self, event: &WatchEvent<T>) {
        let version = match event {
            WatchEvent::Added(object)
            | WatchEvent::Modified(object)
            | WatchEvent::Deleted(object) => object.resource_version(),
            WatchEvent::Bookmark { resource_version } => resource_version,
            WatchEvent::Unreadable(unreadable) => {
                self.missed |= unreadable.key.is_none();
                unreadable.resource_version.as_deref().unwrap_or_default()
            }
            WatchEvent::ListStarted | WatchEvent::Listed(_) | WatchEvent::ListDone { .. } => "",
        };
        let last = self.cursor.last.as_deref().unwrap_or_default();
        if !version.is_empty() && !is_older(version, last) {
            self.cursor.last = Some(version.to_owned());
        }
    }

    fn set_phase(&self, phase: Phase) {
        self.status.send_modify(|status| {
            status.phase = phase;
            if phase == Phase::Watching {
                status.synced = true;
            }
        });
    }

    /// Told once for as long as it stays the same. The very first failure is not yet a
    /// warning: who starts a reflector waits for its list, may give up at this error, and
    /// says so itself. A second one shows that nobody gave up.
    fn failed(&mut self, error: ListError) {
        let text = error.to_string();
        let is_first = {
            let status = self.status.borrow();
            !status.synced && status.error.is_none()
        };
        let resource = &self.resource;
        if self.warned_of.as_deref() == Some(&text) {
            tracing::debug!(%resource, error = text, "still cannot list and watch");
        } else if is_first {
            tracing::info!(%resource, error = text, "cannot list and watch");
        } else {
            tracing::warn!(%resource, error = text, "cannot list and watch");
            self.warned_of = Some(text);
        }
        self.status
            .send_modify(|status| status.error = Some(Arc::new(error)));
    }

    fn well(&mut self) {
        self.warned_of = None;
        let was_failing = self
            .status
            .send_if_modified(|status| status.error.take().is_some());
        if was_failing {
            tracing::info!(resource = %self.resource, "watching again");
        }
    }
}
