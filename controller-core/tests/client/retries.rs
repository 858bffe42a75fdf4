use std::io;
use std::sync::Arc;

use controller_core::client::{ApiError, OnWait, Retried, RetryPolicy, Waiting, fetch, send};
use futures::future::join;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep};
use tokio_util::sync::CancellationToken;

use crate::scripted::{Script, Step, list, ok, options, patch, refusal, watch};

const SECOND: Duration = Duration::from_secs(1);
const RETRY_AFTER_1: &[(&str, &str)] = &[("retry-after", "1")];

fn initializing() -> Step {
    refusal(429, RETRY_AFTER_1, "storage is (re)initializing")
}

/// C-07: half a minute of 429.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_starting_is_waited_for_and_not_hammered() {
    for seconds in [8, 34] {
        let script = Script::new([
            Step::Until(Duration::from_secs(seconds), Box::new(initializing())),
            ok(r#"{"items":[]}"#),
        ]);
        let waits: Arc<Mutex<Vec<Waiting>>> = Arc::default();
        let told = Arc::clone(&waits);
        let mut options = options();
        options.on_wait = Some(OnWait::new(move |waiting| {
            told.lock().push(waiting.clone());
        }));
        let client = script.client(&options);

        let list: Value = fetch(&client, list()).await.unwrap();

        assert_eq!(list, json!({ "items": [] }));
        let seen = script.seen();
        assert!(seen.len() <= 12, "{} tries", seen.len());
        for pair in seen.windows(2) {
            assert!(pair[1].at - pair[0].at >= SECOND, "{pair:?}");
        }
        let waits = waits.lock();
        assert!(waits.iter().any(|waiting| waiting.elapsed < 3 * SECOND));
        assert_eq!(waits[0].why, "storage is (re)initializing");
        assert_eq!(waits[0].request, "GET /apis/apps/v1/deployments");
    }
}

/// C-07, RT-10: an end that comes, in the server's words.
#[tokio::test(start_paused = true)]
async fn a_server_that_never_starts_ends_the_wait_with_its_own_words() {
    let script = Script::new([initializing()]);
    let client = script.client(&options());

    let error = fetch::<Value>(&client, list()).await.unwrap_err();

    assert!(matches!(error, ApiError::TooManyRequests(_)), "{error:?}");
    assert_eq!(error.to_string(), "storage is (re)initializing");
    assert_eq!(error.retry_after(), Some(SECOND));
    assert!(script.seen().len() <= 12);
    assert!(script.elapsed() <= Duration::from_secs(45));
    assert!(script.elapsed() >= Duration::from_secs(30));
}

/// RT-08: the body of a write is sent again as it was.
#[tokio::test(start_paused = true)]
async fn a_write_is_repeated_only_when_the_server_asks_for_it() {
    let asked = Script::new([initializing(), ok("{}")]);
    let _: Value = fetch(&asked.client(&options()), patch()).await.unwrap();
    let seen = asked.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].method, "PATCH");
    assert_eq!(seen[1].body, r#"{"spec":{"replicas":2}}"#);
    assert_eq!(
        seen[1].headers["content-type"],
        "application/merge-patch+json"
    );

    for step in [
        refusal(503, &[], "no endpoints"),
        refusal(500, RETRY_AFTER_1, "webhook"),
        Step::Fail(io::ErrorKind::ConnectionReset),
    ] {
        let script = Script::new([step]);
        let client = script.client(&options());
        fetch::<Value>(&client, patch()).await.unwrap_err();
        assert_eq!(script.seen().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_write_says_that_it_may_have_been_applied() {
    let script = Script::new([Step::Fail(io::ErrorKind::ConnectionReset)]);
    let client = script.client(&options());
    let error = fetch::<Value>(&client, patch()).await.unwrap_err();
    assert!(error.answer_lost(), "{error:?}");
}

/// A read over a connection that breaks gets another one, but no server is asked for
/// long that does not say when to come back.
#[tokio::test(start_paused = true)]
async fn a_read_survives_a_broken_connection_but_hides_no_broken_server() {
    let once = Script::new([Step::Fail(io::ErrorKind::ConnectionReset), ok("{}")]);
    let _: Value = fetch(&once.client(&options()), list()).await.unwrap();

    let forever = Script::new([Step::Fail(io::ErrorKind::ConnectionReset)]);
    let client = forever.client(&options());
    let error = fetch::<Value>(&client, list()).await.unwrap_err();
    assert!(matches!(error, ApiError::Disconnected { .. }), "{error:?}");
    assert_eq!(forever.seen().len(), 4);
    assert!(forever.elapsed() < 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_server_that_is_not_there() {
    let script = Script::new([Step::Fail(io::ErrorKind::ConnectionRefused)]);
    let client = script.client(&options());
    fetch::<Value>(&client, list()).await.unwrap_err();
    assert_eq!(script.seen().len(), 1);
}

/// A watch has its reflector to back off; two loops would multiply.
#[tokio::test(start_paused = true)]
async fn a_watch_is_opened_once() {
    for step in [initializing(), Step::Fail(io::ErrorKind::ConnectionReset)] {
        let script = Script::new([step]);
        let client = script.client(&options());
        send(&client, watch()).await.unwrap_err();
        assert_eq!(script.seen().len(), 1);
    }
}

/// A list of a reflector has the same loop.
#[tokio::test(start_paused = true)]
async fn what_the_caller_retries_is_sent_once() {
    for step in [initializing(), Step::Fail(io::ErrorKind::ConnectionReset)] {
        let script = Script::new([step, ok("{}")]);
        let client = script.client(&options());
        let call = list().with_retries_by(Retried::ByCaller);
        fetch::<Value>(&client, call).await.unwrap_err();
        assert_eq!(script.seen().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn without_retries_the_first_answer_is_the_answer() {
    let script = Script::new([initializing(), ok("{}")]);
    let mut options = options();
    options.retry = RetryPolicy::none();
    let client = script.client(&options);
    fetch::<Value>(&client, list()).await.unwrap_err();
    assert_eq!(script.seen().len(), 1);
}

/// The wait is in one request's future: another request passes it, and a failure breaks
/// no later one.
#[tokio::test(start_paused = true)]
async fn a_request_that_waits_holds_up_no_other() {
    let long = refusal(429, &[("retry-after", "20")], "later");
    let script = Script::new([long, ok(r#""second""#), ok(r#""first, again""#)]);
    let client = script.client(&options());
    let second = async {
        let answer: Value = fetch(&client, list()).await.unwrap();
        (answer, script.elapsed())
    };
    let (first, (second, at)) = join(fetch::<Value>(&client, list()), second).await;
    assert_eq!(first.unwrap(), "first, again");
    assert_eq!(second, "second");
    assert!(at < SECOND, "{at:?}");
}

/// A caller that is told to end: nothing is sent any more, and the server's last words are
/// the answer.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_for_another_try_at_once() {
    for call in [list(), patch()] {
        let script = Script::new([initializing()]);
        let client = script.client(&options());
        let stop = CancellationToken::new();
        let sent = fetch::<Value>(&client, call.with_retries_until(stop.clone()));
        let end = async {
            sleep(Duration::from_millis(2500)).await;
            stop.cancel();
        };
        let (answer, ()) = join(sent, end).await;
        let error = answer.unwrap_err();
        assert!(matches!(error, ApiError::TooManyRequests(_)), "{error:?}");
        assert_eq!(error.to_string(), "storage is (re)initializing");
        assert_eq!(error.retry_after(), Some(SECOND));
        assert_eq!(script.elapsed(), Duration::from_millis(2500));
        assert!((2..=3).contains(&script.seen().len()));
    }
}

/// What was sent before the stop is awaited, and its answer counts.
#[tokio::test(start_paused = true)]
async fn a_stop_takes_nothing_back() {
    let late = Step::Late(10 * SECOND);
    let script = Script::new([late]);
    let stop = CancellationToken::new();
    stop.cancel();
    let client = script.client(&options());
    let call = patch().with_retries_until(stop);
    let _: Value = fetch(&client, call).await.unwrap();
    assert_eq!(script.elapsed(), 10 * SECOND);

    let refused = Script::new([initializing(), ok("{}")]);
    let stop = CancellationToken::new();
    stop.cancel();
    let call = patch().with_retries_until(stop);
    let client = refused.client(&options());
    fetch::<Value>(&client, call).await.unwrap_err();
    assert_eq!(refused.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failure_leaves_the_client_usable() {
    let script = Script::new([Step::Fail(io::ErrorKind::Other), ok("{}")]);
    let client = script.client(&options());
    fetch::<Value>(&client, list()).await.unwrap_err();
    let _: Value = fetch(&client, list()).await.unwrap();
}
