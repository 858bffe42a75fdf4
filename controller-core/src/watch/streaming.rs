use tokio::task::consume_budget;
use tokio::time::{Duration, Instant};

use super::backoff::Health;
use super::codec::{Codec, Line};
use super::follow::{Open, hides};
use super::lines::NextLine;
use super::list_error::lacks_version;
use super::seen::Seen;
use super::{EventSink, ListError, News, Object, Reflector, Unreadable, WatchEvent};
use crate::client::{ApiError, ObjectKey};

/// How a streaming list went.
pub(super) enum Streamed {
    /// It is complete, and its watch goes on.
    Whole(Box<Open>),
    /// It failed in a way that a paged list would too, or that may pass. It is asked for again
    /// after a wait.
    Failed(ListError),
    /// Not this time: the list is read page by page, at once.
    NotNow,
    /// The same. If that list comes, streaming is what does not work here.
    Suspect,
}

/// Why there is no streamed list.
enum Broken {
    /// The request was refused, or not answered.
    NotOpened(ListError),
    /// The stream ended, in whatever way.
    Ended(ListError),
    /// Nothing new came for too long.
    Silent,
}

// === impl Reflector ===

impl<T: Object> Reflector<T> {
    /// How long a streamed list may bring nothing new. It counts from the last key that the
    /// list had not brought before: a server that does not know the parameter sends the
    /// objects too, then goes on with the news of a watch, and never ends the list.
    const PROGRESS: Duration = Duration::from_secs(10);
    /// So many streams in a row may break before the list is read page by page instead.
    const BROKEN_BY_CHANCE: u32 = 1;

    /// Lists everything as the beginning of a watch (`sendInitialEvents`), which then goes on.
    ///
    /// As client-go: none below what was seen, and a version that the server does not have is
    /// asked for once more without one. Unlike client-go it ends: see
    /// [`PROGRESS`](Self::PROGRESS).
    pub(super) async fn stream(&mut self, sink: &mut impl EventSink<T>) -> Streamed {
        let asked = self.cursor.wanted("");
        let streamed = match self.stream_at(&asked, sink).await {
            Err(
                Broken::NotOpened(ListError::Api(error)) | Broken::Ended(ListError::Api(error)),
            ) if !asked.is_empty() && lacks_version(&error) => {
                self.cursor.forget_version();
                self.stream_at("", sink).await
            }
            other => other,
        };
        match streamed {
            Ok(open) => {
                self.broken_streams = 0;
                Streamed::Whole(open)
            }
            Err(Broken::Silent) => Streamed::Suspect,
            Err(Broken::NotOpened(ListError::Api(error))) => self.refused(error),
            // A page of a gateway: perhaps it lets lists through.
            Err(Broken::NotOpened(_)) => Streamed::NotNow,
            Err(Broken::Ended(error)) => match error {
                ListError::Stale { .. } => Streamed::Failed(error),
                _ if error.retry_after().is_some() => Streamed::Failed(error),
                ListError::Api(ref api) if api.code() == Some(429) || lacks_version(api) => {
                    Streamed::Failed(error)
                }
                _ => self.broken(error),
            },
        }
    }

    /// What a refusal of the request says about streaming.
    fn refused(&mut self, error: ApiError) -> Streamed {
        let memory = &self.options.server_memory;
        let asks_to_wait = error.retry_after().is_some();
        match (error.code(), &error) {
            _ if asks_to_wait || lacks_version(&error) => Streamed::Failed(error.into()),
            (Some(401 | 429), _) => Streamed::Failed(error.into()),
            // A server without the feature, or without the parameter, says so with 422 or 400.
            (Some(400 | 405 | 406 | 415 | 422 | 501), _) => {
                let message = error.status_message().unwrap_or_default();
                // Servers before 1.27 name the second parameter, for they do not know the first.
                if ["sendInitialEvents", "resourceVersionMatch"]
                    .iter()
                    .any(|parameter| message.contains(parameter))
                {
                    memory.refuses_streaming();
                } else {
                    memory.does_not_stream(&self.resource);
                }
                self.tell_that_lists_are_paged();
                Streamed::NotNow
            }
            // A proxy that waits for the end of the answer before it passes it on.
            (Some(504), _) | (None, ApiError::Timeout { .. }) => Streamed::Suspect,
            // A gateway without a server behind it, or a connection that broke.
            (Some(502 | 503), _) | (None, ApiError::Disconnected { .. }) => {
                self.broken(error.into())
            }
            // Nothing that a paged list would not meet too.
            (None, _) => Streamed::Failed(error.into()),
            // Perhaps the list is allowed where the watch is not (403), and perhaps it works
            // where this does not (500). If not, it says so itself.
            (Some(_), _) => Streamed::NotNow,
        }
    }

    fn broken(&mut self, error: ListError) -> Streamed {
        self.broken_streams += 1;
        if self.broken_streams > Self::BROKEN_BY_CHANCE {
            Streamed::Suspect
        } else {
            Streamed::Failed(error)
        }
    }

    pub(super) fn tell_that_lists_are_paged(&self) {
        tracing::info!(resource = %self.resource, "the server does not stream lists; reading them page by page");
    }

    async fn stream_at(
        &mut self,
        asked: &str,
        sink: &mut impl EventSink<T>,
    ) -> Result<Box<Open>, Broken> {
        let more = [
            ("sendInitialEvents", "true"),
            ("resourceVersionMatch", "NotOlderThan"),
        ];
        let opened = self.open(asked, &more).await;
        let mut open = Box::new(opened.map_err(Broken::NotOpened)?);
        let fresh = self.cursor.is_fresh(asked);
        self.missed = false;
        sink.accept(WatchEvent::ListStarted { fresh });
        let mut seen = Seen::default();
        let mut due = Instant::now() + Self::PROGRESS;
        loop {
            let Some(line) = open.next_line(due.min(open.ends_by)).await else {
                return Err(Broken::Silent);
            };
            self.report.contact();
            let event = match line {
                NextLine::Line(line) => match open.codec.line(&line) {
                    Line::Event(event) => event,
                    Line::Error(status) => {
                        return Err(Broken::Ended(open.error(*status).into()));
                    }
                    Line::InitialEnd { resource_version } => {
                        self.end_list(asked, resource_version, sink)
                            .map_err(Broken::Ended)?;
                        // It is a bookmark: who sends this one owes the others.
                        self.sends_bookmarks = true;
                        // What comes next is judged as any watch: a list is no sign that it
                        // will be well.
                        open.health = Health::opened_now();
                        return Ok(open);
                    }
                },
                NextLine::TooLong(beginning) => {
                    WatchEvent::Unreadable(Codec::<T>::long_line(&open.codec, &beginning))
                }
                NextLine::End | NextLine::Broken(_) => {
                    return Err(Broken::Ended(ListError::CutShort));
                }
            };
            if let Some((event, key)) = self.listed(event) {
                sink.accept(event);
                if key.is_some_and(|key| seen.is_new(&key)) {
                    due = Instant::now() + Self::PROGRESS;
                }
            }
            consume_budget().await;
        }
    }

    /// What an event within a list means: the objects are those of the list, whatever the
    /// line calls them, and in no order; one that goes meanwhile is taken back.
    fn listed(&mut self, event: WatchEvent<T>) -> Option<(WatchEvent<T>, Option<ObjectKey>)> {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let key = object.key();
                Some((WatchEvent::Listed(object), Some(key)))
            }
            WatchEvent::Deleted(_) => Some((event, None)),
            WatchEvent::Unreadable(unreadable) => {
                // Perhaps it took something back, and if not, it hides which object this list
                // does not lack.
                self.missed |= hides(&unreadable);
                let during = match unreadable.during {
                    News::Changed => News::Listed,
                    other => other,
                };
                let key = unreadable.key.clone();
                let unreadable = Unreadable {
                    during,
                    ..unreadable
                };
                Some((WatchEvent::Unreadable(unreadable), key))
            }
            // An ordinary bookmark says nothing about the list.
            WatchEvent::Bookmark { .. }
            | WatchEvent::ListStarted { .. }
            | WatchEvent::Listed(_)
            | WatchEvent::ListDone { .. } => None,
        }
    }

    fn end_list(
        &mut self,
        asked: &str,
        resource_version: String,
        sink: &mut impl EventSink<T>,
    ) -> Result<(), ListError> {
        let restored = self.cursor.check(asked, &resource_version)?;
        self.cursor.complete(&resource_version);
        sink.accept(WatchEvent::ListDone {
            resource_version,
            restored,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kube::client::Body;
    use kube::core::Status;

    use super::*;
    use crate::client::{Answer, ResourceType, Scope, Target, Verb};
    use crate::watch::testing::{WIDGETS, Widget};
    use crate::watch::{ServerMemory, WatchOptions};

    /// A refusal that names a parameter is the whole server's. Servers before 1.27 do not
    /// know the first, so they name the second.
    #[tokio::test]
    async fn a_refusal_counts_for_the_server_if_it_names_a_parameter() {
        let gadgets = ResourceType::namespaced("example.com", "v1", "gadgets", "Gadget");
        for (message, others_stream) in [
            ("sendInitialEvents is forbidden for watch", false),
            ("resourceVersionMatch is forbidden for watch", false),
            ("something is wrong", true),
        ] {
            let never = tower::service_fn(|_: http::Request<Body>| {
                std::future::pending::<Result<http::Response<Body>, std::io::Error>>()
            });
            let client = kube::Client::new(never, "default");
            let memory = ServerMemory::default();
            let options = WatchOptions::new(Scope::All).remembered_by(&memory);
            let mut reflector = Reflector::<Widget>::new(client, WIDGETS, options);
            let target = Target {
                resource: WIDGETS.to_string(),
                namespace: None,
                name: None,
            };
            let status = Status {
                code: 422,
                message: message.to_owned(),
                ..Status::default()
            };
            let refusal = Answer::from_status(Verb::Watch, target, status);
            let streamed = reflector.refused(refusal.into());
            assert!(matches!(streamed, Streamed::NotNow));
            assert!(!memory.streams(&WIDGETS));
            assert_eq!(memory.streams(&gadgets), others_stream, "{message}");
        }
    }
}
