use std::time::Duration;

use crate::script::{Answer, Step, bookmark, end_of_list, list, play, play_streaming, quiet_watch};

fn until_reopened(record: &crate::script::Record) -> f64 {
    (record.times[2] - record.times[1]).as_secs_f64()
}

/// BX-10: where bookmarks come once a minute, two and a half minutes of silence mean a
/// connection that is dead without knowing it.
#[tokio::test(start_paused = true)]
async fn a_watch_that_sent_bookmarks_and_fell_silent_is_given_up() {
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![
            Step::Wait(Duration::from_secs(60)),
            bookmark("20"),
            Step::Hang,
        ]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[1..], ["watch rv=10", "watch rv=20"]);
    let reopened = until_reopened(&record);
    assert!((209.9..210.1).contains(&reopened), "{reopened}");
}

/// BX-10: without bookmarks only the server's own end of the watch can be waited for.
#[tokio::test(start_paused = true)]
async fn a_watch_that_never_spoke_is_given_up_after_the_servers_own_end() {
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![Step::Hang]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[1..], ["watch rv=10", "watch rv=10"]);
    let reopened = until_reopened(&record);
    assert!((330.0..630.1).contains(&reopened), "{reopened}");
}

/// A body that trickles without ever completing a line says nothing.
#[tokio::test(start_paused = true)]
async fn half_a_line_is_no_word() {
    let mut steps = vec![bookmark("20")];
    for _ in 0..20 {
        steps.push(Step::Raw(b" "));
        steps.push(Step::Wait(Duration::from_secs(20)));
    }
    let record = play(vec![list("10", &[]), Answer::Stream(steps), quiet_watch()]).await;
    let reopened = until_reopened(&record);
    assert!((149.9..150.1).contains(&reopened), "{reopened}");
}

/// BX-10: what was learned of a server holds for its next watch: one that is dead from the
/// start is found as soon.
#[tokio::test(start_paused = true)]
async fn a_server_that_has_sent_bookmarks_owes_them_from_the_first_second() {
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![Step::Wait(Duration::from_secs(60)), bookmark("20")]),
        Answer::Stream(vec![Step::Hang]),
        quiet_watch(),
    ])
    .await;
    let silent = (record.times[3] - record.times[2]).as_secs_f64();
    assert!((149.9..150.1).contains(&silent), "{silent}");
}

/// BX-10: the end of a streamed list is a bookmark, too.
#[tokio::test(start_paused = true)]
async fn a_server_that_has_ended_a_streamed_list_owes_bookmarks() {
    let record = play_streaming(vec![
        Answer::Stream(vec![end_of_list("10"), Step::Hang]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests, ["stream", "watch rv=10"]);
    let silent = (record.times[1] - record.times[0]).as_secs_f64();
    assert!((149.9..150.1).contains(&silent), "{silent}");
}

/// A bookmark without a version is no sign of more.
#[tokio::test(start_paused = true)]
async fn a_bookmark_without_a_version_promises_nothing() {
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![bookmark(""), bookmark("0"), Step::Hang]),
        quiet_watch(),
    ])
    .await;
    let reopened = until_reopened(&record);
    assert!((330.0..630.1).contains(&reopened), "{reopened}");
}

/// A proxy that keeps the line warm with lines of its own keeps no dead watch alive.
#[tokio::test(start_paused = true)]
async fn lines_that_nobody_can_read_are_no_word() {
    let mut steps = vec![bookmark("20")];
    for _ in 0..20 {
        steps.push(Step::Raw(b"<!-- wait -->\n"));
        steps.push(Step::Wait(Duration::from_secs(20)));
    }
    let script = vec![
        list("10", &[]),
        Answer::Stream(steps),
        list("20", &[]),
        quiet_watch(),
    ];
    let record = play(script).await;
    assert_eq!(record.requests[2..], ["list rv=20", "watch rv=20"]);
    let given_up = until_reopened(&record);
    assert!((149.9..150.1).contains(&given_up), "{given_up}");
}

/// However much it has to say: no server lets a watch live longer than it was told to.
#[tokio::test(start_paused = true)]
async fn a_watch_that_outlives_its_time_is_given_up_in_spite_of_bookmarks() {
    let mut steps = Vec::new();
    for n in 20..60 {
        steps.push(Step::Wait(Duration::from_secs(60)));
        steps.push(bookmark(&n.to_string()));
    }
    let record = play(vec![list("10", &[]), Answer::Stream(steps), quiet_watch()]).await;
    let reopened = until_reopened(&record);
    assert!((330.0..630.1).contains(&reopened), "{reopened}");
}

/// A list that was streamed ended with a bookmark, so that others are owed from then on.
#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_silent_after_its_streamed_list_is_given_up() {
    let record = play_streaming(vec![
        Answer::Stream(vec![end_of_list("10"), Step::Hang]),
        Answer::Stream(vec![Step::Hang]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests, ["stream", "watch rv=10", "watch rv=10"]);
    for pair in record.times.windows(2) {
        let silent = (pair[1] - pair[0]).as_secs_f64();
        assert!((149.9..150.1).contains(&silent), "{silent}");
    }
}
