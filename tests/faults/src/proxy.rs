//! A loopback proxy that misbehaves by a script.

mod front;
mod headers;
mod upstream;

use std::{io, net::SocketAddr};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tokio::net::TcpListener;
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};
use tower::Service;

use self::{front::Front, upstream::Upstream};
use crate::{BoxError, Faults, ProxyCannot, serve};

/// A proxy before a real API server, like `kubectl proxy`, whose traffic is subject to a script.
///
/// It speaks plain HTTP on a free port of 127.0.0.1 and passes everything on to a service, which holds the
/// credentials: whoever can reach the port has them. Requests that name another host than the loopback are
/// refused, so that a page in a browser cannot.
///
/// Dropping it stops it; [`shutdown`](Self::shutdown) also waits until it has stopped.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use bytes::Bytes;
/// use faults::{Action, Faults, Proxy, Rule, Verb};
/// use http::{Request, Response};
/// use http_body_util::Full;
///
/// // In real life one that calls `kube::Client::send`.
/// let upstream = tower::service_fn(|_: Request<Bytes>| async {
///     Ok::<_, std::io::Error>(Response::new(Full::from("{}")))
/// });
/// let cut = Rule::new(Action::cut_after_events(3)).verb(Verb::Watch);
/// let proxy = Proxy::start(upstream, Faults::new(cut.into())).await?;
/// assert!(proxy.url().starts_with("http://127.0.0.1:"));
/// proxy.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    faults: Faults,
    tasks: TaskTracker,
    closed: DropGuard,
}

/// Why a proxy did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The script asks for what only the simulated server can do.
    #[error(transparent)]
    Cannot(#[from] ProxyCannot),
    /// There is no free port.
    #[error("cannot listen on 127.0.0.1")]
    Listen(#[source] io::Error),
}

// === impl Proxy ===

impl Proxy {
    /// Listens, and passes requests on to `upstream`.
    ///
    /// What `upstream` is given: a whole body of at most 64 MiB; a URI without scheme and host; no
    /// hop-by-hop headers, no `Host`, and no `Accept-Encoding`; an `Accept` without binary ranges where others
    /// remain, because only lines of text can be counted and spoilt.
    ///
    /// A rule that is added to `faults` later and that a proxy cannot carry out makes it answer 501 to the
    /// requests that the rule picks; they are not passed on.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Cannot`] if a rule of `faults` needs the simulated server, [`ProxyError::Listen`] if no
    /// port is free.
    pub async fn start<S, B>(upstream: S, faults: Faults) -> Result<Self, ProxyError>
    where
        S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        faults.check_for_proxy()?;
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .map_err(ProxyError::Listen)?;
        let address = listener.local_addr().map_err(ProxyError::Listen)?;
        let front = Front::new(Upstream::new(upstream), &faults);
        let tasks = TaskTracker::new();
        let closed = CancellationToken::new();
        tasks.spawn(serve::accept(
            listener,
            None,
            move |_| front.clone(),
            tasks.clone(),
            closed.clone(),
        ));
        Ok(Self {
            address,
            faults,
            tasks,
            closed: closed.drop_guard(),
        })
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The handle on the faults: rules can be added, removed and counted at any time.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Stops listening, ends what is open within half a second, and returns when every task has ended.
    pub async fn shutdown(self) {
        drop(self.closed);
        self.tasks.close();
        self.tasks.wait().await;
    }
}
