use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use controller_core::informer::InformerOptions;
use controller_core::watch::Object;
use k8s_openapi::api::core::v1::ConfigMap;

use crate::server::Server;
use crate::time::anywhere;
use crate::watch_of::Informed;

/// RF-34: two objects that are listed and one that comes are three calls of the transform,
/// streamed or not. client-go makes five when it streams.
#[test]
fn each_object_is_transformed_once() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        server.put("b", "1").await;
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let transform = move |mut object: ConfigMap| {
            counted.fetch_add(1, Ordering::Relaxed);
            let name = object.key().name().to_uppercase();
            object.data = Some([("value".to_owned(), name)].into());
            Ok(object)
        };
        let options = InformerOptions::new(server.options(streaming)).transform(transform);
        let informed = Informed::start_with(&server, options);
        informed.holds(&[("a", "A"), ("b", "B")]).await;
        informed.watching().await;
        server.put("c", "1").await;
        informed.holds(&[("a", "A"), ("b", "B"), ("c", "C")]).await;
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        informed.stop().await;
        server.stop().await;
    });
}
