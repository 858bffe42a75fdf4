//! Bookmarks that are none of ours.
use std::time::Duration;

use serde_json::{Value, json};

use crate::script::{
    Answer, Step, end_of_list, line, list, object, play, play_streaming, quiet_watch,
};

const FOREIGN: [(&str, &str); 2] = [("Pod", "v1"), ("ConfigMap", "v2")];

fn bookmark_of(kind: &str, api_version: &str, annotations: &Value) -> Step {
    let metadata = json!({"resourceVersion": "99", "annotations": annotations});
    line(
        "BOOKMARK",
        json!({"kind": kind, "apiVersion": api_version, "metadata": metadata}),
    )
}

/// Resumed where that one stands, the watch would leave out what happened before.
#[tokio::test(start_paused = true)]
async fn a_bookmark_of_another_kind_moves_nothing_and_leads_to_a_list() {
    for (kind, api_version) in FOREIGN {
        let record = play(vec![
            list("10", &[("a", "1")]),
            Answer::Stream(vec![
                bookmark_of(kind, api_version, &Value::Null),
                Step::Wait(Duration::from_secs(2)),
            ]),
            list("20", &[]),
            quiet_watch(),
        ])
        .await;
        assert_eq!(
            record.requests[1..],
            ["watch rv=10", "list rv=10", "watch rv=20"],
            "{kind} of {api_version}"
        );
        assert_eq!(record.events[3], "unreadable");
    }
    let own = vec![
        bookmark_of("ConfigMap", "v1", &Value::Null),
        Step::Wait(Duration::from_secs(2)),
    ];
    let record = play(vec![list("10", &[]), Answer::Stream(own), quiet_watch()]).await;
    assert_eq!(record.requests[1..], ["watch rv=10", "watch rv=99"]);
}

/// Believed, it would delete all that the list has not brought yet.
#[tokio::test(start_paused = true)]
async fn the_end_of_another_kinds_list_is_none_of_ours() {
    let end = json!({"k8s.io/initial-events-end": "true"});
    for (kind, api_version) in FOREIGN {
        let record = play_streaming(vec![
            Answer::Stream(vec![
                line("ADDED", object("a", "1")),
                bookmark_of(kind, api_version, &end),
                line("ADDED", object("b", "2")),
                end_of_list("10"),
                Step::Wait(Duration::from_secs(2)),
            ]),
            Answer::Stream(vec![end_of_list("20"), Step::Wait(Duration::from_secs(2))]),
            quiet_watch(),
        ])
        .await;
        assert_eq!(
            record.events[..5],
            ["list", "listed a@1", "unreadable", "listed b@2", "done 10"]
        );
        // What that line was to say only another list can tell.
        assert_eq!(record.requests, ["stream", "stream rv=10", "watch rv=20"]);
    }
}
