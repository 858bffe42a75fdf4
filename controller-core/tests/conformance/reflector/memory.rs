use std::sync::atomic::{AtomicUsize, Ordering};

use controller_core::client::ObjectKey;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::watch::{Object, Streaming};
use serde::Deserialize;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio_util::sync::CancellationToken;

use crate::server::{CONFIG_MAPS, Server};
use crate::time::simulated;

static ALIVE: AtomicUsize = AtomicUsize::new(0);

/// A ConfigMap that is counted for as long as it is in memory.
#[derive(Deserialize)]
struct Counted {
    metadata: Metadata,
    #[serde(skip, default = "Alive::begin")]
    _alive: Alive,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    namespace: String,
    name: String,
    uid: String,
    resource_version: String,
}

struct Alive;

/// RF-36: an object that stays holds nothing of the page that it came with: when all others are
/// deleted, they are freed.
#[test]
fn an_object_keeps_no_page_in_memory() {
    simulated(async {
        const PAGE: usize = 100;
        let server = Server::start().await;
        let name = |index: usize| format!("object-{index:03}");
        for index in 0..5 * PAGE {
            server.put(&name(index), "1").await;
        }
        // Only a list without a version comes in pages from any server.
        let expired = Rule::new(Action::Expired).verb(Verb::List).attempts(1);
        server.faults().add(expired);
        let mut options = server.options(Streaming::Never);
        options.page_size = Some(100);
        let options = InformerOptions::new(options);
        let informer = SharedInformer::<Counted>::new(server.client(), CONFIG_MAPS, options);
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            let mut status = informer.status();
            status.wait_for(|now| now.watched).await.unwrap();
            let pages = server.asked();
            let pages = pages.iter().filter(|it| it.contains("next")).count() + 1;
            assert_eq!(pages, 5);
            assert_eq!(ALIVE.load(Ordering::Relaxed), 5 * PAGE);
            for index in (0..5 * PAGE).filter(|index| index % PAGE != 0) {
                server.delete(&name(index)).await;
            }
            let now = server.put(&name(0), "2").await;
            let lister = informer.lister();
            while lister.resource_version().as_ref() != Some(&now) {
                tokio::task::yield_now().await;
            }
            assert_eq!(lister.len(), 5);
            stop.cancel();
        });
        assert_eq!(ALIVE.load(Ordering::Relaxed), 5);
        server.stop().await;
    });
}

// === impl Alive ===

impl Alive {
    fn begin() -> Self {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

// === impl Counted ===

impl Object for Counted {
    fn key(&self) -> ObjectKey {
        ObjectKey::namespaced(&self.metadata.namespace, &self.metadata.name)
    }

    fn uid(&self) -> &str {
        &self.metadata.uid
    }

    fn resource_version(&self) -> &str {
        &self.metadata.resource_version
    }
}
