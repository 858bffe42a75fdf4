use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use controller_core::handler::HandlerFuncs;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::watch::Streaming;
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use tokio::runtime::Builder;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::server::{CONFIG_MAPS, Server};

/// RW-07: whoever reads no more does not keep the run from ending; nor does it keep others from
/// hearing, or the cache from moving on.
#[test]
fn a_handler_that_never_returns_does_not_keep_the_run_from_ending() {
    // It holds a thread: this is about real ones.
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (release, released) = channel::<()>();
    runtime.block_on(async {
        let server = Server::start().await;
        for name in ["a", "b", "c"] {
            server.put(name, "1").await;
        }
        let options = InformerOptions::<ConfigMap>::new(server.options(Streaming::Auto))
            .stop_within(Duration::from_millis(100));
        let informer = SharedInformer::new(server.client(), CONFIG_MAPS, options);
        let released = Mutex::new(released);
        let hangs = informer.add_handler(HandlerFuncs::new().named("hangs").on_add(
            move |_: &Arc<ConfigMap>, _| {
                let _ = released.lock().recv();
            },
        ));
        let hears = informer.add_handler(HandlerFuncs::new());
        let stop = CancellationToken::new();
        let (ended, ()) = tokio::join!(
            timeout(Duration::from_secs(20), informer.run(stop.clone())),
            async {
                assert!(hears.synced().await);
                server.put("d", "1").await;
                let lister = informer.lister();
                let version = lister.resource_version().unwrap();
                let next = (version.parse::<u64>().unwrap() + 1).to_string();
                let within = Duration::from_secs(10);
                assert!(lister.wait_for_version(&next, within).await.may_go_on());
                assert!(!hangs.has_synced());
                stop.cancel();
            }
        );
        ended.expect("the run does not end");
        assert!(informer.is_stopped());
        assert!(hangs.pending() > 0);
        server.stop().await;
    });
    drop(release);
}
