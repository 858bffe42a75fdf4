//! How new the first list of a run has to be.
use std::time::Duration;

use controller_core::client::Scope;
use controller_core::watch::{FirstList, ReflectorStatus, WatchOptions};
use tokio::sync::watch;

use crate::script::{
    Answer, Step, end_of_list, line, list, page, paged, play_resuming, play_with, quiet_watch,
    refuse, status,
};

fn most_recent() -> WatchOptions {
    paged().first_list(FirstList::MostRecent)
}

fn expired() -> Answer {
    Answer::Stream(vec![line("ERROR", status(410, "Expired", "too old"))])
}

/// No version means what etcd holds; the first page and all that follow, and also after a
/// failure. Later lists ask for nothing older than what was seen, as ever.
#[tokio::test(start_paused = true)]
async fn the_first_list_can_be_had_from_the_store() {
    let record = play_with(
        most_recent(),
        vec![
            refuse(500, "InternalError"),
            page("10", &[("a", "1")], "t1"),
            page("10", &[("b", "2")], ""),
            expired(),
            list("20", &[("a", "1"), ("b", "2")]),
            quiet_watch(),
        ],
    )
    .await;
    assert_eq!(
        record.requests,
        [
            "list limit=500",
            "list limit=500",
            "list limit=500 next=t1",
            "watch rv=10",
            "list rv=10",
            "watch rv=20"
        ]
    );
    assert!(
        !record.queries[0].contains("resourceVersion"),
        "{}",
        record.queries[0]
    );
    // Nothing was known before, so nothing can turn out to be another history.
    assert_eq!(record.events[0], "list");
}

/// Each run has its first list: what was made during a pause counts, too.
#[tokio::test(start_paused = true)]
async fn so_can_the_first_list_of_a_later_run() {
    let status = watch::Sender::new(ReflectorStatus::default());
    play_resuming(most_recent(), &status, vec![list("10", &[]), quiet_watch()]).await;
    let again = vec![list("12", &[("a", "11")]), quiet_watch()];
    let record = play_resuming(most_recent(), &status, again).await;
    assert_eq!(record.requests, ["list limit=500", "watch rv=12"]);
    assert_eq!(record.events, ["fresh list", "listed a@11", "done 12"]);
}

/// What is streamed is as new as etcd; and where streaming is refused the list is, too.
#[tokio::test(start_paused = true)]
async fn where_streaming_is_refused_the_list_is_as_new() {
    let options = WatchOptions::new(Scope::All).first_list(FirstList::MostRecent);
    let script = vec![refuse(422, "Invalid"), list("10", &[]), quiet_watch()];
    let record = play_with(options, script).await;
    assert_eq!(record.requests, ["stream", "list limit=500", "watch rv=10"]);
}

/// Among the copies of a server that lags one answers with less than was known. Only if it does
/// so twice the history starts anew.
#[tokio::test(start_paused = true)]
async fn an_older_list_is_asked_for_again_before_the_server_counts_as_restored() {
    let end = |version| {
        let steps = vec![end_of_list(version), Step::Wait(Duration::from_secs(2))];
        Answer::Stream(steps)
    };
    for (second, done) in [("12", "done 12"), ("8", "done 8, of a restored server")] {
        for streams in [false, true] {
            let options = if streams {
                WatchOptions::new(Scope::All).first_list(FirstList::MostRecent)
            } else {
                most_recent()
            };
            let answer = |version| {
                if streams {
                    end(version)
                } else {
                    list(version, &[])
                }
            };
            let status = watch::Sender::new(ReflectorStatus::default());
            let first = vec![answer("10"), quiet_watch()];
            play_resuming(options.clone(), &status, first).await;
            let again = vec![answer("8"), answer(second), quiet_watch(), quiet_watch()];
            let record = play_resuming(options, &status, again).await;
            let asked = if streams { "stream" } else { "list limit=500" };
            assert_eq!(record.requests[..2], [asked, asked]);
            assert_eq!(record.events.last().unwrap(), done, "{streams}");
            assert_eq!(record.waits.len(), 1);
            assert!(!record.events.contains(&"done 8".to_owned()));
        }
    }
}
