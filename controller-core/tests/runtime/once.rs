use std::sync::Arc;
use std::time::Duration;

use controller_core::client::{ObjectKey, Scope};
use controller_core::controllers::min_replicas::{DryRun, Reporter, Settings, Verdict};
use controller_core::runtime::{OnceOptions, OnceReport, Targets, once};
use http::HeaderValue;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio_util::sync::CancellationToken;

use crate::harness::{Scene, autoscaler, deployment, once_options, writes_of};

fn words(report: &OnceReport) -> Vec<String> {
    let verdicts = report.verdicts.iter();
    verdicts.map(|it| format!("{} {it}", it.key)).collect()
}

#[tokio::test(start_paused = true)]
async fn one_pass_raises_what_is_below_and_says_why_it_left_the_rest() {
    let scene = Scene::new([
        deployment("web", 1),
        deployment("big", 5),
        deployment("auto", 1),
        autoscaler("auto-hpa", "auto"),
    ])
    .await;
    let report = scene.once(once_options()).await.unwrap();
    let words = words(&report);
    assert_eq!(words.len(), 3);
    assert!(words[0].starts_with("shop/auto skipped: ") && words[0].contains("auto-hpa"));
    assert_eq!(
        words[1],
        "shop/big already satisfies the minimum of 2 (5 replicas)"
    );
    assert_eq!(words[2], "shop/web scaled from 1 to 2");
    assert_eq!(scene.patches().len(), 1);
    assert_eq!(scene.replicas("auto"), 1);
}

/// C-10 (1): with a namespace nothing outside of it is asked, but for discovery, which
/// everybody may read.
#[tokio::test(start_paused = true)]
async fn a_pass_over_one_namespace_asks_for_nothing_outside_of_it() {
    let scene = Scene::new([deployment("web", 1)]).await;
    scene.once(once_options()).await.unwrap();
    for request in scene.server.requests() {
        let path = &request.info.path;
        let inside = path.contains("/namespaces/shop") || path == "/apis";
        assert!(inside, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn named_deployments_are_told_one_by_one() {
    let mut plain = deployment("plain", 1);
    plain["metadata"]["labels"] = json!({});
    let scene = Scene::new([deployment("web", 1), deployment("other", 1), plain]).await;
    let report = scene
        .once(OnceOptions {
            targets: Targets::Named {
                namespace: "shop".into(),
                names: vec!["web".into(), "plain".into(), "absent".into()],
            },
            ..once_options()
        })
        .await
        .unwrap();
    let words = words(&report);
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(
        words[0].starts_with("shop/plain skipped: not opted in"),
        "{words:?}"
    );
    assert_eq!(words[1], "shop/web scaled from 1 to 2");
    assert_eq!(report.missing, [ObjectKey::namespaced("shop", "absent")]);
    assert_eq!(scene.replicas("other"), 1);
}

/// Nor is a name absent because something before the server knows no Deployments.
#[tokio::test(start_paused = true)]
async fn a_404_that_is_not_the_api_servers_is_no_absent_name() {
    let scene = Scene::new([deployment("web", 1)]).await;
    let html = HeaderValue::from_static("text/html");
    let page = Action::status(404).body(html, "<html>gateway</html>");
    let page = Rule::new(page).verb(Verb::Get).resource("deployments");
    scene.server.faults().add(page);
    let read = scene.once(OnceOptions {
        targets: Targets::Named {
            namespace: "shop".into(),
            names: vec!["web".into()],
        },
        ..once_options()
    });
    read.await.unwrap_err();
    assert!(scene.patches().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_absent_namespace_is_told() {
    let scene = Scene::new([]).await;
    let report = scene
        .once(OnceOptions {
            targets: Targets::OptedIn(Scope::Namespace("shpo".into())),
            ..once_options()
        })
        .await
        .unwrap();
    assert_eq!(report.missing_namespace.as_deref(), Some("shpo"));
}

#[tokio::test(start_paused = true)]
async fn a_server_dry_run_asks_the_server_and_stores_nothing() {
    let scene = Scene::new([deployment("web", 1)]).await;
    let settings = Settings {
        dry_run: DryRun::Server,
        ..Settings::default()
    };
    let report = scene
        .once(OnceOptions {
            settings,
            ..once_options()
        })
        .await
        .unwrap();
    assert_eq!(
        words(&report),
        ["shop/web would be scaled from 1 to 2 (server dry run)"]
    );
    assert_eq!(scene.patches()[0].info.query("dryRun"), Some("All"));
    assert_eq!(scene.replicas("web"), 1);
}

/// Interrupts as soon as anything was decided.
struct Interrupting(CancellationToken);

impl Reporter for Interrupting {
    fn report(&self, _: &Verdict) {
        self.0.cancel();
    }
}

/// Nothing was to be written, as far as anybody knows: that is not far.
#[tokio::test(start_paused = true)]
async fn an_interrupt_before_all_were_looked_at_leaves_something_undone() {
    let scene = Scene::new(["a", "b", "c"].map(|name| deployment(name, 2))).await;
    let interrupt = scene.shutdown.clone();
    let reporter = Arc::new(Interrupting(interrupt.clone()));
    let report = once(scene.client(), once_options(), reporter, interrupt);
    let report = report.await.unwrap();
    assert_eq!((report.verdicts.len(), report.not_looked_at), (1, 2));
    assert!(report.interrupted);
}

/// The first Ctrl-C: no new write, the sent one is awaited, what was done is told.
#[tokio::test(start_paused = true)]
async fn an_interrupt_awaits_what_was_sent_and_sends_nothing_more() {
    let objects: Vec<_> = (0..6).map(|n| deployment(&format!("d{n}"), 1)).collect();
    let scene = Scene::new(objects).await;
    let slow = Rule::new(Action::Delay(Duration::from_secs(5)))
        .verb(Verb::Patch)
        .resource("deployments/scale");
    scene.server.faults().add(slow);
    let (report, ()) = tokio::join!(scene.once(once_options()), interrupt_at_a_write(&scene));
    let report = report.unwrap();
    assert!(report.interrupted);
    let sent = scene.patches().len();
    assert!((1..=2).contains(&sent), "{sent}");
    let raised = words(&report)
        .iter()
        .filter(|it| it.contains("scaled from 1 to 2"))
        .count();
    assert_eq!(raised, sent);
    assert_eq!(report.verdicts.len() + report.not_looked_at, 6);
    let changed = (0..6)
        .filter(|n| scene.replicas(&format!("d{n}")) == 2)
        .count();
    assert_eq!(changed, sent);
}

/// C-08.
#[tokio::test(start_paused = true)]
async fn one_refused_object_does_not_stop_the_others() {
    let scene = Scene::new([deployment("api", 1), deployment("web", 1)]).await;
    let refused = Rule::new(Action::status(500).message("webhook says no"));
    scene.server.faults().add(writes_of(refused, "web"));
    let report = scene.once(once_options()).await.unwrap();
    let words = words(&report);
    assert_eq!(words[0], "shop/api scaled from 1 to 2");
    assert!(words[1].contains("webhook says no"), "{words:?}");
    let tries = scene
        .patches()
        .iter()
        .filter(|it| it.info.name.as_deref() == Some("web"))
        .count();
    assert!(tries <= 5, "{tries}");
}

/// C-35, from the server's page to the verdict: an object on two pages counts once.
#[tokio::test(start_paused = true)]
async fn everything_is_counted_once_however_many_pages_there_are() {
    let objects: Vec<_> = (0..1200)
        .map(|n| deployment(&format!("d{n:04}"), 2))
        .collect();
    let scene = Scene::new(objects).await;
    let report = scene.once(once_options()).await.unwrap();
    assert_eq!(report.verdicts.len(), 1200);
    let lists = scene.server.requests_where(|it| it.is_about("deployments"));
    assert_eq!(lists.len(), 3);
}

/// The order of the names and of the objects' versions have nothing to do with each other.
#[tokio::test(start_paused = true)]
async fn named_deployments_are_all_looked_at_in_whatever_order_they_are_named() {
    let scene = Scene::new([deployment("older", 1), deployment("newer", 1)]).await;
    let report = scene
        .once(OnceOptions {
            targets: Targets::Named {
                namespace: "shop".into(),
                names: vec!["newer".into(), "older".into(), "newer".into()],
            },
            ..once_options()
        })
        .await
        .unwrap();
    assert_eq!(
        words(&report),
        [
            "shop/newer scaled from 1 to 2",
            "shop/older scaled from 1 to 2"
        ]
    );
}

/// A write that is refused after the interrupt is not followed by another one.
#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_tries_of_one_object_too() {
    let scene = Scene::new([deployment("web", 1)]).await;
    let held = Rule::new(Action::Delay(Duration::from_secs(2)));
    scene.server.faults().add(writes_of(held, "web"));
    let interrupt = async {
        scene
            .server
            .wait_for_requests(|all| all.iter().any(|it| it.verb() == Verb::Patch))
            .await;
        scene.scale_behind_our_back("web", 0);
        scene.shutdown.cancel();
    };
    let (report, ()) = tokio::join!(scene.once(once_options()), interrupt);
    assert_eq!(
        words(&report.unwrap()),
        ["shop/web not raised from 0 to 2: stopped before it was sent"]
    );
    assert_eq!(scene.patches().len(), 1);
    assert_eq!(scene.replicas("web"), 0);
}

/// A signal that cuts nothing short is no interruption.
#[tokio::test(start_paused = true)]
async fn an_interrupt_that_comes_when_all_is_sent_leaves_a_pass_complete() {
    let scene = Scene::new([deployment("web", 1)]).await;
    let slow = Rule::new(Action::DelayAnswer(Duration::from_secs(5)));
    scene.server.faults().add(writes_of(slow, "web"));
    let (report, ()) = tokio::join!(scene.once(once_options()), interrupt_at_a_write(&scene));
    let report = report.unwrap();
    assert_eq!(words(&report), ["shop/web scaled from 1 to 2"]);
    assert!(!report.interrupted);
}

/// What is told agrees with what the server answered, however close to the end it did.
#[tokio::test(start_paused = true)]
async fn an_answer_around_the_write_deadline_is_told_as_what_it_is() {
    for (milliseconds, is_heard) in [
        (4_900, true),
        (4_999, true),
        (5_000, true),
        (5_001, true),
        (5_050, true),
        (5_500, false),
    ] {
        let scene = Scene::new([deployment("web", 1)]).await;
        let slow = Rule::new(Action::DelayAnswer(Duration::from_millis(milliseconds)));
        scene.server.faults().add(writes_of(slow, "web"));
        let options = OnceOptions {
            write_deadline: Duration::from_secs(5),
            ..once_options()
        };
        let (report, ()) = tokio::join!(scene.once(options), interrupt_at_a_write(&scene));
        let report = report.unwrap();
        let said = words(&report);
        if is_heard {
            assert_eq!(said, ["shop/web scaled from 1 to 2"], "{milliseconds}");
        } else {
            assert!(said[0].contains("could not be raised"), "{said:?}");
        }
        let unanswered = usize::from(!is_heard);
        assert_eq!(report.unanswered, unanswered, "{milliseconds}");
        assert_eq!(report.interrupted, !is_heard, "{milliseconds}");
        assert_eq!(scene.verdicts.all(), said, "{milliseconds}");
    }
}

/// The write was refused, and what would have followed did not come to its end.
#[tokio::test(start_paused = true)]
async fn a_second_look_that_is_given_up_is_an_interruption() {
    let scene = Scene::new([deployment("web", 1)]).await;
    let slow = Rule::new(Action::Delay(Duration::from_secs(1)));
    let refused = slow.then(Action::status(409).reason("Conflict").message("changed"));
    scene.server.faults().add(writes_of(refused, "web"));
    let hang = Rule::new(Action::Hang).verb(Verb::Get);
    scene.server.faults().add(hang.resource("deployments"));
    let options = OnceOptions {
        write_deadline: Duration::from_secs(5),
        ..once_options()
    };
    let (report, ()) = tokio::join!(scene.once(options), interrupt_at_a_write(&scene));
    let report = report.unwrap();
    assert!(report.interrupted, "{:?}", words(&report));
    assert_eq!(report.unanswered, 0);
}

async fn interrupt_at_a_write(scene: &Scene) {
    let is_write = |it: &sim_apiserver::Recorded| it.verb() == Verb::Patch;
    scene
        .server
        .wait_for_requests(|all| all.iter().any(is_write))
        .await;
    scene.shutdown.cancel();
}
