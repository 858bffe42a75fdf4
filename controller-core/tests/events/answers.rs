//! What becomes of an event when the server, or what stands before it, says no or nothing.

use controller_core::write::events::DropReason;
use http::HeaderValue;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule};
use tokio::time::Instant;

use crate::bed::{Bed, about, creates, minutes, patches, raised};

/// EV-05: what the server has refused is not tried again, whatever the status.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_final() {
    for code in [400, 403, 404, 409, 422, 500] {
        let mut bed = Bed::new().await;
        bed.server
            .faults()
            .add(creates(Rule::new(Action::status(code))));
        bed.record(raised("one"), 1).await;
        bed.pass(minutes(10)).await;
        assert_eq!(bed.exchange(), [format!("POST {code}")]);
        let counts = bed.stop().await;
        assert_eq!(counts.dropped(DropReason::Refused), 1, "{code}");
    }
}

/// EV-06: a page that is no API server's, and a 200 that is not what was asked for.
#[tokio::test(start_paused = true)]
async fn what_is_no_answer_is_tried_twelve_times() {
    let html = HeaderValue::from_static("text/html");
    for page in [
        Action::status(502).body(html.clone(), "<html>bad gateway</html>"),
        Action::status(200).body(html.clone(), "<html>please log in</html>"),
    ] {
        let mut bed = Bed::new().await;
        bed.server.faults().add(creates(Rule::new(page)));
        bed.record(raised("one"), 1).await;
        bed.pass(minutes(10)).await;
        assert_eq!(bed.exchange().len(), 12);
        assert_waits(&bed, 10.0, 12.5);
        let counts = bed.stop().await;
        assert_eq!(counts.dropped(DropReason::GivenUp), 1);
        assert_eq!(counts.requests, 12);
    }
}

/// EV-06: nobody answers at all. Each try is given up after the client's deadline of 5 s.
#[tokio::test(start_paused = true)]
async fn an_event_that_hangs_is_tried_twelve_times_and_holds_up_no_other() {
    let mut bed = Bed::new().await;
    bed.server
        .faults()
        .add(creates(Rule::new(Action::Hang)).attempts(1..=12));
    bed.record(raised("one"), 1).await;
    bed.pass(minutes(10)).await;
    assert_eq!(bed.exchange().len(), 12);
    assert_waits(&bed, 15.0, 17.5);
    bed.record(about("api"), 13).await;
    let counts = bed.stop().await;
    assert_eq!(counts.dropped(DropReason::GivenUp), 1);
    assert_eq!(counts.written, 1);
}

/// EV-07.
#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_tried_again() {
    let mut bed = Bed::new().await;
    bed.server
        .faults()
        .add(creates(Rule::new(Action::Reset)).attempts(1));
    bed.record(raised("one"), 2).await;
    let counts = bed.stop().await;
    assert_eq!(bed.exchange(), ["POST -", "POST 201"]);
    assert_eq!((counts.written, counts.requests), (1, 2));
}

/// The event was made, the answer lost: it is found again and not made twice, and its repeats
/// are counted in it. client-go loses the count there.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_makes_no_second_event() {
    let mut bed = Bed::new().await;
    bed.server
        .faults()
        .add(creates(Rule::new(Action::LostAnswer)).attempts(1));
    bed.record(raised("one"), 1).await;
    bed.recorder.record(raised("two"));
    bed.asked(3).await;
    let counts = bed.stop().await;
    assert_eq!(bed.exchange(), ["POST -", "POST 409", "PATCH 200"]);
    let events = bed.events();
    assert_eq!(
        (events.len(), &events[0]["series"]["count"]),
        (1, &json!(2))
    );
    assert_eq!((counts.written, counts.dropped_total()), (2, 0));
}

/// A patch tells a count and adds none: sent twice it is the same.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_to_a_patch_counts_nothing_twice() {
    let mut bed = Bed::new().await;
    bed.server
        .faults()
        .add(patches(Rule::new(Action::LostAnswer)).attempts(1));
    bed.record(raised("one"), 1).await;
    bed.record(raised("two"), 3).await;
    let counts = bed.stop().await;
    assert_eq!(bed.exchange(), ["POST 201", "PATCH -", "PATCH 200"]);
    assert_eq!(bed.events()[0]["series"]["count"], 2);
    assert_eq!(counts.written, 2);
}

/// EV-08: the event expired, or somebody deleted it, between two repeats.
#[tokio::test(start_paused = true)]
async fn a_vanished_event_is_made_anew() {
    let mut bed = Bed::new().await;
    bed.record(raised("one"), 1).await;
    let name = bed.events()[0]["metadata"]["name"].clone();
    bed.server.remove("events", "shop", name.as_str().unwrap());
    bed.record(raised("two"), 3).await;
    bed.stop().await;
    assert_eq!(bed.exchange(), ["POST 201", "PATCH 404", "POST 201"]);
    let events = bed.events();
    assert_eq!(
        (events.len(), &events[0]["series"]["count"]),
        (1, &json!(2))
    );
    assert_eq!(events[0]["metadata"]["name"], name);
}

/// A 404 of something that stands before the server says nothing of the event.
#[tokio::test(start_paused = true)]
async fn a_page_that_is_not_found_is_no_event_that_vanished() {
    let mut bed = Bed::new().await;
    let html = HeaderValue::from_static("text/html");
    let page = Action::status(404).body(html, "<html>gateway</html>");
    bed.server
        .faults()
        .add(patches(Rule::new(page)).attempts(1));
    bed.record(raised("one"), 1).await;
    bed.record(raised("two"), 3).await;
    bed.stop().await;
    assert_eq!(bed.exchange(), ["POST 201", "PATCH 404", "PATCH 200"]);
}

/// EV-29: a patch that is refused costs the count that it told, for now, and not the series.
#[tokio::test(start_paused = true)]
async fn a_series_outlives_a_refused_patch() {
    let mut bed = Bed::new().await;
    bed.server
        .faults()
        .add(patches(Rule::new(Action::status(500))).attempts(1));
    bed.record(raised("one"), 1).await;
    bed.record(raised("two"), 2).await;
    bed.recorder.record(raised("three"));
    bed.pass(minutes(15)).await;
    assert_eq!(bed.exchange(), ["POST 201", "PATCH 500", "PATCH 200"]);
    let counts = bed.stop().await;
    assert_eq!((counts.written, counts.dropped_total()), (3, 0));
    assert_eq!(bed.events()[0]["series"]["count"], 3);
}

/// What the server invites back the client has tried again already, and a minute of it is
/// waited for.
#[tokio::test(start_paused = true)]
async fn a_busy_server_is_waited_for() {
    let mut bed = Bed::new().await;
    let busy = Action::status(429).retry_after(1);
    bed.server
        .faults()
        .add(creates(Rule::new(busy)).attempts(1..=5));
    bed.record(raised("one"), 6).await;
    let counts = bed.stop().await;
    assert_eq!((counts.written, counts.requests), (1, 1));
}

/// The times between the requests, in seconds. The answer of a hanging one takes its part.
fn assert_waits(bed: &Bed, least: f64, most: f64) {
    let times: Vec<Instant> = bed.server.requests().iter().map(|it| it.at).collect();
    for pair in times.windows(2) {
        let wait = (pair[1] - pair[0]).as_secs_f64();
        // Timers count whole milliseconds.
        assert!((least..=most + 0.01).contains(&wait), "{wait}");
    }
}
