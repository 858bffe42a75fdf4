use sim_apiserver::{SimApiServer, many_deployments};
use tokio::task::yield_now;

/// How many objects are stored before others get a turn: Ctrl-C, and whoever asks the server.
const BATCH: u32 = 500;

/// Stores `count` Deployments that opted in and have one replica: `demo-000000` and so on.
pub(super) async fn fill(server: &SimApiServer, count: u32) {
    for start in (0..count).step_by(BATCH as usize) {
        server.seed_all(many_deployments(start..count.min(start + BATCH)));
        yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_object_is_opted_in_and_has_a_name_of_its_own() {
        let server = SimApiServer::builder().start().await.unwrap();
        fill(&server, BATCH + 1).await;
        let deployments = server.objects("deployments");
        assert_eq!(deployments.len(), BATCH as usize + 1);
        assert_eq!(
            deployments[BATCH as usize]["metadata"]["name"],
            "demo-000500"
        );
        for deployment in &deployments {
            let labels = &deployment["metadata"]["labels"];
            assert_eq!(labels["demo/min-replicas"], "true");
            assert_eq!(deployment["spec"]["replicas"], 1);
        }
        server.shutdown().await;
    }
}
