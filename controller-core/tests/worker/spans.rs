use std::sync::Arc;
use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::worker::layers::SpanLayer;
use controller_core::worker::{
    Guarded, Outcome, ReconcileError, ReconcileRequest, ReconcileService, WorkerPool,
};
use futures::FutureExt;
use tower::layer::layer_fn;
use tower::{Layer, ServiceExt, service_fn};
use tracing::Level;

use super::scripted::{Key, Scripted, Step, queue, stop_after};

const WITHOUT_ID: [(&str, &str); 1] = [("reconcileID=[0-9a-f-]{36}", "reconcileID=ID")];

/// Also what a layer of one's own logs, and what becomes of the key.
#[tokio::test(start_paused = true)]
async fn all_that_is_logged_of_a_call_is_in_its_span() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let queue = queue();
    queue.add("shop/web");
    let reconciler = Scripted::new(|_, before| match before {
        0 => Step::Fail("not yet"),
        _ => Step::Done,
    });
    let telling = layer_fn(|inner: Guarded<Scripted>| {
        service_fn(move |request: ReconcileRequest<Key>| {
            let call = inner.clone().oneshot(request).boxed();
            async move {
                tracing::info!("before");
                let answer = call.await;
                tracing::info!("after");
                answer
            }
        })
    });
    let pool = WorkerPool::new(queue.clone(), Arc::clone(&reconciler), 1).layer(telling);
    tokio::join!(stop_after(1_000, &queue), pool.run());
    insta::with_settings!({filters => WITHOUT_ID}, {
        insta::assert_snapshot!(log.text(), @r#"
        INFO reconcile{queue="test" key=shop/web attempt=1 reconcileID=ID}: before
        INFO reconcile{queue="test" key=shop/web attempt=1 reconcileID=ID}: after
        WARN reconcile{queue="test" key=shop/web attempt=1 reconcileID=ID}: reconcile failed key=shop/web error="not yet"
        INFO reconcile{queue="test" key=shop/web attempt=2 reconcileID=ID}: before
        INFO reconcile{queue="test" key=shop/web attempt=2 reconcileID=ID}: after
        "#);
    });
}

/// Of a service that is called by hand.
#[tokio::test]
async fn the_span_can_be_had_without_a_pool() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let service = service_fn(|_: ReconcileRequest<Key>| async {
        tracing::info!("called");
        Ok::<_, ReconcileError>(Outcome::Done)
    });
    let request = ReconcileRequest::new("shop/web")
        .with_attempt(3)
        .with_queued_for(Duration::from_millis(1_250));
    let service = SpanLayer::new("by-hand").layer(service);
    assert_eq!(service.oneshot(request).await.unwrap(), Outcome::Done);
    insta::with_settings!({filters => WITHOUT_ID}, {
        insta::assert_snapshot!(log.text(), @r#"INFO reconcile{queue="by-hand" key=shop/web attempt=3 queued_for=1.25s reconcileID=ID}: called"#);
    });
}

#[tokio::test]
async fn two_calls_for_one_key_have_two_ids() {
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let service = ReconcileService::new(Scripted::new(|_, _| Step::Done));
    let service = SpanLayer::new("test").layer(service);
    for _ in 0..2 {
        let telling = service.clone().map_future(|call| async move {
            tracing::info!("called");
            call.await
        });
        SpanLayer::new("outer")
            .layer(telling)
            .oneshot(ReconcileRequest::new("a"))
            .await
            .unwrap();
    }
    let text = log.text();
    let ids: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once("reconcileID=")?.1.get(..36))
        .collect();
    assert_eq!(ids.len(), 2, "{text}");
    assert_ne!(ids[0], ids[1]);
}
