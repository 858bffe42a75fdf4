use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::{Duration, Instant, Sleep, sleep_until, timeout};
use tower::{BoxError, Layer, Service};

use super::Verb;
use super::error::DeadlineExceeded;
use super::stack::ResponseBody;

/// How long a watch may take to answer with its head. It is not the user's request
/// timeout: a server sends the head as soon as it has accepted the watch.
const WATCH_HEAD: Duration = Duration::from_secs(30);

/// How long a list may be silent where there is no limit: before its head, and between any
/// two frames of its body.
const LIST_SILENCE: Duration = Duration::from_secs(60);

/// Gives each try of a request a deadline.
///
/// | request | head | body |
/// |---|---|---|
/// | list | the limit, or 60 s | as much between any two frames; no limit for the whole |
/// | watch, followed log | 30 s, whatever the limit | none |
/// | any other | the limit, from the start of the try | what is left of it |
///
/// A list has no limit for the whole, because it would only fail again: a large one over a
/// slow line takes as long as it takes. That it comes to an end is for its reader to see to.
///
/// The limit is per try and not per request: a server that asks for patience is waited
/// for within the retry budget, while one that does not answer is given up after the
/// limit and not tried again. Making a connection counts, and has a limit of its own.
///
/// A watch is ended by the server's `timeoutSeconds` and by its reflector, which knows
/// how long silence is normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeadlineLayer {
    /// `None` is no limit: what the user asked for with `0`. A list has one all the same.
    pub(super) limit: Option<Duration>,
}

/// The service of [`DeadlineLayer`].
#[derive(Clone, Debug)]
pub(super) struct Deadline<S> {
    inner: S,
    limit: Option<Duration>,
}

/// A body that fails once its deadline has passed and nothing is there to read.
struct DeadlineBody {
    inner: ResponseBody,
    after: Duration,
    /// Whether the deadline is for each frame and not for all.
    each_frame: bool,
    /// Whether the current frame has been waited for already.
    waiting: bool,
    expires: Pin<Box<Sleep>>,
}

/// What a body may take.
#[derive(Clone, Copy, Debug)]
enum BodyLimit {
    None,
    /// Head and body together.
    Whole(Duration),
    EachFrame(Duration),
}

/// Whether the answer is meant to stay open: a watch, or a log that is followed.
///
/// The query decides and not our own [`Verb`](super::Verb), so that it also holds for
/// requests of kube's `Api` that an embedder sends through the same client.
pub(super) fn lasts<B>(request: &Request<B>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .any(|(key, value)| matches!(&*key, "watch" | "follow") && matches!(&*value, "true" | "1"))
}

// === impl DeadlineLayer ===

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Deadline<S> {
        Deadline {
            inner,
            limit: self.limit,
        }
    }
}

// === impl Deadline ===

impl<S> Service<Request<Body>> for Deadline<S>
where
    S: Service<Request<Body>, Response = Response<ResponseBody>, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_list = request.extensions().get() == Some(&Verb::List);
        let (head_limit, body_limit) = if lasts(&request) {
            (Some(WATCH_HEAD), BodyLimit::None)
        } else if is_list {
            let limit = self.limit.unwrap_or(LIST_SILENCE);
            (Some(limit), BodyLimit::EachFrame(limit))
        } else {
            (
                self.limit,
                self.limit.map_or(BodyLimit::None, BodyLimit::Whole),
            )
        };
        let started = Instant::now();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let response = match head_limit {
                Some(after) => timeout(after, answer)
                    .await
                    .map_err(|_| DeadlineExceeded { after })??,
                None => answer.await?,
            };
            let (after, each_frame) = match body_limit {
                BodyLimit::None => return Ok(response),
                BodyLimit::Whole(after) => (after, false),
                BodyLimit::EachFrame(after) => (after, true),
            };
            Ok(response.map(|inner| {
                DeadlineBody {
                    inner,
                    after,
                    each_frame,
                    waiting: false,
                    expires: Box::pin(sleep_until(started + after)),
                }
                .boxed_unsync()
            }))
        })
    }
}

// === impl DeadlineBody ===

impl http_body::Body for DeadlineBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        // What has arrived is handed out even when it is late: the reader may have been
        // slow, not the server.
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(cx) {
            self.waiting = false;
            return Poll::Ready(frame);
        }
        let waited = std::mem::replace(&mut self.waiting, true);
        if self.each_frame && !waited {
            let due = Instant::now() + self.after;
            self.expires.as_mut().reset(due);
        }
        ready!(self.expires.as_mut().poll(cx));
        let after = self.after;
        Poll::Ready(Some(Err(DeadlineExceeded { after }.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
