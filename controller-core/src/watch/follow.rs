use std::error::Error;

use kube::client::Body;
use tokio::task::consume_budget;
use tokio::time::{Duration, Instant, timeout_at};

use super::backoff::Health;
use super::codec::{Codec, Line, codec_of};
use super::json::Json;
use super::lines::{Lines, NextLine};
use super::list_error::lacks_version;
use super::resource_version::{advances, is_older};
use super::{EventSink, ListError, News, Object, Reflector, Unreadable, WatchEvent};
use crate::client::{Answer, ApiError, Call, Target, Verb, send};

/// What is granted on top of the time after which the server ends a watch itself.
const GRACE: Duration = Duration::from_secs(30);

/// By so much a watch may end before its time by our clock: the server's began earlier, before
/// it sent the head of its answer.
const EARLY: Duration = Duration::from_secs(5);

/// An open watch.
pub(super) struct Open {
    pub(super) lines: Lines<Body>,
    pub(super) codec: Json,
    pub(super) health: Health,
    /// When the server will have ended it, if anything comes of it at all.
    pub(super) ends_by: Instant,
    target: Target,
}

/// What to do after a watch has ended. *Later* is after the next wait of the backoff.
#[derive(Debug)]
pub(super) enum Next {
    /// It had been well, so the next one is opened at once, where it ended.
    Watch,
    /// The same, but not in a hot loop.
    WatchLater(Option<ListError>),
    /// The version expired under a healthy watch: only a list helps.
    List,
    /// What the server said makes a watch pointless.
    ListLater(ListError),
}

// === impl Open ===

impl Open {
    /// The next line, if it comes before `deadline`.
    ///
    /// A body that always has something ready never lets a timer run, so that the time is
    /// looked at as well.
    pub(super) async fn next_line(&mut self, deadline: Instant) -> Option<NextLine> {
        let line = timeout_at(deadline, self.lines.next()).await.ok()?;
        (Instant::now() < deadline).then_some(line)
    }

    /// Whether it has lived for as long as the server was told.
    fn is_whole(&self) -> bool {
        Instant::now() + GRACE + EARLY >= self.ends_by
    }

    /// The error in an ERROR line.
    pub(super) fn error(&self, status: kube::core::Status) -> ApiError {
        Answer::from_status(Verb::Watch, self.target.clone(), status).into()
    }
}

// === impl Reflector ===

impl<T: Object> Reflector<T> {
    /// A watch brings nothing that can be read for at most this long where the server sends
    /// bookmarks (one a minute), or it hangs on a connection that is dead without knowing it.
    const SILENCE: Duration = Duration::from_secs(150);
    /// So many watches in a row may end at once before that counts as a failure.
    const CUT_BY_CHANCE: u32 = 2;

    /// Opens a watch from `version`, with the parameters in `more`.
    pub(super) async fn open(
        &self,
        version: &str,
        more: &[(&str, &str)],
    ) -> Result<Open, ListError> {
        let server_timeout = self.options.watch_timeout();
        let timeout = server_timeout.as_secs().to_string();
        let version = Some(("resourceVersion", version)).filter(|_| !version.is_empty());
        let call = self
            .options
            .select(Call::watch(&self.resource, &self.options.scope))
            .with_query([("allowWatchBookmarks", "true")])
            .with_query(version)
            .with_query(more.iter().copied())
            .with_query([("timeoutSeconds", timeout)]);
        let target = call.target.clone();
        let response = send(&self.client, call).await?;
        let codec = codec_of(response.headers(), &self.resource)?;
        self.report.contact();
        Ok(Open {
            lines: Lines::new(response.into_body()),
            codec,
            health: Health::opened_now(),
            ends_by: Instant::now() + server_timeout + GRACE,
            target,
        })
    }

    /// One watch from where the last one ended, from its request to its end.
    pub(super) async fn watch(&mut self, sink: &mut impl EventSink<T>) -> Next {
        let last = self.cursor.last.clone().unwrap_or_default();
        match self.open(&last, &[]).await {
            Ok(open) => {
                self.report.opened();
                self.follow(open, sink).await
            }
            Err(ListError::Api(error)) => not_opened(error),
            // What answers is not the server: no list is needed for that.
            Err(error) => Next::WatchLater(Some(error)),
        }
    }

    /// Follows an open watch to its end.
    pub(super) async fn follow(&mut self, mut open: Open, sink: &mut impl EventSink<T>) -> Next {
        let mut last_word = Instant::now();
        loop {
            let deadline = if self.sends_bookmarks {
                open.ends_by.min(last_word + Self::SILENCE)
            } else {
                open.ends_by
            };
            let Some(line) = open.next_line(deadline).await else {
                tracing::info!(resource = %self.resource, "watch went silent; opening it again");
                return if self.came_to_nothing(None) {
                    Next::List
                } else {
                    Next::Watch
                };
            };
            let event = match line {
                NextLine::Line(line) => match open.codec.line(&line) {
                    Line::Event(event) => event,
                    Line::InitialEnd { resource_version } => {
                        WatchEvent::Bookmark { resource_version }
                    }
                    Line::Error(status) => {
                        return self.ended_by(open.error(*status), &open.health);
                    }
                },
                NextLine::TooLong(beginning) => {
                    WatchEvent::Unreadable(Codec::<T>::long_line(&open.codec, &beginning))
                }
                NextLine::End => return self.ended(&open, None),
                NextLine::Broken(error) => return self.ended(&open, Some(&*error)),
            };
            self.report.contact();
            let is_readable = !matches!(event, WatchEvent::Unreadable(_));
            let advanced = self.advance(&event);
            sink.accept(event);
            // What nobody can read is no word: it may be a proxy that keeps the line warm. And
            // the time that the sink takes is no silence.
            if is_readable {
                last_word = Instant::now();
                self.hearing.heard(last_word, matches!(advanced, Ok(true)));
            }
            match advanced {
                Ok(true) => {
                    open.health.brought_news();
                    self.well(&open.health);
                }
                Ok(false) => {}
                Err(stale) => return Next::ListLater(stale),
            }
            // A stream that always has a line ready would otherwise never let the other
            // tasks of this thread run.
            consume_budget().await;
        }
    }

    /// The server ended the watch with an error line.
    fn ended_by(&mut self, error: ApiError, health: &Health) -> Next {
        if health.is_healthy() {
            self.well(health);
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
    fn ended(&mut self, open: &Open, error: Option<&dyn Error>) -> Next {
        let health = &open.health;
        if health.is_healthy() {
            self.well(health);
        }
        tracing::debug!(resource = %self.resource, error = error.map(tracing::field::display), "watch ended");
        if !health.is_short() {
            self.ended_at_once = 0;
            self.short_watches = 0;
            self.futile_watches = 0;
            if self.hearing.is_overdue(open.is_whole()) {
                tracing::info!(resource = %self.resource, "no watch has said anything for long; listing again");
                return Next::List;
            }
            return Next::Watch;
        }
        self.short_watches += 1;
        if health.is_healthy() && !self.is_restless() {
            return Next::Watch;
        }
        self.ended_at_once += 1;
        // A server that restarts cuts a watch or two; a proxy that cannot watch cuts
        // all of them, and leaves a cache that looks well and never changes.
        let is_habit = self.is_restless() || self.ended_at_once > Self::CUT_BY_CHANCE;
        Next::WatchLater(is_habit.then_some(ListError::WatchesEndAtOnce))
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
                self.missed |= hides(unreadable);
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
        let is_bookmark = matches!(event, WatchEvent::Bookmark { .. });
        // One without a version is no sign that there will be others.
        self.sends_bookmarks |= is_bookmark && !matches!(version, "" | "0");
        let advanced = advances(version, last);
        if advanced {
            self.cursor.last = Some(version.into());
            self.report.at(self.cursor.last.as_ref());
        }
        Ok(advanced)
    }
}

/// Whether only a list can tell what such a line said: of which object it was, or whether that is
/// gone.
pub(super) fn hides(unreadable: &Unreadable) -> bool {
    unreadable.key.is_none() || unreadable.during == News::Unknown
}

/// The server did not even open the watch.
fn not_opened(error: ApiError) -> Next {
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
