//! `timeout`: a pass that may take only so long, and what it tells of its progress.

use std::time::Duration;

use controller_core::runtime::{OnceOptions, Progress, Targets};
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::harness::{Scene, deployment, once_options, writes_of};

const SECOND: Duration = Duration::from_secs(1);

fn limited(seconds: u64) -> OnceOptions {
    OnceOptions {
        workers: 1,
        timeout: Some(Duration::from_secs(seconds)),
        ..once_options()
    }
}

async fn scene_of_three() -> Scene {
    Scene::new(["a", "b", "c"].map(|name| deployment(name, 1))).await
}

#[tokio::test(start_paused = true)]
async fn a_write_under_way_is_awaited_and_none_follows() {
    let scene = scene_of_three().await;
    let slow = Rule::new(Action::DelayAnswer(3 * SECOND));
    scene.server.faults().add(writes_of(slow, "a"));
    let started = Instant::now();
    let report = scene.once(limited(1)).await.unwrap();
    assert_eq!(started.elapsed().as_secs(), 3);
    assert!(report.timed_out && report.synced && !report.interrupted);
    let words: Vec<String> = report.verdicts.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(words.join("\n"), @r"
    scaled from 1 to 2
    not raised from 1 to 2: stopped before it was sent
    not raised from 1 to 2: stopped before it was sent
    ");
    assert_eq!(scene.patches().len(), 1);
    assert_eq!(report.unanswered, 0);
}

/// The server turns writes away until it is too late: they are not sent again.
#[tokio::test(start_paused = true)]
async fn a_write_that_was_turned_away_is_not_sent_again_after_the_timeout() {
    for by_signal in [false, true] {
        let scene = scene_of_three().await;
        let busy = Action::status(429).message("busy").retry_after(2);
        scene
            .server
            .faults()
            .add(writes_of(Rule::new(busy), "*").window(Duration::ZERO..9 * SECOND));
        let started = Instant::now();
        let timeout = (!by_signal).then_some(7 * SECOND);
        let pass = scene.once(OnceOptions {
            timeout,
            ..limited(7)
        });
        let signal = async {
            if by_signal {
                sleep(7 * SECOND).await;
                scene.shutdown.cancel();
            }
        };
        let (report, ()) = tokio::join!(pass, signal);
        let report = report.unwrap();
        assert_eq!(started.elapsed().as_secs(), 7);
        assert_eq!(
            (report.timed_out, report.interrupted),
            (!by_signal, by_signal)
        );
        sleep(60 * SECOND).await;
        assert!(
            scene
                .patches()
                .iter()
                .all(|it| it.at < started + 7 * SECOND)
        );
        let not_sent = "not raised from 1 to 2: stopped before it was sent";
        let words = report.verdicts.iter().map(ToString::to_string);
        assert_eq!(words.collect::<Vec<_>>(), [not_sent; 3]);
    }
}

/// The answer came late, and nothing was left to do by then.
#[tokio::test(start_paused = true)]
async fn a_pass_that_has_done_everything_is_not_timed_out() {
    let scene = Scene::new([deployment("a", 1)]).await;
    let slow = Rule::new(Action::DelayAnswer(3 * SECOND));
    scene.server.faults().add(writes_of(slow, "a"));
    let report = scene.once(limited(1)).await.unwrap();
    assert!(!report.timed_out);
    assert_eq!(scene.replicas("a"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_hangs_is_given_up_and_nothing_is_written() {
    let scene = scene_of_three().await;
    let hang = Rule::new(Action::Hang).verb(Verb::List);
    scene.server.faults().add(hang);
    let started = Instant::now();
    let report = scene.once(limited(1)).await.unwrap();
    assert_eq!(started.elapsed().as_secs(), 1);
    assert!(report.timed_out && !report.synced);
    assert!(report.verdicts.is_empty());
    assert!(scene.patches().is_empty());
}

/// A client may have no deadline, and then nothing but this ends the wait.
#[tokio::test(start_paused = true)]
async fn an_answer_that_never_comes_is_awaited_for_the_write_deadline() {
    let scene = scene_of_three().await;
    let hang = Rule::new(Action::Hang);
    scene.server.faults().add(writes_of(hang, "a"));
    let options = OnceOptions {
        write_deadline: 5 * SECOND,
        ..limited(1)
    };
    let started = Instant::now();
    let report = scene.once(options).await.unwrap();
    assert_eq!(started.elapsed().as_secs(), 6);
    assert_eq!((report.timed_out, report.unanswered), (true, 1));
    let words: Vec<String> = report.verdicts.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(words.join("\n"), @r"
    could not be raised from 1 to 2: timed out after 5s waiting for what was sent
    not raised from 1 to 2: stopped before it was sent
    not raised from 1 to 2: stopped before it was sent
    ");
}

#[tokio::test(start_paused = true)]
async fn as_many_are_under_way_as_there_are_workers() {
    let names: Vec<String> = (0..20).map(|n| format!("web-{n:02}")).collect();
    let scene = Scene::new(names.iter().map(|name| deployment(name, 1))).await;
    for verb in [Verb::Get, Verb::Patch] {
        let slow = Rule::new(Action::DelayAnswer(SECOND)).verb(verb);
        let resource = match verb {
            Verb::Get => "deployments",
            _ => "deployments/scale",
        };
        scene.server.faults().add(slow.resource(resource));
    }
    let options = OnceOptions {
        workers: 5,
        targets: Targets::Named {
            namespace: "shop".into(),
            names,
        },
        ..once_options()
    };
    let started = Instant::now();
    let report = scene.once(options).await.unwrap();
    assert_eq!(report.verdicts.len(), 20);
    assert_eq!(
        started.elapsed().as_secs(),
        8,
        "20 reads and 20 writes of 1 s each, 5 at once"
    );
}

#[tokio::test(start_paused = true)]
async fn progress_ends_with_all_that_was_due() {
    let scene = Scene::new([
        deployment("a", 1),
        deployment("b", 0),
        deployment("c", 5),
        deployment("d", 1),
    ])
    .await;
    let refuse = Rule::new(Action::status(403).reason("Forbidden").message("no"));
    scene.server.faults().add(writes_of(refuse, "b"));
    let (progress, mut watched) = watch::channel(Progress::default());
    let options = OnceOptions {
        progress,
        ..once_options()
    };
    let seen = async {
        let mut seen = Vec::new();
        while watched.changed().await.is_ok() {
            seen.push(*watched.borrow_and_update());
        }
        seen
    };
    let (report, seen) = tokio::join!(scene.once(options), seen);
    assert_eq!(report.unwrap().planned, 3);
    assert!(matches!(seen[0], Progress::Reading { objects: 1.. }));
    let end = Progress::Writing {
        done: 3,
        failed: 1,
        total: 3,
    };
    assert_eq!(seen.last(), Some(&end));
}
