use std::time::Duration;

use controller_core::client::Scope;
use controller_core::watch::{ServerMemory, WatchOptions};
use serde_json::json;

use crate::log::Log;
use crate::script::{
    Answer, Step, bookmark, end_of_list, is_pause, line, list, object, play, play_streaming,
    play_with, quiet_watch, refuse, status,
};

fn added(name: &str, version: &str) -> Step {
    line("ADDED", object(name, version))
}

/// A whole streamed list, and its watch until it ends normally.
fn stream(version: &str, names: &[(&str, &str)]) -> Answer {
    let mut steps: Vec<_> = names.iter().map(|(name, at)| added(name, at)).collect();
    steps.push(end_of_list(version));
    steps.push(Step::Wait(Duration::from_secs(2)));
    Answer::Stream(steps)
}

/// A refusal as servers send it that do not have the feature.
fn refusal() -> Answer {
    let message = "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: \
                   sendInitialEvents is forbidden for watch unless the WatchList feature gate \
                   is enabled";
    Answer::Json(422, status(422, "Invalid", message))
}

/// WL-09, WL-13: one request brings the list and goes on as its watch; the next one is a
/// plain watch from where that ended.
#[tokio::test(start_paused = true)]
async fn a_streamed_list_is_the_beginning_of_its_watch() {
    let record = play_streaming(vec![
        Answer::Stream(vec![
            added("a", "7"),
            added("b", "3"),
            end_of_list("10"),
            added("c", "11"),
            Step::Wait(Duration::from_secs(2)),
        ]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests, ["stream", "watch rv=11"]);
    assert_eq!(
        record.events,
        ["list", "listed a@7", "listed b@3", "done 10", "added c@11"]
    );
    assert!(record.status.synced && record.status.watched);
    assert_eq!((record.status.lists, record.status.watches), (1, 2));
    let query = &record.queries[0];
    for parameter in [
        "sendInitialEvents=true",
        "resourceVersionMatch=NotOlderThan",
        "allowWatchBookmarks=true",
        "timeoutSeconds=",
    ] {
        assert!(query.contains(parameter), "{query}");
    }
}

/// WL-06: and not where it is not wanted.
#[tokio::test(start_paused = true)]
async fn without_streaming_a_list_is_a_list() {
    let record = play(vec![list("10", &[]), quiet_watch()]).await;
    assert_eq!(record.requests, ["list rv=0 limit=500", "watch rv=10"]);
}

/// WL-10: what changes or goes while the list is under way.
#[tokio::test(start_paused = true)]
async fn changes_within_a_streamed_list_are_a_part_of_it() {
    let record = play_streaming(vec![
        Answer::Stream(vec![
            added("a", "1"),
            added("b", "2"),
            line("MODIFIED", object("a", "3")),
            added("c", "4"),
            line("DELETED", object("c", "5")),
            bookmark("5"),
            end_of_list("5"),
            Step::Wait(Duration::from_secs(2)),
        ]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[1..], ["watch rv=5"]);
    assert_eq!(
        record.events,
        [
            "list",
            "listed a@1",
            "listed b@2",
            "listed a@3",
            "listed c@4",
            "deleted c@5",
            "done 5"
        ]
    );
}

/// WL-04, WL-15: before the bookmark that says "true" there is no list and no version.
#[tokio::test(start_paused = true)]
async fn only_the_end_of_the_list_is_its_end() {
    let not_yet = json!({"k8s.io/initial-events-end": "false"});
    let not_yet = line(
        "BOOKMARK",
        json!({"metadata": {"resourceVersion": "9", "annotations": not_yet}}),
    );
    let record = play_streaming(vec![
        Answer::Stream(vec![added("a", "7"), not_yet, bookmark("9")]),
        stream("10", &[("a", "7")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests, ["stream", "stream", "watch rv=10"]);
    assert_eq!(
        record.events,
        ["list", "listed a@7", "list", "listed a@7", "done 10"]
    );
    let pause = (record.times[1] - record.times[0]).as_secs_f64();
    assert!(is_pause(pause, 0.8), "{pause}");
}

/// WL-14: after an expiry the list is streamed again, none below what was seen; and a
/// version that the server does not have is asked for once more without one.
#[tokio::test(start_paused = true)]
async fn a_relist_is_streamed_and_keeps_the_version() {
    let expired = || status(410, "Expired", "too old resource version");
    let record = play_streaming(vec![
        stream("10", &[("a", "7")]),
        refuse(410, "Expired"),
        stream("20", &[("a", "7")]),
        Answer::Stream(vec![line("ERROR", expired())]),
        Answer::Later(
            1,
            504,
            status(504, "Timeout", "Too large resource version: 20, current: 5"),
        ),
        stream("5", &[("b", "4")]),
        refuse(410, "Expired"),
        Answer::Stream(vec![line("ERROR", expired())]),
        stream("30", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests,
        [
            "stream",
            "watch rv=10",
            "stream rv=10",
            "watch rv=20",
            "stream rv=20",
            "stream",
            "watch rv=5",
            "stream rv=5",
            "stream",
            "watch rv=30"
        ]
    );
    assert_eq!(record.times[4], record.times[5], "asked in vain again");
    assert!(record.events.contains(&"fresh list".to_owned()));
    assert!(
        record
            .events
            .contains(&"done 5, of a restored server".to_owned())
    );
}

/// A list below what was seen is another server's, behind the same address, that lags.
#[tokio::test(start_paused = true)]
async fn a_stale_stream_is_refused_and_asked_again() {
    let record = play_streaming(vec![
        stream("1000", &[]),
        refuse(410, "Expired"),
        stream("50", &[("gone", "40")]),
        stream("1001", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[2..],
        ["stream rv=1000", "stream rv=1000", "watch rv=1001"]
    );
    assert!(!record.events.contains(&"done 50".to_owned()));
}

/// WL-11: a server that is busy is not one that cannot stream.
#[tokio::test(start_paused = true)]
async fn a_busy_server_is_asked_for_the_same_stream() {
    let busy = || status(429, "TooManyRequests", "later");
    let record = play_streaming(vec![
        refuse(429, "TooManyRequests"),
        Answer::Later(5, 429, busy()),
        Answer::Later(5, 503, busy()),
        Answer::Stream(vec![added("a", "1"), line("ERROR", busy())]),
        Answer::Refuse,
        stream("10", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[..6], ["stream"; 6]);
    for at in [1, 2] {
        let pause = record.times[at + 1] - record.times[at];
        assert!(pause >= Duration::from_secs(5), "{pause:?}");
    }
}

/// C-34: refused once, never asked again, by nobody who shares the memory; and that is no
/// trouble to tell anybody about.
#[tokio::test(start_paused = true)]
async fn a_server_without_streaming_is_asked_once() {
    let log = Log::default();
    let _guard = log.listen();
    let memory = ServerMemory::default();
    let options = || WatchOptions::new(Scope::All).remembered_by(&memory);
    let mut script = vec![refusal(), list("10", &[])];
    script.extend((0..10).map(|_| Answer::Stream(vec![Step::Wait(Duration::from_secs(3))])));
    script.extend([refuse(410, "Expired"), list("20", &[]), quiet_watch()]);
    let record = play_with(options(), script).await;
    assert_eq!(
        record.requests[..3],
        ["stream", "list rv=0 limit=500", "watch rv=10"]
    );
    assert!(record.times[1] < Duration::from_secs(2));
    assert_eq!(record.times[0], record.times[1]);
    assert_eq!(
        record.requests[12..],
        ["watch rv=10", "list rv=10", "watch rv=20"]
    );
    assert_eq!(log.warnings(), 1, "for the 410 alone: {}", log.text());
    let record = play_with(options(), vec![list("10", &[]), quiet_watch()]).await;
    assert_eq!(record.requests, ["list rv=0 limit=500", "watch rv=10"]);
}

/// Other ways to say no: one that names no parameter counts for the kind.
#[tokio::test(start_paused = true)]
async fn a_refusal_of_any_shape_leads_to_a_list_at_once() {
    for code in [400, 405, 406, 415, 422, 501] {
        let record = play_streaming(vec![
            refuse(code, ""),
            list("10", &[]),
            refuse(410, "Expired"),
            list("20", &[]),
            quiet_watch(),
        ])
        .await;
        let relist = ["watch rv=10", "list rv=10", "watch rv=20"];
        assert_eq!(record.requests[2..], relist, "{code}");
        assert_eq!(record.times[0], record.times[1]);
    }
}

/// WL-07, kube-rs 50: what says nothing about streaming is not remembered.
#[tokio::test(start_paused = true)]
async fn any_other_failure_leads_to_a_list_this_once() {
    for code in [403, 404, 500] {
        let record = play_streaming(vec![
            refuse(code, ""),
            list("10", &[]),
            refuse(410, "Expired"),
            stream("20", &[]),
            quiet_watch(),
        ])
        .await;
        assert_eq!(
            record.requests,
            [
                "stream",
                "list rv=0 limit=500",
                "watch rv=10",
                "stream rv=10",
                "watch rv=20"
            ],
            "{code}"
        );
    }
}

/// BX-11: where the end never comes, the list does. Nor do the news of the objects that are
/// known keep it waiting: that is what a server sends that ignores the parameter.
#[tokio::test(start_paused = true)]
async fn a_list_whose_end_does_not_come_is_read_page_by_page() {
    for news_come in [false, true] {
        let mut steps = vec![
            added("a", "1"),
            Step::Wait(Duration::from_secs(6)),
            added("b", "2"),
        ];
        for n in 3..20 {
            if news_come {
                steps.push(Step::Wait(Duration::from_secs(1)));
                steps.push(line("MODIFIED", object("a", &n.to_string())));
            }
        }
        steps.push(Step::Hang);
        let record = play_streaming(vec![
            Answer::Stream(steps),
            list("30", &[("a", "19"), ("b", "2")]),
            refuse(410, "Expired"),
            list("40", &[]),
            quiet_watch(),
        ])
        .await;
        assert_eq!(
            record.requests,
            [
                "stream",
                "list rv=0 limit=500",
                "watch rv=30",
                "list rv=30",
                "watch rv=40"
            ]
        );
        let patience = record.times[1].as_secs_f64();
        assert!((15.9..16.1).contains(&patience), "{patience}");
        // What the stream brought is void.
        let list = record
            .events
            .iter()
            .rposition(|event| event == "listed a@19");
        assert_eq!(record.events[list.unwrap() - 1], "list");
    }
}

/// WL-02: a stream without a word is no list either, and the waiting shows.
#[tokio::test(start_paused = true)]
async fn a_stream_without_a_word_is_given_up() {
    let record = play_streaming(vec![
        Answer::Stream(vec![Step::Hang]),
        list("10", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[1..], ["list rv=0 limit=500", "watch rv=10"]);
    let patience = record.times[1].as_secs_f64();
    assert!((9.9..10.1).contains(&patience), "{patience}");
}

/// A slow list that goes on is waited for.
#[tokio::test(start_paused = true)]
async fn a_slow_stream_is_read_to_its_end() {
    let mut steps = Vec::new();
    for n in 0..20 {
        steps.push(Step::Wait(Duration::from_secs(9)));
        steps.push(added(&n.to_string(), "1"));
    }
    steps.push(end_of_list("10"));
    steps.push(Step::Wait(Duration::from_secs(2)));
    let record = play_streaming(vec![Answer::Stream(steps), quiet_watch()]).await;
    assert_eq!(record.requests, ["stream", "watch rv=10"]);
}

/// One stream that breaks is chance, two are the stream: then the list decides, and if it
/// comes, streaming is over.
#[tokio::test(start_paused = true)]
async fn streams_that_break_lead_to_a_list_that_decides() {
    let broken = || Answer::Stream(vec![added("a", "1"), Step::Reset]);
    let record = play_streaming(vec![
        broken(),
        broken(),
        list("10", &[]),
        refuse(410, "Expired"),
        list("20", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests,
        [
            "stream",
            "stream",
            "list rv=0 limit=500",
            "watch rv=10",
            "list rv=10",
            "watch rv=20"
        ]
    );

    // Where the list fails too, it was the server.
    let away = || refuse(502, "");
    let record = play_streaming(vec![
        away(),
        away(),
        away(),
        stream("10", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests,
        [
            "stream",
            "stream",
            "list rv=0 limit=500",
            "stream",
            "watch rv=10"
        ]
    );
}

/// A proxy that passes an answer on when it has all of it never passes a watch on.
#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_answered_in_time_leads_to_a_list_that_decides() {
    for silence in [Answer::Never, refuse(504, "")] {
        let record = play_streaming(vec![
            silence,
            list("10", &[]),
            refuse(410, "Expired"),
            list("20", &[]),
            quiet_watch(),
        ])
        .await;
        let expected = [
            "list rv=0 limit=500",
            "watch rv=10",
            "list rv=10",
            "watch rv=20",
        ];
        assert_eq!(record.requests[1..], expected);
        assert!(record.times[1] <= Duration::from_secs(31));
    }
}

/// kube-rs 50: who may list but not watch is told that it is the watch; who may do neither, that it
/// is the list.
#[tokio::test(start_paused = true)]
async fn a_denial_names_the_verb_that_is_denied() {
    use controller_core::client::Verb;
    let denied = || refuse(403, "Forbidden");
    let record = play_streaming(vec![denied(), list("10", &[]), denied()]).await;
    assert!(record.status.synced && !record.status.watched);
    assert_eq!(
        record.status.denied().map(|answer| answer.verb),
        Some(Verb::Watch)
    );
    let record = play_streaming(vec![denied(), denied()]).await;
    assert!(!record.status.synced);
    assert_eq!(
        record.status.denied().map(|answer| answer.verb),
        Some(Verb::List)
    );
    let record = play_streaming(vec![refuse(401, "Unauthorized"), stream("1", &[])]).await;
    assert_eq!(record.requests, ["stream", "stream"]);
}

/// An object that cannot be read is told as within any list, and a line that hides whose it
/// is leads to another list.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_in_a_streamed_list_stops_nothing() {
    let mut bad = object("bad", "2");
    bad["data"] = json!("not a map");
    let record = play_streaming(vec![
        Answer::Stream(vec![
            added("a", "1"),
            line("ADDED", bad),
            Step::Raw(b"<html>\n"),
            end_of_list("10"),
            Step::Wait(Duration::from_secs(2)),
        ]),
        stream("20", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[1..], ["stream rv=10", "watch rv=20"]);
    assert_eq!(
        record.events[..5],
        [
            "list",
            "listed a@1",
            "unreadable bad",
            "unreadable",
            "done 10"
        ]
    );
}
