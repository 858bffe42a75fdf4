//! How a server is set up.

use std::{
    io,
    sync::{Arc, OnceLock},
    time::Duration,
};

use faults::Script;
use parking_lot::RwLock;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    SimApiServer, Tls,
    config::{Config, StreamingLists, WorkloadConfig},
    handlers::Shared,
    kinds::{Kind, Kinds},
    store::Store,
};

/// Sets up a [`SimApiServer`].
#[derive(Debug, Default)]
#[must_use = "a builder does nothing until `start` is awaited"]
pub struct Builder {
    config: Config,
    kinds: Vec<Kind>,
    absent_kinds: Vec<Kind>,
    script: Script,
    tokens: Option<Vec<String>>,
    port: u16,
    tls: Option<Tls>,
    pod_ready_after: Option<Duration>,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No port on loopback, or the wanted one is taken.
    #[error("cannot listen on 127.0.0.1")]
    Listen(#[source] io::Error),
}

// === impl Builder ===

impl Builder {
    /// Faults from the start; [`SimApiServer::faults`] changes them later.
    pub fn faults(mut self, script: impl Into<Script>) -> Self {
        self.script = script.into();
        self
    }

    /// Whether ReplicaSets and Pods are made for Deployments, and statuses kept. Off by default: then a
    /// Deployment stays as it was written, as on an API server without a controller manager.
    pub fn workload_controllers(mut self, on: bool) -> Self {
        self.config.workload = on.then(WorkloadConfig::default);
        self
    }

    /// How long a Pod takes to become Ready; 5 ms by default. Only with
    /// [`workload_controllers`](Self::workload_controllers).
    pub fn pod_ready_after(mut self, time: Duration) -> Self {
        self.pod_ready_after = Some(time);
        self
    }

    /// How often a watch gets a bookmark; 60 s by default. One more comes 2 s before a watch ends.
    pub fn bookmark_interval(mut self, interval: Duration) -> Self {
        self.config.watch.bookmark_interval = interval;
        self
    }

    /// How long a watch without `timeoutSeconds` stays open; 45 min by default.
    pub fn watch_timeout(mut self, timeout: Duration) -> Self {
        self.config.watch.default_timeout = timeout;
        self
    }

    /// How many changes a watch may lag behind before it is closed; 16,384 by default.
    pub fn watch_buffer(mut self, changes: u64) -> Self {
        self.config.watch.buffer = changes;
        self
    }

    /// How many changes of each kind are kept; 32,768 by default. What asks for older ones is answered 410, and
    /// [`SimApiServer::restore`] and stale endpoints reach back only as far as these go: of the kind that
    /// changes most.
    pub fn history(mut self, changes: usize) -> Self {
        self.config.history = changes;
        self
    }

    /// Remembers only the newest requests, this many and at most twice as many. A test wants all of them,
    /// which is the default; a server that stays up for days does not.
    pub fn recorded_requests(mut self, newest: usize) -> Self {
        self.config.recorded = newest;
        self
    }

    /// Whether `sendInitialEvents=true` is served (the default) or refused with 422, as by a server without
    /// the WatchList feature.
    pub fn streaming_lists(mut self, on: bool) -> Self {
        self.config.watch.streaming_lists = match on {
            true => StreamingLists::Served,
            false => StreamingLists::Refused,
        };
        self
    }

    /// Takes no notice of `sendInitialEvents`, as a server that has never heard of it: such a watch is a
    /// plain one, and no bookmark says where the objects that there are end.
    pub fn streaming_lists_ignored(mut self) -> Self {
        self.config.watch.streaming_lists = StreamingLists::Ignored;
        self
    }

    /// Serves another kind, such as a custom resource.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.kinds.push(kind);
        self
    }

    /// Serves another kind from [`SimApiServer::install`] on: until then it is unknown, to discovery and to
    /// its paths, as a custom resource is before its definition.
    pub fn kind_installed_later(mut self, kind: Kind) -> Self {
        self.absent_kinds.push(kind);
        self
    }

    /// Answers 401 to requests without this bearer token; may be called for several.
    pub fn require_token(mut self, token: impl Into<String>) -> Self {
        self.tokens.get_or_insert_default().push(token.into());
        self
    }

    /// Serves https. The kubeconfig then names the authority that the [`Tls`] gives out.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Listens on this port of 127.0.0.1; by default, and for 0, on a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Starts to listen on 127.0.0.1, with the namespaces `default`, `kube-system`,
    /// `kube-public` and `kube-node-lease`.
    ///
    /// # Errors
    ///
    /// [`StartError::Listen`] if there is no free port, or the wanted one is not free.
    pub async fn start(mut self) -> Result<SimApiServer, StartError> {
        if let (Some(workload), Some(time)) = (&mut self.config.workload, self.pod_ready_after) {
            workload.pod_ready_after = time;
        }
        let mut kinds = Kinds::standard();
        for kind in self.kinds {
            kinds.push(kind);
        }
        for kind in self.absent_kinds {
            kinds.push_absent(kind);
        }
        let listener = TcpListener::bind(("127.0.0.1", self.port))
            .await
            .map_err(StartError::Listen)?;
        let address = listener.local_addr().map_err(StartError::Listen)?;
        let store = Store::new(kinds.ids(), self.config.history);
        let shared = Arc::new(Shared {
            store: Arc::new(store),
            kinds,
            documents: OnceLock::new(),
            config: self.config,
            tokens: RwLock::new(self.tokens),
            closed: CancellationToken::new(),
        });
        Ok(SimApiServer::start(
            shared,
            self.script,
            listener,
            address,
            self.tls,
        ))
    }
}
