use std::convert::Infallible;

use http::{Request, Response, StatusCode};
use kube::client::Body;
use tokio::time::Duration;

use super::*;
use crate::handler::HandlerFuncs;
use crate::watch::testing::Widget;
use crate::watch::{State, Streaming};

mod again;
mod first_lists;

const WIDGETS: ResourceType = ResourceType::namespaced("example.com", "v1", "widgets", "Widget");
const GADGETS: ResourceType = ResourceType::namespaced("example.com", "v1", "gadgets", "Gadget");
const SECRETS: ResourceType = ResourceType::namespaced("", "v1", "secrets", "Secret");

/// A server with no objects: `widgets` it lists after 10 s, `gadgets` never, `secrets` it
/// denies. A watch is silent.
fn client() -> kube::Client {
    let answer = async |request: Request<Body>| {
        let uri = request.uri().to_string();
        if uri.contains("watch=true") || uri.contains("gadgets") {
            std::future::pending::<()>().await;
        }
        let (code, body) = if uri.contains("secrets") {
            let status = r#"{"kind":"Status","code":403,"reason":"Forbidden","message":"no"}"#;
            (StatusCode::FORBIDDEN, status)
        } else {
            tokio::time::sleep(Duration::from_secs(10)).await;
            let list = r#"{"kind":"WidgetList","metadata":{"resourceVersion":"7"},"items":[]}"#;
            (StatusCode::OK, list)
        };
        let response = Response::builder()
            .status(code)
            .header("content-type", "application/json")
            .body(Body::from(body.as_bytes().to_vec()));
        Ok::<_, Infallible>(response.unwrap())
    };
    kube::Client::new(tower::service_fn(answer), "default")
}

fn everything() -> WatchOptions {
    WatchOptions::new(Scope::All).streaming(Streaming::Never)
}

fn factory(resources: &[ResourceType]) -> SharedInformerFactory {
    let factory = SharedInformerFactory::new(client());
    for resource in resources {
        factory.informer::<Widget>(resource.clone(), everything());
    }
    factory
}

/// What `synced` says within so many seconds, and when.
async fn synced_within(factory: &SharedInformerFactory, seconds: u64) -> (String, u64) {
    let start = Instant::now();
    let synced = factory.synced(start + Duration::from_secs(seconds)).await;
    let said = synced.map_or_else(|error| error.to_string(), |()| "synced".to_owned());
    (said, start.elapsed().as_secs())
}

/// SI-29: nothing to wait for; ready at 10 s; one never; all never; denied.
#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told_which_are_missing_and_why() {
    for (resources, within, expected, at) in [
        (&[][..], 60, "synced", 0),
        (&[WIDGETS], 60, "synced", 10),
        (
            &[WIDGETS],
            5,
            "widgets.example.com not synced: the deadline has passed",
            5,
        ),
        (
            &[WIDGETS, GADGETS],
            60,
            "gadgets.example.com not synced: the deadline has passed",
            60,
        ),
        (
            &[GADGETS, SECRETS],
            5,
            "gadgets.example.com, secrets (no) not synced: the deadline has passed",
            5,
        ),
    ] {
        let factory = factory(resources);
        let shutdown = CancellationToken::new();
        let ((), said) = tokio::join!(factory.run(shutdown.clone()), async {
            let said = synced_within(&factory, within).await;
            shutdown.cancel();
            said
        });
        assert_eq!(said, (expected.to_owned(), at), "{resources:?}");
    }
}

/// SI-29, cancelled beforehand or meanwhile. As `WaitForCacheSync` says: an empty cache is no
/// answer.
#[tokio::test(start_paused = true)]
async fn a_factory_that_stopped_before_its_first_list_has_not_synced() {
    for after in [0, 5] {
        let factory = factory(&[WIDGETS, GADGETS]);
        let shutdown = CancellationToken::new();
        let ((), said) = tokio::join!(
            async {
                let run = factory.run(shutdown.clone());
                tokio::join!(run, async {
                    tokio::time::sleep(Duration::from_secs(after)).await;
                    shutdown.cancel();
                });
            },
            async {
                let (said, at) = synced_within(&factory, 60).await;
                let expected = "gadgets.example.com, widgets.example.com not synced: \
                                stopped before the first list";
                assert_eq!((said.as_str(), at), (expected, after));
            }
        );
        let () = said;
    }
}

/// In client-go it would wait for the next `Start`.
#[tokio::test(start_paused = true)]
async fn what_is_asked_for_later_is_started_too() {
    let factory = factory(&[WIDGETS]);
    let shutdown = CancellationToken::new();
    tokio::join!(factory.run(shutdown.clone()), async {
        assert_eq!(synced_within(&factory, 60).await.0, "synced");
        let other = WatchOptions {
            scope: Scope::Namespace("shop".into()),
            ..everything()
        };
        let late = factory.informer::<Widget>(WIDGETS, other);
        assert_eq!(synced_within(&factory, 60).await, ("synced".into(), 10));
        assert!(late.has_synced() && late.is_running());
        shutdown.cancel();
    });
}

#[tokio::test(start_paused = true)]
async fn a_factory_runs_again() {
    let factory = factory(&[WIDGETS]);
    for _ in 0..2 {
        let shutdown = CancellationToken::new();
        tokio::join!(factory.run(shutdown.clone()), async {
            let mut status = factory.informer::<Widget>(WIDGETS, everything()).status();
            let watching = |now: &ReflectorStatus| matches!(now.state, State::Synced);
            status.wait_for(watching).await.unwrap();
            shutdown.cancel();
        });
        let health = factory.health();
        let is_stopped = |it: &Health| matches!(it.status.state, State::Stopped);
        assert!(health.iter().all(is_stopped), "{health:?}");
    }
    assert_eq!(factory.health()[0].status.lists, 2);
}

/// SI-35: there is nothing to name; what is the same is one.
#[tokio::test]
async fn two_requests_are_one_informer_if_they_see_the_same_objects() {
    let factory = SharedInformerFactory::new(client());
    let first = factory.informer::<Widget>(WIDGETS, everything());
    let is_first = |watch| factory.informer::<Widget>(WIDGETS, watch).is(&first);
    let all = || WatchOptions::new(Scope::All);
    // How it is asked for makes no other cache.
    assert!(is_first(all()));
    assert!(is_first(WatchOptions {
        page_size: Some(7),
        ..all()
    }));
    assert!(is_first(all().min_watch_timeout(Duration::from_secs(900))));
    assert!(is_first(all().labels(Some("".parse().unwrap()))));
    // What is asked for does.
    assert!(!is_first(WatchOptions::new(Scope::Namespace(
        "shop".into()
    ))));
    assert!(!is_first(all().labels(Some("tier=web".parse().unwrap()))));
    assert!(!is_first(all().fields("metadata.name=web")));
    assert!(!factory.informer::<Widget>(GADGETS, all()).is(&first));
    assert_eq!(factory.health().len(), 5);
}

/// BX-17: one can be stopped alone, and another one takes its place.
#[tokio::test(start_paused = true)]
async fn a_stopped_informer_is_forgotten_and_harms_no_other() {
    let factory = factory(&[WIDGETS, GADGETS]);
    let shutdown = CancellationToken::new();
    tokio::join!(factory.run(shutdown.clone()), async {
        let widgets = factory.informer::<Widget>(WIDGETS, everything());
        let registration = widgets.add_handler(HandlerFuncs::new());
        assert!(registration.synced().await);
        assert!(factory.stop(&widgets).await);
        assert!(widgets.is_stopped());
        assert!(!factory.stop(&widgets).await);
        let gadgets = factory.informer::<Widget>(GADGETS, everything());
        assert!(gadgets.is_running());
        let again = factory.informer::<Widget>(WIDGETS, everything());
        assert!(!again.is(&widgets));
        assert!(again.add_handler(HandlerFuncs::new()).synced().await);
        shutdown.cancel();
    });
}
