use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::runtime::RunOptions;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::Instant;
use tracing::Level;

use crate::harness::{Scene, deployment, options, writes_of};

fn any_write(rule: Rule) -> Rule {
    rule.verb(Verb::Patch).resource("deployments/scale")
}

/// BX-01: the keys in line are worked off, one write after the other.
#[tokio::test(start_paused = true)]
async fn keys_in_line_are_worked_off_before_the_end() {
    let objects: Vec<_> = (0..10).map(|n| deployment(&format!("d{n}"), 1)).collect();
    let mut scene = Scene::new(objects).await;
    let slow = Rule::new(Action::Delay(Duration::from_secs(1)));
    scene.server.faults().add(any_write(slow));
    scene.run(options());
    scene
        .server
        .wait_for_requests(|all| all.iter().any(|it| it.verb() == Verb::Patch))
        .await;
    scene.shutdown.cancel();
    let summary = scene.ended().await.unwrap();
    assert!(summary.completed, "{summary:?}");
    assert_eq!((summary.abandoned, summary.unanswered), (0, 0));
    for n in 0..10 {
        assert_eq!(scene.replicas(&format!("d{n}")), 2);
    }
}

/// At the end of the grace period what was sent is awaited, and what was not is not sent.
#[tokio::test(start_paused = true)]
async fn at_the_end_of_the_grace_period_sent_writes_are_awaited_and_no_new_one_is_sent() {
    let objects: Vec<_> = (0..4).map(|n| deployment(&format!("d{n}"), 1)).collect();
    let mut scene = Scene::new(objects).await;
    let slow = Rule::new(Action::Delay(Duration::from_secs(10)));
    scene.server.faults().add(any_write(slow));
    scene.run(RunOptions {
        shutdown_grace_period: Duration::from_secs(3),
        ..options()
    });
    scene
        .server
        .wait_for_requests(|all| all.iter().filter(|it| it.verb() == Verb::Patch).count() == 2)
        .await;
    let asked = Instant::now();
    scene.shutdown.cancel();
    let summary = scene.ended().await.unwrap();
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(11), "{took:?}");
    assert!(!summary.completed);
    assert_eq!((summary.abandoned, summary.unanswered), (4, 0));
    let raised = (0..4).filter(|n| scene.replicas(&format!("d{n}")) == 2);
    assert_eq!(raised.count(), 2, "the two that were sent");
    assert_eq!(scene.patches().len(), 2);
    let told = scene.verdicts.all();
    let told = told.iter().filter(|it| it.ends_with("scaled from 1 to 2"));
    assert_eq!(told.count(), 2, "no change is made in silence");
}

/// Ten are enough to know where to look by hand.
#[tokio::test(start_paused = true)]
async fn the_first_that_the_end_came_before_are_named() {
    let (log, _guard) = CapturedLog::start(Level::WARN);
    let mut scene = Scene::new((10..23).map(|n| deployment(&format!("d{n}"), 1))).await;
    let slow = Rule::new(Action::Delay(Duration::from_secs(10)));
    scene.server.faults().add(any_write(slow));
    scene.run(RunOptions {
        workers: 1,
        shutdown_grace_period: Duration::from_secs(3),
        ..options()
    });
    scene
        .server
        .wait_for_requests(|all| all.iter().any(|it| it.verb() == Verb::Patch))
        .await;
    let summary = scene.stop().await;
    assert_eq!(summary.abandoned, 13);
    insta::assert_snapshot!(log.text(), @r"
    WARN cut off by the end of the grace period while being looked at: shop/d10
    WARN not looked at before the grace period ended: shop/d11, shop/d12, shop/d13, shop/d14, shop/d15, shop/d16, shop/d17, shop/d18, shop/d19 and 3 more
    ");
}

/// The watches close last: what changes while the line is worked off is still seen.
#[tokio::test(start_paused = true)]
async fn the_last_decisions_are_made_from_a_fresh_cache() {
    let mut scene = Scene::new((0..4).map(|n| deployment(&format!("d{n}"), 1))).await;
    let slow = Rule::new(Action::Delay(Duration::from_secs(5)));
    scene.server.faults().add(any_write(slow));
    scene.run(options());
    scene
        .server
        .wait_for_requests(|all| all.iter().filter(|it| it.verb() == Verb::Patch).count() == 2)
        .await;
    scene.shutdown.cancel();
    // Well within the first two writes, and well after the shutdown has begun.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let sent: Vec<_> = scene
        .patches()
        .iter()
        .map(|it| it.info.name.clone())
        .collect();
    for n in 0..4 {
        let name = format!("d{n}");
        if !sent.contains(&Some(name.clone())) {
            scene.scale_behind_our_back(&name, 5);
        }
    }
    let summary = scene.ended().await.unwrap();
    assert!(summary.completed, "{summary:?}");
    assert_eq!(
        scene.patches().len(),
        2,
        "decided from what was known before"
    );
}

/// Retries that wait for their time are dropped and counted, not waited for.
#[tokio::test(start_paused = true)]
async fn delayed_keys_are_dropped_and_counted() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let refused = Rule::new(Action::status(500));
    scene.server.faults().add(writes_of(refused, "web"));
    scene.run(RunOptions {
        resync: None,
        ..options()
    });
    tokio::time::sleep(Duration::from_secs(60)).await;
    let asked = Instant::now();
    let summary = scene.stop().await;
    assert!(asked.elapsed() < Duration::from_secs(1));
    assert!(summary.completed);
    assert_eq!(summary.dropped_delayed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_before_the_first_lists_ends_at_once() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    scene
        .server
        .faults()
        .add(Rule::new(Action::Hang).verb(Verb::List));
    scene.run(options());
    scene.server.wait_for_requests(|all| !all.is_empty()).await;
    let summary = scene.stop().await;
    assert!(!summary.synced);
    assert_eq!(summary.reconciled, 0);
}

/// Its request deadline ends a write after the grace period has ended its caller.
#[tokio::test(start_paused = true)]
async fn a_write_that_is_never_answered_is_counted_at_the_end() {
    let mut scene = Scene::new([deployment("web", 1)]).await;
    let silent = Rule::new(Action::Hang);
    scene.server.faults().add(any_write(silent));
    scene.run(RunOptions {
        shutdown_grace_period: Duration::from_secs(3),
        ..options()
    });
    scene
        .server
        .wait_for_requests(|all| all.iter().any(|it| it.verb() == Verb::Patch))
        .await;
    scene.shutdown.cancel();
    let summary = scene.ended().await.unwrap();
    assert_eq!((summary.abandoned, summary.unanswered), (1, 1));
}
