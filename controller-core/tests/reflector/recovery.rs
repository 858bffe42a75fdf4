use std::time::Duration;

use serde_json::json;

use crate::script::{
    Answer, Step, bookmark, end_of_list, is_pause, line, list, object, page, paged, play,
    play_streaming, play_with, quiet_watch, refuse, status,
};

/// 410 as an error line in a 200 stream, as the real server sends it.
#[tokio::test(start_paused = true)]
async fn an_expired_watch_leads_to_a_list_at_once_if_it_was_healthy() {
    let expired = status(410, "Expired", "too old resource version: 10 (99)");
    let record = play(vec![
        list("10", &[]),
        Answer::Stream(vec![
            line("ADDED", object("a", "11")),
            line("ERROR", expired),
        ]),
        list("20", &[("a", "11")]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[1..],
        ["watch rv=10", "list rv=11", "watch rv=20"]
    );
    assert_eq!(record.times[1], record.times[2]);
}

/// A server whose watches expire at once, however fresh the list, must not be asked in a
/// circle.
#[tokio::test(start_paused = true)]
async fn lists_whose_watches_expire_at_once_come_with_growing_pauses() {
    let expired = || {
        let status = status(410, "Expired", "too old resource version");
        Answer::Stream(vec![line("ERROR", status)])
    };
    let record = play(vec![
        list("10", &[]),
        expired(),
        list("20", &[]),
        refuse(410, "Gone"),
        list("30", &[]),
        expired(),
        list("40", &[]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[2..],
        [
            "list rv=10",
            "watch rv=20",
            "list rv=20",
            "watch rv=30",
            "list rv=30",
            "watch rv=40"
        ]
    );
    let pause = |list: usize| (record.times[list] - record.times[list - 1]).as_secs_f64();
    assert!(is_pause(pause(2), 0.8), "{}", pause(2));
    assert!(is_pause(pause(4), 1.6), "{}", pause(4));
    assert!(is_pause(pause(6), 3.2), "{}", pause(6));
}

/// RF-18, RF-19: throttling and a broken connection or two cost pauses, not a list.
#[tokio::test(start_paused = true)]
async fn throttled_and_broken_watches_are_tried_again_without_a_list() {
    let busy = status(429, "TooManyRequests", "too many requests");
    let record = play(vec![
        list("10", &[]),
        refuse(429, "TooManyRequests"),
        refuse(503, "ServiceUnavailable"),
        Answer::Refuse,
        Answer::Stream(vec![line("ADDED", object("a", "11")), line("ERROR", busy)]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[1..],
        [
            "watch rv=10",
            "watch rv=10",
            "watch rv=10",
            "watch rv=10",
            "watch rv=11"
        ]
    );
    for pair in record.times[1..].windows(2) {
        assert!(pair[1] - pair[0] >= Duration::from_millis(800));
    }
    assert!(record.status.synced);
}

/// BX-12: what keeps the first list from coming is told, and it comes when it may.
#[tokio::test(start_paused = true)]
async fn a_forbidden_list_is_told_and_recovers_when_it_is_allowed() {
    let mut forbidden = status(
        403,
        "Forbidden",
        "configmaps is forbidden: User \"ana\" cannot",
    );
    forbidden["details"] = json!({"kind": "configmaps"});
    let record = play(vec![Answer::Json(403, forbidden.clone())]).await;
    assert!(!record.status.synced);
    let error = record.status.error.expect("the refusal").to_string();
    assert_eq!(error, "configmaps is forbidden: User \"ana\" cannot");

    let record = play(vec![
        Answer::Json(403, forbidden),
        list("10", &[("a", "1")]),
        quiet_watch(),
    ])
    .await;
    assert!(record.status.synced && record.status.error.is_none());
}

/// List allowed, watch forbidden: told with the verb, and without listing in a circle.
#[tokio::test(start_paused = true)]
async fn a_forbidden_watch_is_tried_again_without_a_list_and_stays_told() {
    let record = play(vec![
        list("10", &[]),
        refuse(403, "Forbidden"),
        refuse(403, "Forbidden"),
    ])
    .await;
    assert_eq!(
        record.requests,
        ["list rv=0 limit=500", "watch rv=10", "watch rv=10"]
    );
    assert!(record.status.synced && record.status.error.is_some());
}

/// RW-05, SI-07: nothing but a person mends it, so it is asked for slowly, from the first time on.
#[tokio::test(start_paused = true)]
async fn a_denial_is_told_at_once_with_its_rule_and_retried_slowly() {
    for code in [401, 403] {
        let log = crate::log::Log::default();
        let _guard = log.listen();
        let denied = || refuse(code, "");
        let record = play(vec![list("10", &[]), denied(), denied(), denied()]).await;
        for pair in record.times[1..].windows(2) {
            let pause = (pair[1] - pair[0]).as_secs_f64();
            assert!(is_pause(pause, 15.0), "{pause}");
        }
        let answer = record.status.denied().expect("a denial");
        assert_eq!(answer.verb, controller_core::client::Verb::Watch);
        assert_eq!(answer.target.resource, "configmaps");
        assert_eq!(log.warnings(), 1, "{}", log.text());
        let rule = "cannot watch configmaps: as the script says";
        assert!(log.text().contains(rule), "{}", log.text());
    }
}

/// RF-18: a server that says when to come back is not asked before, whether it says so in
/// the head, in the body, or in a line of a watch.
#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_a_wait_gets_it() {
    let busy = || status(429, "TooManyRequests", "later");
    let mut in_the_body = busy();
    in_the_body["details"] = json!({"retryAfterSeconds": 20});
    let record = play(vec![
        Answer::Later(20, 503, busy()),
        Answer::Later(20, 429, busy()),
        list("10", &[]),
        Answer::Later(20, 429, busy()),
        Answer::Json(429, in_the_body.clone()),
        Answer::Stream(vec![line("ERROR", in_the_body)]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[2..],
        [
            "list rv=0 limit=500",
            "watch rv=10",
            "watch rv=10",
            "watch rv=10",
            "watch rv=10"
        ]
    );
    for after in [0, 1, 3, 4, 5] {
        let pause = (record.times[after + 1] - record.times[after]).as_secs_f64();
        assert!((20.0..26.0).contains(&pause), "{pause} after {after}");
    }
}

/// BX-13: a server that is away for long is asked with growing pauses up to the cap, and
/// the ramp starts over only after a healthy time.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_asked_ever_less_often() {
    let record = play((0..14).map(|_| Answer::Refuse).collect()).await;
    let pauses: Vec<_> = record
        .times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64())
        .collect();
    let mut floor: f64 = 0.8;
    for pause in &pauses {
        assert!(is_pause(*pause, floor), "{pauses:?}");
        floor = (floor * 2.0).min(15.0);
    }
    assert!(pauses.iter().sum::<f64>() > 120.0, "too short to tell");
}

#[tokio::test(start_paused = true)]
async fn the_ramp_starts_over_after_an_event() {
    let mut script = vec![list("10", &[])];
    script.extend((0..2).map(|_| Answer::Stream(vec![])));
    script.push(Answer::Stream(vec![
        line("ADDED", object("a", "11")),
        Step::Wait(Duration::from_secs(1)),
    ]));
    script.extend((0..2).map(|_| Answer::Stream(vec![])));
    let record = play(script).await;
    let last = record.times.len() - 1;
    let pause = (record.times[last] - record.times[last - 1]).as_secs_f64();
    assert!(is_pause(pause, 0.8), "{pause}");
}

/// Watches that open and fail at once are no recovery: the failure is told once.
#[tokio::test(start_paused = true)]
async fn a_watch_that_opens_and_fails_at_once_is_warned_of_once() {
    let log = crate::log::Log::default();
    let _guard = log.listen();
    let broken = || {
        let status = status(500, "InternalError", "unable to transform key");
        Answer::Stream(vec![line("ERROR", status)])
    };
    let mut script = Vec::new();
    for _ in 0..5 {
        script.push(list("10", &[]));
        script.push(broken());
    }
    play(script).await;
    assert_eq!(log.warnings(), 1, "{}", log.text());
}

/// A failure that comes back after a healthy time is news again.
#[tokio::test(start_paused = true)]
async fn a_failure_after_a_healthy_time_is_warned_of_again() {
    let log = crate::log::Log::default();
    let _guard = log.listen();
    let broken = |lines: Vec<Step>| {
        let status = status(500, "InternalError", "unable to transform key");
        let error = [line("ERROR", status)];
        Answer::Stream(lines.into_iter().chain(error).collect())
    };
    play(vec![
        list("10", &[]),
        broken(vec![]),
        list("10", &[]),
        broken(vec![line("ADDED", object("a", "11"))]),
    ])
    .await;
    assert_eq!(log.warnings(), 2, "{}", log.text());
    assert!(log.text().contains("watching again"), "{}", log.text());
}

/// kube-rs 8: a server whose versions expire after every event is listed at once twice, then ever
/// less often. A minute of rest, and it is trusted again.
#[tokio::test(start_paused = true)]
async fn lists_that_are_needed_again_and_again_come_with_growing_pauses() {
    let expired = |version: &str| {
        let status = status(410, "Expired", "too old resource version");
        let news = line("ADDED", object("a", version));
        Answer::Stream(vec![news, line("ERROR", status)])
    };
    let mut script = Vec::new();
    for n in 1..=6 {
        script.push(list(&(10 * n).to_string(), &[]));
        script.push(expired(&(10 * n + 1).to_string()));
    }
    script.extend([
        list("70", &[]),
        Answer::Stream(vec![Step::Wait(Duration::from_secs(60))]),
        expired("81"),
        list("90", &[]),
        quiet_watch(),
    ]);
    let record = play(script).await;
    let pause = |list: usize| (record.times[list] - record.times[list - 1]).as_secs_f64();
    assert_eq!((pause(2), pause(4)), (0.0, 0.0));
    for (list, floor) in [(6, 0.8), (8, 1.6), (10, 3.2), (12, 6.4)] {
        assert!(is_pause(pause(list), floor), "{list}: {}", pause(list));
    }
    assert_eq!(pause(15), 0.0, "after a calm minute");
}

/// The same for a server whose watches break in a way that only a list mends.
#[tokio::test(start_paused = true)]
async fn lists_after_broken_watches_come_with_growing_pauses_whatever_those_brought() {
    let broken = |version: &str| {
        let status = status(500, "InternalError", "unable to transform key");
        let news = line("ADDED", object("a", version));
        Answer::Stream(vec![news, line("ERROR", status)])
    };
    let mut script = Vec::new();
    for n in 1..=6 {
        script.push(list(&(10 * n).to_string(), &[]));
        script.push(broken(&(10 * n + 1).to_string()));
    }
    let record = play(script).await;
    let pause = |list: usize| (record.times[list] - record.times[list - 1]).as_secs_f64();
    for (list, floor) in [(2, 0.8), (4, 0.8), (6, 0.8), (8, 1.6), (10, 3.2)] {
        assert!(is_pause(pause(list), floor), "{list}: {}", pause(list));
    }
}

/// And for a proxy that garbles every watch after a second, which is long enough to look
/// healthy.
#[tokio::test(start_paused = true)]
async fn watches_that_are_garbled_again_and_again_do_not_list_for_ever() {
    let garbled = || {
        Answer::Stream(vec![
            Step::Raw(b"<html>\n"),
            Step::Wait(Duration::from_millis(1100)),
        ])
    };
    let mut script = Vec::new();
    for _ in 0..6 {
        script.push(list("10", &[]));
        script.push(garbled());
    }
    let record = play(script).await;
    let pause = |list: usize| (record.times[list] - record.times[list - 1]).as_secs_f64() - 1.1;
    for (list, floor) in [(6, 0.8), (8, 1.6), (10, 3.2)] {
        assert!(is_pause(pause(list), floor), "{list}: {}", pause(list));
    }
    let error = record.status.error.expect("it is told").to_string();
    assert!(error.contains("no watch lasts for long"), "{error}");
}

/// RF-17: whoever knows better sets the waits.
#[tokio::test(start_paused = true)]
async fn the_waits_can_be_set() {
    let millis = Duration::from_millis;
    let options = paged().backoff(millis(10), millis(40));
    let record = play_with(options, (0..6).map(|_| Answer::Refuse).collect()).await;
    let pauses = record
        .times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64());
    for (pause, floor) in pauses.zip([0.01, 0.02, 0.04, 0.04, 0.04]) {
        assert!(is_pause(pause, floor), "{pause} after {floor}");
    }
}

/// Where lists work and watches do not, lists keep the cache up to date.
#[tokio::test(start_paused = true)]
async fn three_watches_in_a_row_that_come_to_nothing_lead_to_a_list() {
    let ways: [fn() -> Answer; 7] = [
        || refuse(500, "InternalError"),
        || refuse(502, ""),
        || refuse(503, "ServiceUnavailable"),
        || Answer::Never,
        || Answer::Html("<html>log in</html>"),
        || Answer::Stream(vec![]),
        || Answer::Stream(vec![Step::Hang]),
    ];
    // One that comes to something, with a word in it.
    let good = || Answer::Stream(vec![bookmark("20"), Step::Wait(Duration::from_secs(2))]);
    for futile in ways {
        let mut record = play(vec![
            list("10", &[("a", "1")]),
            futile(),
            futile(),
            futile(),
            list("20", &[("b", "15")]),
            futile(),
            futile(),
            good(),
            futile(),
            futile(),
            good(),
        ])
        .await;
        record.events.retain(|event| event != "bookmark 20");
        assert_eq!(record.requests[1..4], vec!["watch rv=10"; 3]);
        assert_eq!(record.requests[4], "list rv=10");
        assert_eq!(record.requests[5..], vec!["watch rv=20"; 6]);
        assert_eq!(record.events[3..], ["list", "listed b@15", "done 20"]);
    }
}

/// RW-05: what a list would meet too, or what asks for patience, leads to none.
#[tokio::test(start_paused = true)]
async fn watches_that_are_denied_or_put_off_never_lead_to_a_list() {
    for code in [401, 403, 429] {
        let mut script = vec![list("10", &[])];
        script.extend((0..6).map(|_| refuse(code, "")));
        let record = play(script).await;
        assert_eq!(record.requests[1..], vec!["watch rv=10"; 6]);
    }
}

/// The name of the object that replaced a deleted one is hidden: the end of the old one is
/// told by no watch, since that goes on from the list.
#[tokio::test(start_paused = true)]
async fn a_list_that_hides_a_key_is_repeated_when_its_watch_ends() {
    let hidden = json!({"metadata": {"resourceVersion": "15"}, "data": 7});
    let items = json!({"metadata": {"resourceVersion": "20"},
                       "items": [object("b", "2"), hidden.clone()]});
    let record = play(vec![
        list("10", &[("a", "1"), ("b", "2")]),
        refuse(410, "Expired"),
        Answer::Json(200, items),
        quiet_watch(),
        list("20", &[("b", "2"), ("c", "15")]),
        quiet_watch(),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[3..],
        ["watch rv=20", "list rv=20", "watch rv=20", "watch rv=20"]
    );
    let record = play_streaming(vec![
        Answer::Stream(vec![
            line("ADDED", hidden),
            end_of_list("20"),
            Step::Wait(Duration::from_secs(2)),
        ]),
        Answer::Stream(vec![end_of_list("20"), Step::Wait(Duration::from_secs(2))]),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests, ["stream", "stream rv=20", "watch rv=20"]);
}

/// What an attempt at a list hid is of no interest once another one has come.
#[tokio::test(start_paused = true)]
async fn what_a_broken_stream_hid_is_forgotten_with_the_list_that_follows() {
    let broken = || Answer::Stream(vec![Step::Raw(b"<html>\n"), Step::Reset]);
    let record = play_streaming(vec![
        broken(),
        broken(),
        list("10", &[]),
        quiet_watch(),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[2..],
        ["list rv=0 limit=500", "watch rv=10", "watch rv=10"]
    );
}

/// So is what a first attempt in pages hid.
#[tokio::test(start_paused = true)]
async fn what_an_expired_page_hid_is_forgotten_with_the_list_in_one_piece() {
    let hiding = json!({"metadata": {"resourceVersion": "10", "continue": "t1"}, "items": [7]});
    let record = play(vec![
        Answer::Json(200, hiding),
        refuse(410, "Expired"),
        page("20", &[("a", "1")], ""),
        quiet_watch(),
        quiet_watch(),
    ])
    .await;
    assert_eq!(
        record.requests[2..],
        ["list rv=0", "watch rv=20", "watch rv=20"]
    );
}

/// An empty list of something else would delete everything.
#[tokio::test(start_paused = true)]
async fn a_list_of_another_kind_empties_no_cache() {
    let pods = json!({"kind": "PodList", "apiVersion": "v1",
                      "metadata": {"resourceVersion": "999999"}, "items": []});
    let own = json!({"kind": "ConfigMapList", "apiVersion": "v1",
                     "metadata": {"resourceVersion": "20"}, "items": [object("a", "1")]});
    let record = play(vec![
        list("10", &[("a", "1")]),
        refuse(410, "Expired"),
        Answer::Json(200, pods.clone()),
        Answer::Json(200, own),
        quiet_watch(),
    ])
    .await;
    assert_eq!(record.requests[3..], ["list rv=10", "watch rv=20"]);
    assert_eq!(record.events.last().unwrap(), "done 20");
    assert!(!record.events.contains(&"done 999999".to_owned()));
    let record = play(vec![Answer::Json(200, pods)]).await;
    let error = record.status.error.expect("a failure").to_string();
    assert_eq!(
        error,
        "the answer is a list of another kind (PodList of v1)"
    );
}
