use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use controller_core::watch::{Object, Streaming};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio_util::sync::CancellationToken;

use crate::bed::{Heard, config_map, informer, options, server};

/// RF-34, SI-09: two that are listed and one that comes are three calls, streamed or not.
/// client-go makes five of them when it streams.
#[tokio::test(start_paused = true)]
async fn each_object_is_transformed_once_however_it_comes() {
    for streaming in [Streaming::Auto, Streaming::Never] {
        let server = server(&["a", "b"]).await;
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let informer = informer(
            &server,
            options(streaming).transform(move |mut it: ConfigMap| {
                counted.fetch_add(1, Ordering::Relaxed);
                let name = it.key().name().to_uppercase();
                it.data = Some([("shout".to_owned(), name)].into());
                Ok(it)
            }),
        );
        let heard = Heard::default();
        let registration = informer.add_handler(heard.handler());
        let stop = CancellationToken::new();
        tokio::join!(informer.run(stop.clone()), async {
            assert!(registration.synced().await);
            server.seed(config_map("c"));
            heard.until(3).await;
            stop.cancel();
        });
        assert_eq!(calls.load(Ordering::Relaxed), 3, "{streaming:?}");
        let objects = informer.lister().list();
        let mut shouts: Vec<_> = objects
            .iter()
            .map(|it| it.data.as_ref().unwrap()["shout"].as_str())
            .collect();
        shouts.sort_unstable();
        assert_eq!(shouts, ["A", "B", "C"]);
        server.shutdown().await;
    }
}
