use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use controller_core::client::{ClientOptions, Scope, layered};
use controller_core::controllers::min_replicas::{DecisionLog, Metrics, Settings};
use controller_core::runtime::{RetryDelays, RunOptions, run};
use sim_apiserver::SimApiServer;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// `kubectl minrep run -n shop`, as far as it can die.
pub(super) struct Controller {
    shutdown: CancellationToken,
    tasks: JoinSet<()>,
}

// === impl Controller ===

impl Controller {
    pub(super) fn start(server: &SimApiServer) -> Self {
        let client = layered(server.service(), &ClientOptions::new("never-lower/1.0"));
        let options = RunOptions {
            settings: Settings::default(),
            scope: Scope::Namespace("shop".into()),
            workers: 2,
            retry: RetryDelays::default(),
            resync: Some(Duration::from_secs(30)),
            shutdown_grace_period: Duration::from_secs(25),
            write_deadline: Duration::from_secs(31),
            reconcile_deadline: Some(Duration::from_secs(62)),
            worker_metrics: Default::default(),
            queue_metrics: Default::default(),
            max_raises_per_minute: NonZeroU32::new(100),
            metrics: Metrics::default(),
            events: None,
            event_metrics: Default::default(),
        };
        let shutdown = CancellationToken::new();
        let token = shutdown.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // Some trouble keeps it from ever starting: then it is started again.
            let _ = run(client, options, Arc::new(DecisionLog::default()), token).await;
        });
        Self { shutdown, tasks }
    }

    /// Dies at once. What it has sent is under way.
    pub(super) async fn crash(&mut self) {
        self.tasks.shutdown().await;
    }

    /// Whether it could not start, or was not started.
    pub(super) fn is_dead(&mut self) -> bool {
        while self.tasks.try_join_next().is_some() {}
        self.tasks.is_empty()
    }

    /// Ends as one should.
    pub(super) async fn stop(&mut self) {
        self.shutdown.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}
