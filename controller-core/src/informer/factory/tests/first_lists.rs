//! Who shares an informer and wants its list to be new.
use captured_log::CapturedLog;
use tracing::Level;

use super::*;
use crate::watch::FirstList;

fn most_recent() -> WatchOptions {
    everything().first_list(FirstList::MostRecent)
}

/// No widget, at version 7. Keeps the queries of the lists.
fn recording_client(queries: &Arc<Mutex<Vec<String>>>) -> kube::Client {
    let queries = Arc::clone(queries);
    let answer = move |request: Request<Body>| {
        let queries = Arc::clone(&queries);
        async move {
            let query = request.uri().query().unwrap_or_default().to_owned();
            if query.contains("watch=true") {
                std::future::pending::<()>().await;
            }
            queries.lock().push(query);
            let list = r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#;
            Ok::<_, Infallible>(Response::new(Body::from(list.as_bytes().to_vec())))
        }
    };
    kube::Client::new(tower::service_fn(answer), "default")
}

/// Runs until all have listed, and `meanwhile` has been.
async fn run(factory: &SharedInformerFactory, meanwhile: impl FnOnce()) {
    let shutdown = CancellationToken::new();
    tokio::join!(factory.run(shutdown.clone()), async {
        assert_eq!(synced_within(factory, 60).await.0, "synced");
        meanwhile();
        shutdown.cancel();
    });
}

/// One that decides from an older list than it asked for would not know.
#[tokio::test(start_paused = true)]
async fn of_two_who_share_an_informer_the_stricter_first_list_counts() {
    for (first, second) in [
        (everything(), most_recent()),
        (most_recent(), everything()),
        (most_recent(), most_recent()),
    ] {
        let queries = Arc::default();
        let factory = SharedInformerFactory::new(recording_client(&queries));
        let one = factory.informer::<Widget>(WIDGETS, first);
        assert!(factory.informer::<Widget>(WIDGETS, second).is(&one));
        run(&factory, || ()).await;
        run(&factory, || ()).await;
        assert_eq!(*queries.lock(), ["limit=500", "limit=500"]);
    }
}

/// The list of a run that is under way is what it is; the next run's is as new as was asked for.
#[tokio::test(start_paused = true)]
async fn who_asks_for_a_new_first_list_during_a_run_has_it_from_the_next_one_on() {
    let queries = Arc::default();
    let factory = SharedInformerFactory::new(recording_client(&queries));
    factory.informer::<Widget>(WIDGETS, everything());
    let (log, _guard) = CapturedLog::start(Level::WARN);
    run(&factory, || {
        factory.informer::<Widget>(WIDGETS, everything());
        assert_eq!(log.text(), "");
        factory.informer::<Widget>(WIDGETS, most_recent());
    })
    .await;
    insta::assert_snapshot!(log.take().trim(), @"WARN the most recent first list was asked for during a run; the next one begins with it resource=widgets.example.com");
    run(&factory, || {
        factory.informer::<Widget>(WIDGETS, most_recent());
    })
    .await;
    assert_eq!(log.text(), "");
    let queries = queries.lock();
    assert!(queries[0].contains("resourceVersion=0"), "{}", queries[0]);
    assert_eq!(queries[1..], ["limit=500"]);
}
