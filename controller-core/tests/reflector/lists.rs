use std::time::Duration;

use controller_core::watch::WatchOptions;
use serde_json::json;

use crate::script::{
    Answer, Step, is_pause, list, object, page, paged, play, play_with, quiet_watch, refuse, status,
};

/// RF-13: the first list takes any version of the server's cache, and the watch goes on
/// from what it brought.
#[tokio::test(start_paused = true)]
async fn the_first_list_takes_any_version_and_the_watch_goes_on_from_it() {
    let record = play(vec![list("10", &[("a", "1"), ("b", "2")]), quiet_watch()]).await;
    assert_eq!(record.requests, ["list rv=0 limit=500", "watch rv=10"]);
    assert_eq!(
        record.events,
        ["list", "listed a@1", "listed b@2", "done 10"]
    );
    assert!(record.status.synced);
    assert!(record.status.error.is_none());
}

/// RF-13, RF-31: bookmarks are asked for, and the server is told when to end the watch,
/// at a time drawn between five and ten minutes.
#[tokio::test(start_paused = true)]
async fn a_watch_asks_for_bookmarks_and_for_a_random_end() {
    let mut ends = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let record = play(vec![list("10", &[]), quiet_watch()]).await;
        let watch = record.queries.last().unwrap();
        assert!(watch.contains("allowWatchBookmarks=true"), "{watch}");
        let (_, end) = watch.split_once("timeoutSeconds=").unwrap();
        ends.insert(end.parse::<u64>().unwrap());
    }
    assert!(ends.len() > 5, "{ends:?}");
    assert!(ends.iter().all(|end| (300..600).contains(end)), "{ends:?}");
}

/// RF-31: the least is raised, never lowered; the most is twice that. A year is as good as
/// for ever.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_watch_can_be_raised() {
    const YEAR: u64 = 31_536_000;
    for (least, range) in [
        (1, 300..600),
        (1800, 1800..3600),
        (u64::MAX, YEAR..YEAR * 2),
    ] {
        let options = || paged().min_watch_timeout(Duration::from_secs(least));
        for _ in 0..10 {
            let record = play_with(options(), vec![list("10", &[]), quiet_watch()]).await;
            let (_, end) = record.queries[1].split_once("timeoutSeconds=").unwrap();
            assert!(range.contains(&end.parse::<u64>().unwrap()), "{end}");
        }
    }
}

/// RF-24: a page size that was asked for holds for every list.
#[tokio::test(start_paused = true)]
async fn a_list_is_read_page_by_page() {
    let options = WatchOptions {
        page_size: Some(2),
        ..paged()
    };
    let script = vec![
        page("10", &[("a", "1"), ("b", "2")], "t1"),
        page("10", &[("c", "3")], "t2"),
        page("10", &[("d", "4")], ""),
        quiet_watch(),
    ];
    let record = play_with(options, script).await;
    assert_eq!(
        record.requests,
        [
            "list rv=0 limit=2",
            "list limit=2 next=t1",
            "list limit=2 next=t2",
            "watch rv=10",
        ]
    );
    assert_eq!(
        record.events,
        [
            "list",
            "listed a@1",
            "listed b@2",
            "listed c@3",
            "listed d@4",
            "done 10"
        ]
    );
}

/// RF-26: a server that answers even `0` in pages has no watch cache: later lists page too.
#[tokio::test(start_paused = true)]
async fn a_server_without_a_watch_cache_is_paged_always() {
    let record = play(vec![
        page("10", &[("a", "1")], "t1"),
        page("10", &[("b", "2")], ""),
        refuse(410, "Expired"),
        list("20", &[("a", "1")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[2..],
        ["watch rv=10", "list rv=10 limit=500", "watch rv=20"]
    );
}

/// RF-27: later lists ask for nothing older than what was seen, in one piece.
#[tokio::test(start_paused = true)]
async fn a_relist_keeps_the_version() {
    let record = play(vec![
        list("10", &[]),
        refuse(410, "Expired"),
        list("20", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests,
        [
            "list rv=0 limit=500",
            "watch rv=10",
            "list rv=10",
            "watch rv=20"
        ]
    );
}

/// RF-28: an expired version is asked for once more without one, at once.
#[tokio::test(start_paused = true)]
async fn a_list_whose_version_expired_is_repeated_without_one() {
    let record = play(vec![
        list("10", &[]),
        refuse(410, "Expired"),
        refuse(410, "Expired"),
        list("20", &[("a", "15")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[2..],
        ["list rv=10", "list limit=500", "watch rv=20"]
    );
    assert_eq!(record.times[2], record.times[3]);
    assert!(
        record
            .events
            .ends_with(&["listed a@15".into(), "done 20".into()])
    );
}

/// RF-29, C-35: a later page that expired leads to one list in one piece, whose items
/// replace those of the first attempt. The fresh token in the answer is not used.
#[tokio::test(start_paused = true)]
async fn an_expired_page_leads_to_one_list_in_one_piece() {
    let mut expired = status(410, "Expired", "the provided continue parameter is too old");
    expired["metadata"] = json!({"continue": "fresh"});
    let record = play(vec![
        page("10", &[("a", "1"), ("b", "2")], "t1"),
        Answer::Json(410, expired),
        list("20", &[("e", "13"), ("a", "1")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests,
        [
            "list rv=0 limit=500",
            "list limit=500 next=t1",
            "list rv=0",
            "watch rv=20"
        ]
    );
    assert_eq!(
        record.events,
        [
            "list",
            "listed a@1",
            "listed b@2",
            "list",
            "listed e@13",
            "listed a@1",
            "done 20"
        ]
    );
}

/// RF-30: the three shapes in which servers have said that a version lies in the future.
#[tokio::test(start_paused = true)]
async fn a_version_from_the_future_is_given_up_once_in_all_its_shapes() {
    let mut by_reason = status(504, "Timeout", "Timeout");
    by_reason["details"] =
        json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": ""}]});
    let mut by_cause = status(504, "Timeout", "Timeout");
    by_cause["details"] =
        json!({"causes": [{"reason": "", "message": "Too large resource version"}]});
    let by_message = status(
        504,
        "Timeout",
        "Timeout: Too large resource version: 10, current: 5",
    );
    for too_large in [by_reason, by_cause, by_message] {
        let record = play(vec![
            list("10", &[]),
            refuse(410, "Expired"),
            Answer::Later(1, 504, too_large),
            list("20", &[]),
            quiet_watch(),
        ])
        .await;
        assert_eq!(
            record.requests[2..],
            ["list rv=10", "list limit=500", "watch rv=20"]
        );
        assert_eq!(record.times[2], record.times[3], "asked in vain again");
    }
}

/// A lower answer to a question without a version is the store's own: it was restored.
#[tokio::test(start_paused = true)]
async fn a_lower_answer_without_a_version_means_a_restored_server() {
    let record = play(vec![
        list("1000", &[("a", "900")]),
        refuse(410, "Expired"),
        refuse(410, "Expired"),
        list("50", &[("a", "40")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[3..], ["list limit=500", "watch rv=50"]);
    assert_eq!(
        record.events[3..],
        ["fresh list", "listed a@40", "done 50, of a restored server"]
    );
}

/// Any other lower answer comes from an API server that lags behind: it is refused.
#[tokio::test(start_paused = true)]
async fn a_lower_answer_to_a_version_is_refused_and_asked_again() {
    let record = play(vec![
        list("1000", &[("a", "900")]),
        refuse(410, "Expired"),
        list("50", &[("a", "40")]),
        list("1001", &[("a", "900")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[2..],
        ["list rv=1000", "list rv=1000", "watch rv=1001"]
    );
    assert!(record.times[3] > record.times[2], "without a pause");
    assert_eq!(
        record.events,
        [
            "list",
            "listed a@900",
            "done 1000",
            // The names of a scripted list are sorted: its items come before its version.
            "list",
            "listed a@40",
            "list",
            "listed a@900",
            "done 1001"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn one_bad_item_is_reported_and_the_list_goes_on() {
    let mut bad = object("bad", "2");
    bad["data"] = json!("not a map");
    let items = json!({"metadata": {"resourceVersion": "10"},
                       "items": [object("a", "1"), bad, object("c", "3")]});
    let record = play(vec![Answer::Json(200, items), quiet_watch()]).await;
    assert_eq!(
        record.events,
        [
            "list",
            "listed a@1",
            "unreadable bad",
            "listed c@3",
            "done 10"
        ]
    );
}

/// A relist with a page size: with a limit alone the version would be the one to answer from,
/// which is the past.
#[tokio::test(start_paused = true)]
async fn a_relist_in_pages_asks_for_nothing_older_and_not_for_the_past() {
    let options = WatchOptions {
        page_size: Some(2),
        ..paged()
    };
    let script = vec![
        list("10", &[]),
        refuse(410, "Expired"),
        page("20", &[("a", "1")], "t1"),
        page("20", &[("b", "2")], ""),
        quiet_watch(),
    ];
    let record = play_with(options, script).await;
    assert_eq!(
        record.requests[2..],
        ["list rv=10 limit=2", "list limit=2 next=t1", "watch rv=20"]
    );
    let rules: Vec<_> = record
        .queries
        .iter()
        .map(|query| query.contains("resourceVersionMatch=NotOlderThan"))
        .collect();
    assert_eq!(rules, [false, false, true, false, false]);
}

/// RF-35: a 200 that holds something else changes nothing, on whatever page it comes.
#[tokio::test(start_paused = true)]
async fn what_is_no_list_is_refused_on_every_page() {
    let table = || json!({"kind": "Table", "metadata": {"resourceVersion": "20"}, "rows": []});
    let nothing = || json!({});
    let record = play(vec![
        page("10", &[("a", "1")], "t1"),
        page("10", &[("b", "2")], ""),
        refuse(410, "Expired"),
        Answer::Json(200, table()),
        Answer::Json(200, object("c", "15")),
        page("20", &[("a", "1")], "t2"),
        Answer::Json(200, nothing()),
        page("20", &[("a", "1")], "t2"),
        Answer::Json(200, table()),
        page("20", &[("a", "1")], "t2"),
        page("20", &[("b", "2")], ""),
        quiet_watch(),
    ])
    .await;
    let lists: Vec<_> = record
        .events
        .iter()
        .filter(|event| event.starts_with("done"))
        .collect();
    assert_eq!(lists, ["done 10", "done 20"]);
}

/// A token that the server cannot make sense of is as good as an expired one.
#[tokio::test(start_paused = true)]
async fn a_token_that_is_refused_leads_to_one_list_in_one_piece() {
    let record = play(vec![
        page("10", &[("a", "1")], "t1"),
        refuse(400, "BadRequest"),
        list("20", &[("a", "1")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[2..], ["list rv=0", "watch rv=20"]);
}

/// A byte that is no UTF-8 costs one item and not the list.
#[tokio::test(start_paused = true)]
async fn a_bad_byte_costs_one_item() {
    let text = json!({"metadata": {"resourceVersion": "10"},
                      "items": [object("a", "1"), object("bad", "2"), object("c", "3")]});
    let mut bytes = text.to_string().into_bytes();
    let at = bytes.windows(9).position(|it| it == br#"uid":"bad"#);
    bytes[at.unwrap() + 6] = 0xff;
    let record = play(vec![
        Answer::Stream(vec![Step::Raw(bytes.leak())]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.events,
        [
            "list",
            "listed a@1",
            "unreadable bad",
            "listed c@3",
            "done 10"
        ]
    );
}

/// An item beyond all measure is skipped and told by its name; its neighbours are read.
#[tokio::test(start_paused = true)]
async fn an_item_over_16_mib_is_reported_and_skipped() {
    let (a, c) = (object("a", "1"), object("c", "3"));
    let start = format!(
        r#"{{"metadata":{{"resourceVersion":"10"}},"items":[{a},{{"metadata":{{"name":"huge","namespace":"shop"}},"data":{{"x":""#
    );
    let filler: &'static [u8] = vec![b'x'; 1024 * 1024].leak();
    let mut steps = vec![Step::Raw(start.leak().as_bytes())];
    steps.extend((0..17).map(|_| Step::Raw(filler)));
    steps.push(Step::Raw(format!(r#""}}}},{c}]}}"#).leak().as_bytes()));
    let record = play(vec![Answer::Stream(steps), quiet_watch()]).await;
    assert_eq!(
        record.events,
        [
            "list",
            "listed a@1",
            "unreadable huge",
            "listed c@3",
            "done 10"
        ]
    );
}

/// kube-rs 13, C-25: a list may take as long as it takes, but each item is due a minute after the
/// last one.
#[tokio::test(start_paused = true)]
async fn a_slow_list_is_read_and_a_silent_one_given_up() {
    let slow = |pause: u64| {
        let mut steps = vec![Step::Raw(
            br#"{"metadata":{"resourceVersion":"10"},"items":["#,
        )];
        for n in 0..5 {
            steps.push(Step::Wait(Duration::from_secs(pause)));
            let comma = if n == 0 { "" } else { "," };
            let item = format!("{comma}{}", object(&n.to_string(), "1"));
            steps.push(Step::Raw(item.leak().as_bytes()));
        }
        steps.push(Step::Raw(b"]}"));
        Answer::Stream(steps)
    };
    let record = play(vec![slow(50), quiet_watch()]).await;
    assert_eq!(record.events.last().unwrap(), "done 10");
    assert_eq!(record.times[1], Duration::from_secs(250));

    let trickle = (0..20).flat_map(|_| [Step::Wait(Duration::from_secs(20)), Step::Raw(b" ")]);
    let trickle = [Step::Raw(br#"{"items":["#)].into_iter().chain(trickle);
    let record = play(vec![
        Answer::Stream(trickle.collect()),
        list("10", &[]),
        quiet_watch(),
    ])
    .await;
    let given_up = record.times[1].as_secs_f64() - 60.0;
    assert!(is_pause(given_up, 0.8), "{given_up}");
}

/// A server that was restored, and that does not heed the version it is asked for, is asked
/// without one after half a minute: nothing else tells it from one that lags.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_stale_for_ever_is_asked_what_it_has() {
    let old = || list("50", &[("a", "40")]);
    let mut script = vec![list("1000", &[("a", "900")]), refuse(410, "Expired")];
    script.extend((0..6).map(|_| old()));
    script.push(quiet_watch());
    let record = play(script).await;
    assert_eq!(record.requests[2..7], ["list rv=1000"; 5]);
    assert_eq!(record.requests[7..], ["list limit=500", "watch rv=50"]);
    assert_eq!(
        record.events.last().unwrap(),
        "done 50, of a restored server"
    );
}

/// A gateway's page with a 200 is told for what it is, and is no list.
#[tokio::test(start_paused = true)]
async fn a_page_of_a_gateway_is_no_list() {
    let page = || Answer::Html("<html>log in</html>");
    let record = play(vec![page(), list("10", &[]), page(), quiet_watch()]).await;
    assert_eq!(
        record.requests,
        [
            "list rv=0 limit=500",
            "list rv=0 limit=500",
            "watch rv=10",
            "watch rv=10"
        ]
    );
    assert_eq!(record.events, ["list", "done 10"]);
    let record = play(vec![page()]).await;
    let error = record.status.error.expect("a failure").to_string();
    assert_eq!(error, "the answer is text/html, which is not JSON");
}
