use std::time::Duration;

use serde_json::json;

use crate::script::{
    Answer, Step, bookmark, end_of_list, is_pause, line, list, object, play, play_streaming,
    quiet_watch, status,
};

/// RF-32: after any event and any bookmark the next watch goes on from there.
#[tokio::test(start_paused = true)]
async fn a_watch_resumes_where_the_last_one_ended_without_a_list() {
    let record = play(vec![
        list("10", &[]),
        for_a_second(line("ADDED", object("a", "11"))),
        for_a_second(line("MODIFIED", object("a", "20"))),
        for_a_second(bookmark("30")),
        for_a_second(line("DELETED", object("a", "40"))),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[1..],
        [
            "watch rv=10",
            "watch rv=11",
            "watch rv=20",
            "watch rv=30",
            "watch rv=40"
        ]
    );
    assert_eq!(record.status.resource_version().as_deref(), Some("40"));
    assert_eq!(
        record.events[2..],
        ["added a@11", "modified a@20", "bookmark 30", "deleted a@40"]
    );
    let four = record.times[5] - record.times[1];
    assert_eq!(four, Duration::from_secs(4), "paused without a reason");
}

/// A watch of one line that lives for a second.
fn for_a_second(step: Step) -> Answer {
    Answer::Stream(vec![step, Step::Wait(Duration::from_secs(1))])
}

/// A server that tells one thing and hangs up is reopened at once twice, then ever less
/// often: news alone are no health.
#[tokio::test(start_paused = true)]
async fn watches_of_one_line_are_no_hot_loop() {
    let mut script = vec![list("10", &[])];
    script.extend((11..20).map(|n| Answer::Stream(vec![bookmark(&n.to_string())])));
    let record = play(script).await;
    let pauses: Vec<_> = record.times[1..]
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    assert_eq!(pauses[..2], [0.0, 0.0]);
    let mut floor: f64 = 0.8;
    for pause in &pauses[2..] {
        assert!(is_pause(*pause, floor), "{pauses:?}");
        floor = (floor * 2.0).min(15.0);
    }
    let error = record.status.error.expect("it is told").to_string();
    assert_eq!(
        error,
        "watches end as soon as they are open; does a proxy cut them?"
    );
}

/// C-05: a balancer cuts every quiet watch after five seconds. That is no failure.
#[tokio::test(start_paused = true)]
async fn quiet_watches_that_are_cut_are_reopened_at_once_for_ever() {
    let cut = || Answer::Stream(vec![Step::Wait(Duration::from_secs(5)), Step::Reset]);
    let mut script = vec![list("100", &[("web", "90")])];
    script.extend((0..20).map(|_| cut()));
    let record = play(script).await;
    assert_eq!(record.requests[1..], vec!["watch rv=100"; 20]);
    for pair in record.times[1..].windows(2) {
        assert_eq!(pair[1] - pair[0], Duration::from_secs(5));
    }
    assert!(record.status.error.is_none());
}

/// A watch that ends at once and without a word must not become a hot loop.
#[tokio::test(start_paused = true)]
async fn watches_that_end_at_once_are_reopened_with_growing_pauses() {
    let empty = || Answer::Stream(vec![]);
    let again = || list("10", &[]);
    let record = play(vec![again(), empty(), empty(), empty(), again(), empty()]).await;
    assert_eq!(record.requests[1..4], vec!["watch rv=10"; 3]);
    assert_eq!(record.requests[4..], ["list rv=10", "watch rv=10"]);
    let pauses: Vec<_> = record.times[1..]
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    assert!(is_pause(pauses[0], 0.8), "{pauses:?}");
    assert!(is_pause(pauses[1], 1.6), "{pauses:?}");
    assert!(is_pause(pauses[2], 3.2), "{pauses:?}");
}

/// A proxy that opens every watch and closes it leaves a cache that looks well.
#[tokio::test(start_paused = true)]
async fn watches_that_always_end_at_once_are_told_and_a_few_are_not() {
    let after = |times: usize| {
        let mut script = vec![list("10", &[])];
        script.extend((0..times).map(|_| Answer::Stream(vec![])));
        play(script)
    };
    assert!(after(2).await.status.error.is_none());
    insta::assert_snapshot!(
        after(3).await.status.error.expect("a failure"),
        @"watches end as soon as they are open; does a proxy cut them?"
    );
}

/// C-25: one line of 1.4 MB in pieces of any size, and the next line right behind it.
#[tokio::test(start_paused = true)]
async fn a_large_line_in_small_pieces_is_one_event() {
    let mut big = object("big", "11");
    big["data"] = json!({"text": "あ".repeat(450_000)});
    let text = format!(
        "{}\n{}\n",
        json!({"type": "MODIFIED", "object": big}),
        json!({"type": "MODIFIED", "object": object("web", "12")})
    );
    let bytes: &'static [u8] = text.leak().as_bytes();
    let pieces = bytes.chunks(1000).map(Step::Raw).collect();
    let record = play(vec![list("10", &[]), Answer::Stream(pieces), quiet_watch()]).await;
    assert_eq!(record.events[2..], ["modified big@11", "modified web@12"]);
}

#[tokio::test(start_paused = true)]
async fn a_line_that_was_cut_comes_again_from_the_next_watch() {
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![
            line("ADDED", object("a", "11")),
            Step::Raw(br#"{"type":"ADDED","object":{"metadata":{"na"#),
            Step::Reset,
        ]),
        Answer::Stream(vec![line("ADDED", object("b", "12"))]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[1..3], ["watch rv=10", "watch rv=11"]);
    assert_eq!(record.events[2..], ["added a@11", "added b@12"]);
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_change_of_a_known_object_needs_no_list() {
    let mut bad = object("bad", "12");
    bad["data"] = json!("not a map");
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![
            line("MODIFIED", bad),
            line("ADDED", object("b", "13")),
        ]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[2..], ["watch rv=13"]);
    assert_eq!(record.events[2..], ["unreadable bad", "added b@13"]);
}

/// What a line of garbage said can only be learned from a list; the watch lives on until
/// it ends.
#[tokio::test(start_paused = true)]
async fn a_line_of_garbage_leads_to_a_list_when_the_watch_has_ended() {
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![
            Step::Raw(b"<html>not for you</html>\n"),
            line("ADDED", object("b", "13")),
        ]),
        list("20", &[("b", "13"), ("hidden", "12")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[1..],
        ["watch rv=10", "list rv=13", "watch rv=20"]
    );
    assert_eq!(
        record.events[2..],
        [
            "unreadable",
            "added b@13",
            "list",
            "listed b@13",
            "listed hidden@12",
            "done 20"
        ]
    );
}

/// What a line beyond all measure said can only be learned from a list, too.
#[tokio::test(start_paused = true)]
async fn a_line_over_16_mib_is_reported_and_leads_to_a_list() {
    let mut long = vec![b'x'; 17 * 1024 * 1024];
    long.push(b'\n');
    let long: &'static [u8] = long.leak();
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![Step::Raw(long), line("ADDED", object("b", "13"))]),
        list("20", &[("b", "13"), ("huge", "12")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.events[2..4], ["unreadable", "added b@13"]);
    assert_eq!(record.requests[2..], ["list rv=13", "watch rv=20"]);
}

/// RF-33: an error line that is no expiry means that the server's history is broken.
#[tokio::test(start_paused = true)]
async fn an_error_line_other_than_expired_leads_to_a_list_after_a_pause() {
    let broken = status(500, "InternalError", "unable to transform key");
    let record = play(vec![
        list("3", &[("foo", "2")]),
        Answer::Stream(vec![
            line("ADDED", object("bar", "4")),
            line("ERROR", broken),
        ]),
        list("5", &[("bar", "4")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[1..],
        ["watch rv=3", "list rv=4", "watch rv=5"]
    );
    assert!(record.times[2] - record.times[1] >= Duration::from_millis(800));
}

/// A gateway that answers a watch with a page of its own says nothing, in many lines. That
/// is neither a healthy watch nor a reason to list and watch in a circle.
#[tokio::test(start_paused = true)]
async fn a_gateways_page_in_place_of_a_watch_is_no_hot_loop() {
    let page = || Answer::Stream(vec![Step::Raw(b"<html>\n<body>log in</body>\n</html>\n")]);
    let record = play(vec![
        list("10", &[]),
        page(),
        list("10", &[]),
        page(),
        list("10", &[]),
        page(),
    ])
    .await;
    let pauses: Vec<_> = record
        .times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    assert!(is_pause(pauses[1], 0.8), "{pauses:?}");
    assert!(is_pause(pauses[3], 1.6), "{pauses:?}");
}

/// The same for a server that repeats what is known and hangs up.
#[tokio::test(start_paused = true)]
async fn a_bookmark_that_brings_nothing_new_and_the_end_are_no_hot_loop() {
    let repeat = || Answer::Stream(vec![bookmark("10")]);
    let record = play(vec![list("10", &[]), repeat(), repeat(), repeat()]).await;
    let pauses: Vec<_> = record.times[1..]
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    assert!(is_pause(pauses[0], 0.8), "{pauses:?}");
    assert!(is_pause(pauses[1], 1.6), "{pauses:?}");
}

/// `0` would mean "any version, the oldest that you have".
#[tokio::test(start_paused = true)]
async fn a_bookmark_without_a_version_moves_nothing() {
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![
            bookmark("0"),
            bookmark(""),
            Step::Wait(Duration::from_secs(2)),
        ]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[1..], ["watch rv=10", "watch rv=10"]);
}

/// An API server whose etcd was restored takes up the watch and counts from below. What
/// it says is no news for the cache, so only a list can mend it.
#[tokio::test(start_paused = true)]
async fn a_watch_that_tells_of_an_older_time_leads_to_a_list() {
    let too_large = status(
        504,
        "Timeout",
        "Too large resource version: 1000, current: 51",
    );
    let record = play(vec![
        list("1000", &[("a", "900")]),
        Answer::Stream(vec![line("MODIFIED", object("a", "51")), Step::Hang]),
        Answer::Json(504, too_large),
        list("52", &[("a", "51")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[1..],
        [
            "watch rv=1000",
            "list rv=1000",
            "list limit=500",
            "watch rv=52"
        ]
    );
    assert_eq!(
        record.events[4..],
        ["fresh list", "listed a@51", "done 52, of a restored server"]
    );
    assert!(record.times[2] - record.times[1] >= Duration::from_millis(800));
}

/// A stream that always has a line ready must not keep the thread for itself.
#[tokio::test(start_paused = true)]
async fn a_flood_of_events_lets_other_tasks_run() {
    let turns_beside = async |events: u64| {
        let lines = (0..events).map(|n| line("MODIFIED", object("hot", &(100 + n).to_string())));
        let script = vec![list("10", &[]), Answer::Stream(lines.collect())];
        let turns = std::cell::Cell::new(0);
        let bystander = async {
            loop {
                tokio::task::yield_now().await;
                turns.set(turns.get() + 1);
            }
        };
        tokio::select! {
            record = play(script) => assert_eq!(record.requests.len(), 2),
            () = bystander => {}
        }
        turns.get()
    };
    let (few, many) = (turns_beside(10).await, turns_beside(5000).await);
    assert!(many > few + 20, "{few} and {many} turns");
}

/// Its object is known, but not whether it is gone: what says so comes behind all that is kept
/// of it.
#[tokio::test(start_paused = true)]
async fn a_line_over_16_mib_that_may_have_been_a_deletion_leads_to_a_list() {
    let metadata = r#"{"name":"huge","namespace":"shop","resourceVersion":"12"}"#;
    let text = "x".repeat(17 * 1024 * 1024);
    let text = format!(
        "{{\"object\":{{\"metadata\":{metadata},\"text\":\"{text}\"}},\"type\":\"DELETED\"}}\n"
    );
    let long: &'static [u8] = text.leak().as_bytes();

    let record = play(vec![
        list("10", &[("huge", "9")]),
        Answer::Stream(vec![Step::Raw(long), Step::Wait(Duration::from_secs(2))]),
        list("20", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.events[3], "unreadable huge");
    assert_eq!(record.requests[2..], ["list rv=12", "watch rv=20"]);

    let record = play_streaming(vec![
        Answer::Stream(vec![
            line("ADDED", object("huge", "9")),
            Step::Raw(long),
            end_of_list("12"),
            Step::Wait(Duration::from_secs(2)),
        ]),
        Answer::Stream(vec![end_of_list("20"), Step::Wait(Duration::from_secs(2))]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.events[2], "unreadable huge");
    assert_eq!(record.requests, ["stream", "stream rv=12", "watch rv=20"]);
}
