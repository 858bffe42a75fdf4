use std::error::Error;
use std::sync::Arc;

use tokio::sync::watch;

use super::ListError;
use crate::client::{Answer, ResourceType};

/// How a reflector is doing: what a readiness probe asks, and whoever waits for the first
/// list.
///
/// `synced` and `watched` only ever become true; `phase` and `error` come and go. A
/// reflector with an error is not stopped: it tries again. So it never returns an error
/// either; here is where they are. In client-go they are spread over `HasSynced` and
/// `WatchErrorHandler`.
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
/// connection has not been noticed, 150 s at most where the server sends bookmarks, nor
/// behind a proxy that opens every watch and closes it at once.
#[derive(Clone, Debug, Default)]
pub struct ReflectorStatus {
    /// What it does just now.
    pub phase: Phase,
    /// Whether a list has been completed since it started. The cache may lag behind, but
    /// it is not empty for want of an answer.
    pub synced: bool,
    /// Whether a watch has been open since it started. Who may list but not watch never
    /// gets so far, and what the list brought grows old.
    pub watched: bool,
    /// What went wrong last; `None` once a list or a watch succeeds again.
    pub error: Option<Arc<ListError>>,
}

/// The state of a reflector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Not running yet.
    #[default]
    Starting,
    /// Waiting for a list, or for the next try at one.
    Listing,
    /// Following the changes, or waiting for the next try at it.
    Watching,
}

/// Keeps the status up to date, and the log readable.
pub(super) struct StatusReport {
    resource: ResourceType,
    status: watch::Sender<ReflectorStatus>,
    /// The failure that the log has a warning of, until things are well again.
    warned_of: Option<String>,
}

// === impl ReflectorStatus ===

impl ReflectorStatus {
    /// The permission that is missing, if that is what went wrong last: verb, resource,
    /// namespace, and the server's sentence. It is asked for again every 15 to 30 s, so that
    /// a Role that is granted later is enough to mend it.
    pub fn denied(&self) -> Option<&Answer> {
        self.error.as_ref()?.denial()
    }
}

// === impl StatusReport ===

impl StatusReport {
    pub(super) fn new(resource: ResourceType) -> Self {
        Self {
            resource,
            status: watch::Sender::new(ReflectorStatus::default()),
            warned_of: None,
        }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<ReflectorStatus> {
        self.status.subscribe()
    }

    pub(super) fn listing(&self) {
        self.status
            .send_modify(|status| status.phase = Phase::Listing);
    }

    pub(super) fn listed(&self) {
        self.status.send_modify(|status| {
            status.phase = Phase::Watching;
            status.synced = true;
            status.error = None;
        });
    }

    /// A watch is open. Whether it is of any use is another question, see
    /// [`well`](Self::well).
    pub(super) fn opened(&self) {
        self.status.send_modify(|status| {
            status.watched = true;
            status.error = None;
        });
    }

    /// Told once for as long as it stays the same. The very first failure is not yet a
    /// warning: who starts a reflector waits for its list, may give up at this error, and
    /// says so itself. A second one shows that nobody gave up.
    pub(super) fn failed(&mut self, error: ListError) {
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
        self.status
            .send_modify(|status| status.error = Some(Arc::new(error)));
    }

    /// The watch has proved its health. Not earlier, or a server whose watches open and
    /// fail at once would have a warning with every try.
    pub(super) fn well(&mut self) {
        if self.warned_of.take().is_some() {
            tracing::info!(resource = %self.resource, "watching again");
        }
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
}
