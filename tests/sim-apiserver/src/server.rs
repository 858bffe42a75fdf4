//! The running server.

use std::{future::Future, net::SocketAddr, sync::Arc};

use faults::{Faults, Script};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::{
    Builder, Recorded, SimService, Tls,
    handlers::{Api, Shared},
    recorder::Recorder,
    workload,
};

/// A running API server. Dropping it stops it; [`shutdown`](Self::shutdown) also waits until it has stopped.
#[derive(Debug)]
pub struct SimApiServer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) recorder: Arc<Recorder>,
    faults: Faults,
    address: SocketAddr,
    tls: Option<Tls>,
    tasks: TaskTracker,
}

/// The namespaces that every cluster has.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

// === impl SimApiServer ===

impl SimApiServer {
    /// A server with the real server's defaults and no faults.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn start(
        shared: Arc<Shared>,
        script: Script,
        listener: TcpListener,
        address: SocketAddr,
        tls: Option<Tls>,
    ) -> Self {
        let server = Self {
            recorder: Arc::new(Recorder::new(shared.config.recorded)),
            faults: Faults::new(script),
            address,
            tls,
            tasks: TaskTracker::new(),
            shared,
        };
        for name in NAMESPACES {
            server.seed(
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name,
                "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}),
            );
        }
        // The real server makes it too: `kubectl get all` shows it.
        server.seed(json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "kubernetes", "namespace": "default",
                "labels": {"component": "apiserver", "provider": "kubernetes"}},
            "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"],
                "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
                "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": address.port()}],
                "sessionAffinity": "None"},
            "status": {"loadBalancer": {}}}));
        let acceptor = server.tls.as_ref().map(Tls::acceptor);
        let connections = server.tasks.clone();
        let closed = server.shared.closed.clone();
        let service = server.service();
        server.tasks.spawn(faults::serve::accept(
            listener,
            acceptor,
            move |number| service.on_connection(number),
            connections,
            closed,
        ));
        if let Some(config) = server.shared.config.workload.clone() {
            server
                .tasks
                .spawn(workload::run(Arc::clone(&server.shared), config));
        }
        server
    }

    /// `http://127.0.0.1:PORT`, or `https://…` with TLS.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn authority(&self) -> Option<&str> {
        self.tls.as_ref().map(Tls::authority_pem)
    }

    /// The server as a tower service, without a socket: cheap to clone, and the way to paused-time tests.
    #[must_use]
    pub fn service(&self) -> SimService {
        SimService::new(
            &self.faults,
            Api(Arc::clone(&self.shared)),
            Arc::clone(&self.recorder),
        )
    }

    /// The handle on the faults: rules can be added, removed and counted at any time.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Everything it was asked so far, in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.recorder.requests()
    }

    /// The requests that a condition picks.
    #[must_use]
    pub fn requests_where(&self, condition: impl Fn(&Recorded) -> bool) -> Vec<Recorded> {
        self.recorder
            .requests()
            .into_iter()
            .filter(|recorded| condition(recorded))
            .collect()
    }

    /// Forgets what it was asked so far.
    pub fn clear_requests(&self) {
        self.recorder.clear();
    }

    /// Waits until a condition on the server holds. It is looked at now, and again after every change of an
    /// object and every request and answer.
    ///
    /// It waits for ever if need be: put a `tokio::time::timeout` around it.
    pub async fn wait_for(&self, mut condition: impl FnMut(&Self) -> bool) {
        let mut stored = self.shared.store.subscribe();
        let mut asked = self.recorder.subscribe();
        loop {
            stored.borrow_and_update();
            asked.borrow_and_update();
            if condition(self) {
                return;
            }
            tokio::select! {
                _ = stored.changed() => {}
                _ = asked.changed() => {}
            }
        }
    }

    /// [`wait_for`](Self::wait_for) on one object; `resource` as in [`object`](Self::object). `None` is an
    /// object that is not there.
    pub async fn wait_for_object(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        mut condition: impl FnMut(Option<&Value>) -> bool,
    ) {
        self.wait_for(|server| condition(server.object(resource, namespace, name).as_ref()))
            .await;
    }

    /// [`wait_for`](Self::wait_for) on the requests.
    pub async fn wait_for_requests(&self, mut condition: impl FnMut(&[Recorded]) -> bool) {
        self.wait_for(|server| condition(&server.requests())).await;
    }

    /// Ends open watches and connections and waits for every task of the server.
    pub fn shutdown(&self) -> impl Future<Output = ()> + Send + use<> {
        self.shared.close();
        self.tasks.close();
        let tasks = self.tasks.clone();
        async move { tasks.wait().await }
    }
}

impl Drop for SimApiServer {
    fn drop(&mut self) {
        self.shared.close();
    }
}
