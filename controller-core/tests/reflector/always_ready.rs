//! Bodies that always have something ready: no timer ever finds the reader waiting.
use std::time::Duration;

use serde_json::json;

use crate::script::{
    Answer, Record, Step, bookmark, end_of_list, line, list, object, paged, play, play_streaming,
    play_with, quiet_watch,
};

const SECOND: Duration = Duration::from_secs(1);

/// Between two pieces. A reader makes way for others after some hundred of them.
const TICK: Duration = Duration::from_millis(50);

/// The same again and again, for far longer than any deadline.
fn for_ever(step: impl Fn(u64) -> Step) -> Vec<Step> {
    let pieces = (0..14_000).flat_map(|n| [step(n), Step::Pass(TICK)]);
    pieces.collect()
}

fn seconds(record: &Record, from: usize) -> f64 {
    (record.times[from + 1] - record.times[from]).as_secs_f64()
}

/// A server that does not know how to end a list says the same again and again, or what is no
/// part of it. The list is read page by page, and streaming is over.
#[tokio::test(start_paused = true)]
async fn a_streamed_list_that_brings_nothing_new_is_given_up() {
    let known = || line("ADDED", object("a", "7"));
    let endless = [
        for_ever(|_| known()),
        for_ever(|n| bookmark(&(10 + n).to_string())),
        for_ever(|_| Step::Raw(b"<!-- wait -->\n")),
        // A line without an end.
        for_ever(|_| Step::Raw(b"x")),
    ];
    for steps in endless {
        let mut begun = vec![known()];
        begun.extend(steps);
        let record = play_streaming(vec![
            Answer::Stream(begun),
            list("10", &[("a", "7")]),
            quiet_watch(),
        ])
        .await;
        assert_eq!(
            record.requests,
            ["stream", "list rv=0 limit=500", "watch rv=10"]
        );
        let given_up = seconds(&record, 0);
        assert!((10.0..24.0).contains(&given_up), "{given_up}");
    }
}

/// And one that brings something new each second is read to its end.
#[tokio::test(start_paused = true)]
async fn a_streamed_list_that_goes_on_is_read() {
    let mut steps = Vec::new();
    for n in 0..100 {
        steps.push(line("ADDED", object(&format!("a{n}"), "7")));
        steps.push(Step::Pass(SECOND));
    }
    steps.push(end_of_list("10"));
    steps.push(Step::Wait(2 * SECOND));
    let record = play_streaming(vec![Answer::Stream(steps), quiet_watch()]).await;
    assert_eq!(record.requests, ["stream", "watch rv=10"]);
}

/// BX-10: what nobody can read is no word, however much there is of it.
#[tokio::test(start_paused = true)]
async fn a_watch_that_says_nothing_is_given_up() {
    for noise in [&b"<!-- wait -->\n"[..], b"x", b"\n"] {
        let mut steps = vec![bookmark("20")];
        steps.extend(for_ever(|_| Step::Raw(noise)));
        let script = vec![
            list("10", &[]),
            Answer::Stream(steps),
            Answer::Either(Box::new(list("20", &[])), Box::new(quiet_watch())),
        ];
        let record = play(script).await;
        let given_up = seconds(&record, 1);
        assert!((149.9..164.0).contains(&given_up), "{given_up} {noise:?}");
    }
}

/// No server lets a watch live longer than it was told to, however much it has to say.
#[tokio::test(start_paused = true)]
async fn a_watch_that_outlives_its_time_is_given_up() {
    let steps = for_ever(|n| bookmark(&(20 + n).to_string()));
    let record = play(vec![list("10", &[]), Answer::Stream(steps), quiet_watch()]).await;
    let given_up = seconds(&record, 1);
    assert!((330.0..644.0).contains(&given_up), "{given_up}");
}

/// A page of blanks, of a member that never ends, of an item that never does.
#[tokio::test(start_paused = true)]
async fn a_page_that_brings_no_item_is_given_up() {
    for beginning in [
        &b"{"[..],
        br#"{"metadata":{"resourceVersion":"10"},"junk":""#,
        br#"{"metadata":{"resourceVersion":"10"},"items":[{"metadata":{"name":""#,
    ] {
        let mut steps = vec![Step::Raw(beginning)];
        steps.extend(for_ever(|_| Step::Raw(b" ")));
        let script = vec![Answer::Stream(steps), list("10", &[]), quiet_watch()];
        let record = play_with(paged(), script).await;
        let given_up = seconds(&record, 0);
        // And the first pause after a failure.
        assert!((60.8..76.0).contains(&given_up), "{given_up}");
        assert_eq!(record.requests[2], "watch rv=10");
    }
}

/// But an item that is there in time is one, in whatever company.
#[tokio::test(start_paused = true)]
async fn a_page_that_goes_on_is_read() {
    let mut steps = vec![Step::Raw(
        br#"{"metadata":{"resourceVersion":"10"},"items":[7"#,
    )];
    for n in 0..20 {
        let item = json!(n).to_string();
        steps.push(Step::Raw(format!(",{item}").leak().as_bytes()));
        steps.push(Step::Pass(50 * SECOND));
    }
    steps.push(Step::Raw(b"]}"));
    let record = play_with(paged(), vec![Answer::Stream(steps), quiet_watch()]).await;
    assert_eq!(record.requests[1], "watch rv=10");
}
