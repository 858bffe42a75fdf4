//! Deployments → ReplicaSets → Pods → statuses.

use std::sync::Arc;

use crate::{config::WorkloadConfig, handlers::Shared};

pub(crate) async fn run(shared: Arc<Shared>, _config: WorkloadConfig) {
    shared.closed.cancelled().await;
}
