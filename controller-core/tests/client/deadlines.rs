use controller_core::client::{ApiError, ClientOptions, fetch, send};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::time::Duration;

use crate::scripted::{Script, Step, get, list, ok, options, patch, watch};

const FIVE: Duration = Duration::from_secs(5);

fn limited() -> ClientOptions {
    let mut options = options();
    options.request_timeout = Some(FIVE);
    options
}

/// RT-15, C-26: and a deadline is no reason to try again.
#[tokio::test(start_paused = true)]
async fn a_request_that_hangs_ends_at_its_deadline() {
    for step in [Step::Hang, Step::Stall(r#"{"items":["#)] {
        let script = Script::new([step.clone()]);
        let client = script.client(&limited());

        let error = fetch::<Value>(&client, get()).await.unwrap_err();

        assert_eq!(
            error.to_string(),
            "timed out after 5s waiting for GET /apis/apps/v1/namespaces/shop/deployments/web",
            "{step:?}"
        );
        assert_eq!(script.elapsed(), FIVE, "{step:?}");
        assert_eq!(script.seen().len(), 1, "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_hangs_may_have_been_applied() {
    let script = Script::new([Step::Hang]);
    let client = script.client(&limited());
    let error = fetch::<Value>(&client, patch()).await.unwrap_err();
    assert!(matches!(error, ApiError::Timeout { .. }), "{error:?}");
    assert!(error.answer_lost());
}

/// A body that keeps coming is cut too: the deadline is for the whole answer.
#[tokio::test(start_paused = true)]
async fn an_object_that_trickles_for_ever_is_cut() {
    let script = Script::new([Step::Trickle(Duration::from_secs(1))]);
    let client = script.client(&limited());
    let error = fetch::<Value>(&client, get()).await.unwrap_err();
    assert!(matches!(error, ApiError::Timeout { .. }), "{error:?}");
    assert_eq!(script.elapsed(), FIVE);
}

/// A list over a slow line takes as long as it takes, but not for ever between two frames.
#[tokio::test(start_paused = true)]
async fn a_list_is_cut_when_it_falls_silent_and_not_while_it_comes() {
    let slow = Script::new([Step::Trickle(Duration::from_secs(4))]);
    let mut body = send(&slow.client(&limited()), list())
        .await
        .unwrap()
        .into_body();
    for _ in 0..10 {
        body.frame().await.expect("the list goes on").unwrap();
    }
    assert_eq!(slow.elapsed(), Duration::from_secs(40));

    for (options, limit) in [(limited(), FIVE), (options(), Duration::from_secs(60))] {
        for step in [Step::Hang, Step::Stall(r#"{"items":["#)] {
            let script = Script::new([step.clone()]);
            let client = script.client(&options);
            let error = fetch::<Value>(&client, list()).await.unwrap_err();
            assert!(matches!(error, ApiError::Timeout { .. }), "{error:?}");
            assert_eq!(script.elapsed(), limit, "{step:?}");
        }
    }
}

/// A reader that takes its time is no silence of the server's.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_a_list_is_not_cut() {
    let script = Script::new([Step::Trickle(Duration::from_secs(1))]);
    let mut body = send(&script.client(&limited()), list())
        .await
        .unwrap()
        .into_body();
    for _ in 0..3 {
        body.frame().await.expect("the list goes on").unwrap();
        tokio::time::sleep(4 * FIVE).await;
    }
}

/// C-26: one bookmark each 8 s for 40 s, under a request timeout of 5 s.
#[tokio::test(start_paused = true)]
async fn a_watch_outlives_the_request_timeout() {
    let script = Script::new([Step::Trickle(Duration::from_secs(8))]);
    let client = script.client(&limited());
    let mut body = send(&client, watch()).await.unwrap().into_body();
    for line in 1..=5 {
        let frame = body.frame().await.expect("the watch is open").unwrap();
        assert_eq!(frame.into_data().unwrap(), "{}\n");
        assert_eq!(script.elapsed(), Duration::from_secs(8 * line));
    }
    assert_eq!(script.seen().len(), 1);
}

/// Its head is another matter: an answer is due whatever the user's timeout.
#[tokio::test(start_paused = true)]
async fn a_watch_that_is_not_answered_is_given_up() {
    for options in [limited(), options()] {
        let script = Script::new([Step::Hang]);
        let client = script.client(&options);
        let error = send(&client, watch()).await.unwrap_err();
        assert!(matches!(error, ApiError::Timeout { .. }), "{error:?}");
        assert_eq!(script.elapsed(), Duration::from_secs(30));
    }
}

#[tokio::test(start_paused = true)]
async fn no_limit_is_no_limit() {
    let script = Script::new([Step::Late(Duration::from_secs(600))]);
    let client = script.client(&options());
    let _: Value = fetch(&client, get()).await.unwrap();
}

/// The deadline is for each try, so that a server which asks for patience is not taken
/// for one that hangs.
#[tokio::test(start_paused = true)]
async fn waiting_as_told_is_not_hanging() {
    let busy = Step::Answer(429, &[("retry-after", "4")], String::new());
    let script = Script::new([busy.clone(), busy, ok("{}")]);
    let client = script.client(&limited());
    let _: Value = fetch(&client, list()).await.unwrap();
    assert!(script.elapsed() > FIVE);
}
