use std::time::Duration;

use controller_core::controllers::min_replicas::ScaledObject;
use controller_core::handler::HandlerFuncs;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::watch::ListError;
use serde_json::json;
use sim_apiserver::{Kind, SimApiServer};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::server::Server;
use crate::time::in_both_ways;

/// BX-12: a custom kind that is installed while its informer waits for it: told at once as what
/// it is, not synced meanwhile, and there within the longest wait after it was installed.
#[test]
fn a_kind_that_is_installed_later_is_listed_then() {
    const SCALED_OBJECT: Kind = Kind::new("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects");
    in_both_ways(async |streaming| {
        let builder = SimApiServer::builder().kind_installed_later(SCALED_OBJECT);
        let server = Server::of(builder).await;
        let options = InformerOptions::new(server.options(streaming));
        let resource = ScaledObject::RESOURCE;
        let informer = SharedInformer::<ScaledObject>::new(server.client(), resource, options);
        let registration = informer.add_handler(HandlerFuncs::new());
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            let mut status = informer.status();
            let start = Instant::now();
            let now = status.wait_for(|now| now.error.is_some()).await.unwrap();
            let error = now.error.clone().unwrap();
            drop(now);
            assert!(start.elapsed() < Duration::from_millis(5));
            let ListError::Api(error) = &*error else {
                panic!("{error:?}")
            };
            assert!(error.is_not_found() && error.is_unserved(), "{error:?}");
            status.wait_for(|now| now.failures >= 4).await.unwrap();
            assert!(!informer.has_synced());

            server.sim().install("scaledobjects");
            server.sim().seed(json!({
                "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
                "metadata": {"name": "web", "namespace": server.namespace()},
                "spec": {"scaleTargetRef": {"name": "web"}},
            }));
            let installed = Instant::now();
            assert!(registration.synced().await);
            assert!(installed.elapsed() < Duration::from_secs(30));
            assert_eq!(informer.lister().len(), 1);
            stop.cancel();
        });
        server.stop().await;
    });
}
