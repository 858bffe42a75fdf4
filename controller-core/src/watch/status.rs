use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Duration, Instant};

use super::ListError;
use super::pulse::Pulse;
use crate::client::{Answer, ResourceType};

/// How a reflector is doing: what a readiness probe asks, and whoever waits for the first
/// list.
///
/// `synced` and `watched` only ever become true, `listed_this_run` becomes so once a run;
/// `state` and `error` come and go. A
/// reflector with an error is not stopped: it tries again. So it never returns an error
/// either; here is where they are. In client-go they are spread over `HasSynced` and
/// `WatchErrorHandler`.
///
/// Everything in it is of one moment, but for [`last_contact`](Self::last_contact) and
/// [`resource_version`](Self::resource_version). Those change with every event, so they are
/// read live, and their change wakes nobody.
///
/// The dangerous mistake is to wait for `synced` alone where the answer may be a refusal:
/// look at `error` too, or the wait has no end.
///
/// ```
/// use controller_core::informer::SharedInformer;
/// use controller_core::watch::Object;
///
/// /// Waits for the first list, but not behind a missing permission.
/// async fn ready<T: Object>(informer: &SharedInformer<T>) -> Result<(), String> {
///     let mut status = informer.status();
///     // Wrong: status.wait_for(|now| now.synced)
///     let settled = status.wait_for(|now| now.synced || now.error.is_some()).await;
///     match settled {
///         Ok(now) if now.synced => Ok(()),
///         Ok(now) => Err(now.error.as_ref().map_or_else(String::new, |why| why.to_string())),
///         Err(_) => Err("the informer is gone".into()),
///     }
/// }
/// ```
///
/// A program that rather waits through an overloaded server than gives up looks at *which*
/// error it is; [`runtime::run`](crate::runtime::run) waits for all but those that nobody
/// but a person can mend.
///
/// Nor does `synced` say "up to date": there was a list *once*, and the cache may have been
/// frozen for hours. As a rule there is an `error` then. There is none while a dead
/// connection has not been noticed, 150 s at most where the server sends bookmarks; the age of
/// [`last_contact`](Self::last_contact) tells that too.
#[derive(Clone, Debug)]
pub struct ReflectorStatus {
    /// What it does just now.
    pub state: State,
    /// Since when it does that.
    pub since: Instant,
    /// Whether a list has ever been completed. The cache may lag behind, but it is not empty
    /// for want of an answer. It stays true where a stopped informer runs again, for the cache
    /// holds what it held.
    pub synced: bool,
    /// Whether a list has been completed in this run, the one that is under way or the last
    /// one: what the cache holds is at least as new as the start of that. Who starts again
    /// and wants no old cache waits for this.
    pub listed_this_run: bool,
    /// Whether a watch has been open since it started. Who may list but not watch never
    /// gets so far, and what the list brought grows old.
    pub watched: bool,
    /// What went wrong last; `None` once a list or a watch succeeds again.
    pub error: Option<Arc<ListError>>,
    /// How many lists have been completed.
    pub lists: u64,
    /// How many watches have been opened. A list that was streamed is one of each.
    pub watches: u64,
    /// How many requests have failed.
    pub failures: u64,
    /// How many runs have begun: the one that `listed_this_run` is about.
    pub(crate) run: u64,
    pulse: Arc<Pulse>,
}

/// What a reflector does.
#[derive(Clone, Debug, Default)]
pub enum State {
    /// Nothing yet.
    #[default]
    Starting,
    /// It waits for a list, or reads one.
    Listing,
    /// There is a list, and the watch that goes on from it is being opened.
    Synced,
    /// It follows the changes. Also for the moment between two watches of which the first
    /// ended well.
    Watching,
    /// Something failed, and it waits before it tries again. This lasts through that try, if
    /// it is a watch.
    BackingOff {
        /// When it tries again.
        until: Instant,
        /// What failed.
        why: Arc<ListError>,
    },
    /// It was told to end, or dropped. What the cache holds grows old.
    Stopped,
}

/// Keeps the status up to date, and the log readable. Ends with [`State::Stopped`].
pub(super) struct StatusReport {
    resource: ResourceType,
    status: watch::Sender<ReflectorStatus>,
    pulse: Arc<Pulse>,
    /// The failure that the log has a warning of, until things are well again.
    warned_of: Option<String>,
}

// === impl ReflectorStatus ===

impl ReflectorStatus {
    /// When the server last said anything: an answer, an event, a bookmark, a refusal.
    ///
    /// A quiet kind has no events, but a server sends a bookmark about once a minute. Three
    /// minutes without a word mean that nobody listens, or that nobody speaks.
    pub fn last_contact(&self) -> Option<Instant> {
        self.pulse.last_contact()
    }

    /// The version up to which everything has been told. `None` before the first list.
    pub fn resource_version(&self) -> Option<Arc<str>> {
        self.pulse.resource_version()
    }

    /// How often a watch had to be opened after the first one, for whatever reason. A server
    /// ends each after five to ten minutes; far more than that is a proxy that cuts them.
    pub fn restarts(&self) -> u64 {
        self.watches.saturating_sub(1)
    }

    /// The permission that is missing, if that is what went wrong last: verb, resource,
    /// namespace, and the server's sentence. It is asked for again every 15 to 30 s, so that
    /// a Role that is granted later is enough to mend it.
    pub fn denied(&self) -> Option<&Answer> {
        self.error.as_ref()?.denial()
    }

    /// The number of the run that has ended, if none is under way.
    pub(crate) fn ended(&self) -> Option<u64> {
        matches!(self.state, State::Stopped).then_some(self.run)
    }

    fn enter(&mut self, state: State) {
        if std::mem::discriminant(&self.state) != std::mem::discriminant(&state) {
            self.since = Instant::now();
        }
        self.state = state;
    }
}

impl Default for ReflectorStatus {
    fn default() -> Self {
        Self {
            state: State::Starting,
            since: Instant::now(),
            synced: false,
            listed_this_run: false,
            watched: false,
            error: None,
            lists: 0,
            watches: 0,
            failures: 0,
            run: 0,
            pulse: Arc::default(),
        }
    }
}

// === impl State ===

impl fmt::Display for State {
    /// One or two words: what a person is told, without the reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Starting => "starting",
            Self::Listing => "listing",
            Self::Synced => "synced",
            Self::Watching => "watching",
            Self::BackingOff { .. } => "backing off",
            Self::Stopped => "stopped",
        })
    }
}

// === impl StatusReport ===

impl StatusReport {
    /// A new run begins.
    pub(super) fn new(resource: ResourceType, status: watch::Sender<ReflectorStatus>) -> Self {
        status.send_modify(|status| {
            status.enter(State::Starting);
            status.run += 1;
            status.listed_this_run = false;
            status.error = None;
        });
        let pulse = Arc::clone(&status.borrow().pulse);
        Self {
            resource,
            status,
            pulse,
            warned_of: None,
        }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<ReflectorStatus> {
        self.status.subscribe()
    }

    /// The server said something.
    pub(super) fn contact(&self) {
        self.pulse.beat();
    }

    /// Everything up to this version has been told.
    pub(super) fn at(&self, version: Option<&Arc<str>>) {
        self.pulse.at(version.cloned());
    }

    /// The version that an earlier reflector with this status got to.
    pub(super) fn resume_at(&self) -> Option<Arc<str>> {
        self.pulse.resource_version()
    }

    pub(super) fn listing(&self) {
        self.status
            .send_modify(|status| status.enter(State::Listing));
    }

    pub(super) fn listed(&self) {
        self.contact();
        self.status.send_modify(|status| {
            status.enter(State::Synced);
            status.synced = true;
            status.listed_this_run = true;
            status.lists += 1;
            status.error = None;
        });
    }

    /// A watch is open. Whether it is of any use is another question, see
    /// [`well`](Self::well).
    pub(super) fn opened(&self) {
        self.status.send_modify(|status| {
            status.enter(State::Watching);
            status.watched = true;
            status.watches += 1;
            status.error = None;
        });
    }

    /// Told once for as long as it stays the same. The very first failure is not yet a
    /// warning: who starts a reflector waits for its list, may give up at this error, and
    /// says so itself. A second one shows that nobody gave up.
    pub(super) fn failed(&mut self, error: ListError, wait: Duration) {
        let text = told(&error);
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
        if matches!(&error, ListError::Api(error) if error.answer().is_some()) {
            self.contact();
        }
        let why = Arc::new(error);
        self.status.send_modify(|status| {
            status.failures += 1;
            status.error = Some(Arc::clone(&why));
            let until = Instant::now() + wait;
            status.enter(State::BackingOff { until, why });
        });
    }

    /// The watch has proved its health. Not earlier, or a server whose watches open and
    /// fail at once would have a warning with every try.
    pub(super) fn well(&mut self) {
        if self.warned_of.take().is_some() {
            tracing::info!(resource = %self.resource, "watching again");
        }
    }
}

impl Drop for StatusReport {
    fn drop(&mut self) {
        self.status
            .send_modify(|status| status.enter(State::Stopped));
    }
}

/// With the root of it: "no secure connection" alone does not say what to mend. A denial
/// names the rule that is missing: the server's sentence often does, a gateway's does not.
fn told(error: &ListError) -> String {
    if let Some(Answer { verb, target, .. }) = error.denial() {
        return format!("cannot {} {target}: {error}", verb.as_str());
    }
    let root = std::iter::successors(error.source(), |&cause| cause.source()).last();
    match root {
        Some(root) => format!("{error}: {root}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{ApiError, Target, TlsFailure, Verb};

    #[test]
    fn a_line_about_a_failure_says_why() {
        let tls = ApiError::Tls {
            server: "10.0.0.5:6443".into(),
            why: TlsFailure::UnknownIssuer,
        };
        insta::assert_snapshot!(
            told(&tls.into()),
            @"no secure connection to the server 10.0.0.5:6443: its certificate is issued by an unknown authority"
        );
        insta::assert_snapshot!(told(&ListError::NoVersion), @"the list has no resourceVersion");
        let denied = ApiError::from(Answer::from_status(
            Verb::Watch,
            Target {
                resource: "deployments.apps".into(),
                namespace: Some("shop".into()),
                name: None,
            },
            kube::core::Status {
                code: 403,
                message: "no".into(),
                ..kube::core::Status::default()
            },
        ));
        insta::assert_snapshot!(told(&denied.into()), @"cannot watch deployments.apps in namespace shop: no");
    }

    /// What stays of an earlier run is what cannot be undone.
    #[test]
    fn a_new_run_begins_without_the_list_and_the_error_of_the_last_one() {
        let status = watch::Sender::new(ReflectorStatus::default());
        let pods = || ResourceType::namespaced("", "v1", "pods", "Pod");
        let mut report = StatusReport::new(pods(), status.clone());
        report.listed();
        assert!(status.borrow().listed_this_run);
        report.failed(ListError::CutShort, Duration::ZERO);
        drop(report);
        let left = status.borrow().clone();
        assert!(matches!(left.state, State::Stopped));
        assert!(left.listed_this_run && left.synced && left.error.is_some());

        let _report = StatusReport::new(pods(), status.clone());
        let begun = status.borrow().clone();
        assert!(matches!(begun.state, State::Starting));
        assert!(!begun.listed_this_run && begun.synced && begun.error.is_none());
        assert_eq!((begun.lists, begun.failures), (1, 1));
    }
}
