use sim_apiserver::{Kind, SimApiServer, StartError};

/// The simulated server, as the real one is here: without controllers.
pub(super) struct Simulated(SimApiServer);

/// Whoever has no token is told 401, as the real server tells who has no certificate.
const TOKEN: &str = "judge";

/// Its resourceVersions begin here, so that none can be taken for another number.
const FIRST_REVISION: u64 = 70_001;

// === impl Simulated ===

impl Simulated {
    pub(super) async fn start() -> Result<Self, StartError> {
        let scaled_object = Kind::new("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects");
        let server = SimApiServer::builder()
            .require_token(TOKEN)
            .recorded_requests(0)
            .kind(scaled_object.with_status())
            .start()
            .await?;
        server.set_next_revision(FIRST_REVISION);
        Ok(Self(server))
    }

    pub(super) fn kubeconfig(&self) -> String {
        self.0.kubeconfig()
    }

    pub(super) fn compact(&self) {
        self.0.expire_history();
    }

    pub(super) async fn stop(self) {
        self.0.shutdown().await;
    }
}
