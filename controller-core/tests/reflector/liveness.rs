use std::sync::Arc;
use std::time::Duration;

use controller_core::watch::{ReflectorStatus, State};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::script::{
    Answer, Step, bookmark, line, list, object, page, paged, play, play_cancelled, play_resuming,
    quiet_watch, refuse,
};

/// What it does just now, in order, and why it waits.
#[tokio::test(start_paused = true)]
async fn every_change_of_state_is_told() {
    let script = vec![
        refuse(503, "ServiceUnavailable"),
        list("10", &[]),
        refuse(429, "TooManyRequests"),
        Answer::Stream(vec![Step::Wait(Duration::from_secs(2))]),
        refuse(410, "Expired"),
        list("20", &[]),
        Answer::Stream(vec![Step::Hang]),
    ];
    let script = script.into_iter().map(|answer| Answer::Late(answer.into()));
    let states = play(script.collect()).await.states;
    assert_eq!(
        states,
        [
            "listing",
            "backing off: as the script says",
            "listing",
            "synced",
            "backing off: as the script says",
            "watching",
            "backing off: as the script says",
            "listing",
            "synced",
            "watching",
            "stopped"
        ]
    );
}

/// A wait says when it ends.
#[tokio::test(start_paused = true)]
async fn a_wait_tells_its_end() {
    let start = Instant::now();
    let record = play(vec![
        list("10", &[]),
        refuse(403, "Forbidden"),
        refuse(403, "Forbidden"),
    ])
    .await;
    let second = start + record.times[2];
    let State::Stopped = record.status.state else {
        panic!("{:?}", record.status.state)
    };
    let until = record.waits.last().copied().unwrap();
    let until_third = until - second;
    assert!(
        (15.0..30.1).contains(&until_third.as_secs_f64()),
        "{until_third:?}"
    );
    assert_eq!((record.status.lists, record.status.watches), (1, 0));
    assert_eq!(record.status.failures, 2);
}

/// The age of the last contact and the version move with every line, also with one that
/// brings nothing new.
#[tokio::test(start_paused = true)]
async fn contact_and_version_follow_the_lines() {
    let start = Instant::now();
    let seconds = Duration::from_secs;
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![
            Step::Wait(seconds(20)),
            line("ADDED", object("a", "11")),
            Step::Wait(seconds(20)),
            bookmark("11"),
            Step::Wait(seconds(20)),
        ]),
        Answer::Refuse,
        Answer::Refuse,
    ])
    .await;
    let contact = record.status.last_contact().expect("it spoke");
    assert_eq!(contact - start, seconds(40));
    assert_eq!(record.status.resource_version().as_deref(), Some("11"));
    assert_eq!(record.status.restarts(), 0);
}

/// What an earlier run has told is never taken back by the next: it lists anew, but accepts
/// nothing older.
#[tokio::test(start_paused = true)]
async fn a_resumed_run_lists_again_and_never_goes_back() {
    let status = watch::Sender::new(ReflectorStatus::default());
    let first = vec![
        list("10", &[("a", "1")]),
        Answer::Stream(vec![
            line("ADDED", object("b", "15")),
            Step::Wait(Duration::from_secs(2)),
        ]),
    ];
    let record = play_resuming(paged(), &status, first).await;
    assert_eq!(record.requests, ["list rv=0 limit=500", "watch rv=10"]);
    assert!(matches!(status.borrow().state, State::Stopped));
    let second = vec![
        list("12", &[("gone", "2")]),
        list("15", &[("a", "1")]),
        quiet_watch(),
    ];
    let record = play_resuming(paged(), &status, second).await;
    assert_eq!(record.requests, ["list rv=15", "list rv=15", "watch rv=15"]);
    assert!(!record.events.contains(&"done 12".to_owned()));
    let now = status.borrow();
    assert!(now.synced && now.watched);
    assert_eq!((now.lists, now.watches), (2, 2));
}

/// A run that ends in the middle of a list leaves the version of the last whole one.
#[tokio::test(start_paused = true)]
async fn half_a_list_is_no_place_to_resume_from() {
    let status = watch::Sender::new(ReflectorStatus::default());
    play_resuming(paged(), &status, vec![page("10", &[("a", "1")], "t1")]).await;
    assert_eq!(status.borrow().resource_version(), None::<Arc<str>>);
    let record = play_resuming(paged(), &status, vec![list("12", &[]), quiet_watch()]).await;
    assert_eq!(record.requests[0], "list rv=0 limit=500");
}

/// RF-04: told to end before it begins, it asks for nothing.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_over_before_it_begins_sends_nothing() {
    let record = play_cancelled(paged()).await;
    assert!(record.requests.is_empty());
    assert!(record.events.is_empty());
}
