use std::fmt;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use tokio::time::Duration;
use tokio_util::sync::CancellationToken;
use tower::BoxError;

use super::deadline::lasts;
use super::error::{connection_lost, retry_after};

/// Which failures are tried again, how often, and for how long.
///
/// | failure | who is retried | limit |
/// |---|---|---|
/// | 429 or 503 with `Retry-After` | every method: the server has not begun | `tries` |
/// | another 5xx with `Retry-After` | reads | `tries` |
/// | 429, 502, 503, 504 without it | reads | `blind_tries` |
/// | connection lost before the answer | reads | `blind_tries` |
/// | refused, no address, TLS, deadline | nobody: waiting rarely helps, and a person waits | – |
/// | anything of a watch, and of a list of a reflector | nobody here: the reflector backs off | – |
///
/// A wait is at least what the server asks for. It doubles from `first_wait` to `max_wait`
/// (200, 400, 800 ms, 1.6, 3.2, 5, 5 s …), each up to a quarter longer at random, and none
/// begins that would end after `budget`. With the defaults a server that answers
/// `Retry-After: 1` for ever is tried at most 12 times in 45 s, and its last answer is
/// what the caller gets. A gateway that answers 502 is tried 4 times, with less than 2 s of
/// waiting in all.
///
/// ```
/// use controller_core::client::{ClientOptions, RetryPolicy};
/// use tokio::time::Duration;
///
/// let mut options = ClientOptions::new("my-controller/1.0");
/// // Somebody waits at a prompt: rather an error than half a minute of silence.
/// options.retry = RetryPolicy { budget: Duration::from_secs(10), ..RetryPolicy::default() };
/// ```
///
/// A [`Call`](super::Call) may say until when it is sent again at all: see
/// [`stop_retrying`](super::Call::stop_retrying).
///
/// Retries here and elsewhere do not multiply: a reconcile that fails after them is added
/// to its queue once, and whoever has a loop of its own, as a reflector does, sends its calls
/// with [`Retried::ByCaller`]. Do not add a retry of your own around
/// [`fetch`](super::fetch); return the error.
///
/// The dangerous mistake is to retry writes whose answer was lost: the second try meets
/// the first one's result. That decision belongs to [`crate::write`], which reads the
/// object first.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// How often a request is sent in all when the server says when to come back.
    pub tries: u32,
    /// How often it is sent in all when nobody does.
    pub blind_tries: u32,
    /// How long the waits and tries of one request may take together.
    pub budget: Duration,
    /// The first wait; each later one doubles it.
    pub first_wait: Duration,
    /// The longest wait that is not asked for by the server.
    pub max_wait: Duration,
}

/// Who sends a [`Call`](super::Call) again after a failure that may pass. There must be only
/// one: two loops multiply their tries and add their waits.
///
/// ```
/// use controller_core::client::{Call, ResourceType, Retried, Scope};
///
/// const PODS: ResourceType = ResourceType::namespaced("", "v1", "pods", "Pod");
/// // Polled every ten seconds: the next poll is the retry.
/// let poll = Call::list(&PODS, &Scope::All).with_retries_by(Retried::ByCaller);
/// ```
///
/// The dangerous mistake is `ByCaller` where the caller has no loop: the first 429 of a
/// server that is starting is then the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retried {
    /// The client's retry layer, by its [`RetryPolicy`].
    #[default]
    ByClient,
    /// The caller: the first answer is handed out, whatever it is.
    ByCaller,
}

/// A wait before the next try, for whoever shows it to a person.
///
/// ```
/// use controller_core::client::{ClientOptions, OnWait};
///
/// let mut options = ClientOptions::new("my-controller/1.0");
/// options.on_wait = Some(OnWait::new(|waiting| {
///     println!("waiting for {}: {}", waiting.request, waiting.why);
/// }));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Method and path of the request.
    pub request: String,
    /// The server's sentence, or what happened to the connection.
    pub why: String,
    /// How often the request has been sent so far.
    pub tries: u32,
    /// How long this request has been going on.
    pub elapsed: Duration,
    /// How long the next try is away.
    pub wait: Duration,
}

/// Is told of every wait of every request. It runs between two tries, so it must not
/// block.
#[derive(Clone)]
pub struct OnWait(Arc<dyn Fn(&Waiting) + Send + Sync>);

/// In a request's extensions: cancelled, the request is not sent again.
#[derive(Clone, Debug)]
pub(super) struct StopRetrying(pub(super) CancellationToken);

/// Whether and why to try again; the table of [`RetryPolicy`] as a type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Again {
    No,
    /// The server said when to come back.
    Asked(Duration),
    /// Nobody knows when it will work.
    Blind,
}

// === impl RetryPolicy ===

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 12,
            blind_tries: 4,
            budget: Duration::from_secs(45),
            first_wait: Duration::from_millis(200),
            max_wait: Duration::from_secs(5),
        }
    }
}

impl RetryPolicy {
    /// Never tries twice: what the server answers first is the answer. For a caller with
    /// a loop of its own, such as the renewal of a Lease, where an answer that comes late is
    /// worth nothing.
    pub fn none() -> Self {
        Self {
            tries: 1,
            blind_tries: 1,
            ..Self::default()
        }
    }

    /// How long to wait before the next try, or `None` to hand `outcome` out.
    /// `tries` counts those made; `jitter` is in 0..1.
    pub(super) fn wait<A, B>(
        &self,
        request: &Request<A>,
        outcome: &Result<Response<B>, BoxError>,
        tries: u32,
        elapsed: Duration,
        jitter: f64,
    ) -> Option<Duration> {
        let (asked, allowed) = match again(request, outcome) {
            Again::No => return None,
            Again::Asked(wait) => (wait, self.tries),
            Again::Blind => (Duration::ZERO, self.blind_tries),
        };
        if tries >= allowed || asked > self.budget {
            return None;
        }
        let doubled = self
            .first_wait
            .saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)))
            .min(self.max_wait);
        // Only ever longer: a server that says one second does not want 0.8.
        let wait = asked.max(doubled).mul_f64(1.0 + jitter / 4.0);
        (elapsed.saturating_add(wait) <= self.budget).then_some(wait)
    }
}

fn again<A, B>(request: &Request<A>, outcome: &Result<Response<B>, BoxError>) -> Again {
    let by: Retried = request.extensions().get().copied().unwrap_or_default();
    if lasts(request) || by == Retried::ByCaller {
        return Again::No;
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    match outcome {
        Ok(response) => {
            let status = response.status();
            let overloaded = matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
            );
            match retry_after(response.headers()) {
                Some(wait) if overloaded || (reads && status.is_server_error()) => {
                    Again::Asked(wait)
                }
                None if reads
                    && (overloaded
                        || matches!(
                            status,
                            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT
                        )) =>
                {
                    Again::Blind
                }
                _ => Again::No,
            }
        }
        Err(error) if reads && connection_lost(&**error) => Again::Blind,
        Err(_) => Again::No,
    }
}

// === impl OnWait ===

impl OnWait {
    /// Calls `hook` at the start of every wait.
    pub fn new(hook: impl Fn(&Waiting) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hook))
    }

    pub(super) fn call(&self, waiting: &Waiting) {
        (self.0)(waiting);
    }
}

impl fmt::Debug for OnWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnWait")
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use http::header;

    use super::*;

    type Outcome = Result<Response<()>, BoxError>;

    fn answer(status: u16, retry_after: Option<u64>) -> Outcome {
        let mut response = Response::builder().status(status);
        if let Some(seconds) = retry_after {
            response = response.header(header::RETRY_AFTER, seconds);
        }
        Ok(response.body(()).unwrap())
    }

    fn broken(kind: io::ErrorKind) -> Outcome {
        Err(Box::new(io::Error::from(kind)))
    }

    fn verdict(method: Method, path: &str, outcome: &Outcome) -> Again {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(())
            .unwrap();
        again(&request, outcome)
    }

    /// RT-06, RT-08.
    #[test]
    fn only_what_can_be_repeated_is_repeated() {
        use Again::{Asked, Blind, No};
        let second = Duration::from_secs(1);
        let rows: Vec<(Outcome, Again, Again)> = vec![
            // outcome, of a GET, of a PATCH
            (answer(200, None), No, No),
            (answer(200, Some(1)), No, No),
            (answer(301, Some(1)), No, No),
            (answer(403, Some(1)), No, No),
            (answer(429, Some(1)), Asked(second), Asked(second)),
            (answer(503, Some(1)), Asked(second), Asked(second)),
            (answer(500, Some(1)), Asked(second), No),
            (answer(504, Some(1)), Asked(second), No),
            (answer(429, None), Blind, No),
            (answer(502, None), Blind, No),
            (answer(503, None), Blind, No),
            (answer(504, None), Blind, No),
            (answer(500, None), No, No),
            (broken(io::ErrorKind::ConnectionReset), Blind, No),
            (broken(io::ErrorKind::UnexpectedEof), Blind, No),
            (broken(io::ErrorKind::ConnectionRefused), No, No),
            (broken(io::ErrorKind::TimedOut), No, No),
        ];
        for (outcome, get, patch) in rows {
            assert_eq!(verdict(Method::GET, "/x", &outcome), get, "{outcome:?}");
            assert_eq!(verdict(Method::PATCH, "/x", &outcome), patch, "{outcome:?}");
            let watch = verdict(Method::GET, "/x?watch=true", &outcome);
            assert_eq!(watch, No, "{outcome:?}");
        }
    }

    #[test]
    fn what_the_caller_retries_is_not_retried_here() {
        let mut request = Request::get("/x").body(()).unwrap();
        request.extensions_mut().insert(Retried::ByCaller);
        for outcome in [
            answer(429, Some(1)),
            answer(504, Some(1)),
            answer(503, None),
            broken(io::ErrorKind::ConnectionReset),
        ] {
            assert_eq!(again(&request, &outcome), Again::No, "{outcome:?}");
        }
    }

    /// RT-10: attempts and not retries are counted.
    #[test]
    fn the_last_try_is_handed_out() {
        let policy = RetryPolicy::default();
        let request = Request::get("/x").body(()).unwrap();
        let wait = |tries, elapsed| {
            policy.wait(
                &request,
                &answer(429, Some(1)),
                tries,
                Duration::from_secs(elapsed),
                0.0,
            )
        };
        assert_eq!(wait(11, 0), Some(Duration::from_secs(5)));
        assert_eq!(wait(12, 0), None);
        assert_eq!(wait(2, 44), Some(Duration::from_secs(1)));
        assert_eq!(wait(2, 45), None);
    }

    /// A server that wants a longer wait than the budget holds gets no second try.
    #[test]
    fn a_wait_beyond_the_budget_is_an_answer() {
        let request = Request::get("/x").body(()).unwrap();
        let policy = RetryPolicy::default();
        let outcome = answer(429, Some(60));
        assert_eq!(
            policy.wait(&request, &outcome, 1, Duration::ZERO, 0.0),
            None
        );
        let forever = answer(429, Some(u64::MAX));
        assert_eq!(
            policy.wait(&request, &forever, 1, Duration::ZERO, 0.9),
            None
        );
    }

    #[test]
    fn jitter_only_lengthens() {
        let request = Request::get("/x").body(()).unwrap();
        let policy = RetryPolicy::default();
        let wait = |jitter| {
            policy
                .wait(&request, &answer(429, Some(1)), 1, Duration::ZERO, jitter)
                .unwrap()
        };
        assert_eq!(wait(0.0), Duration::from_secs(1));
        assert_eq!(wait(0.8), Duration::from_millis(1200));
    }
}
