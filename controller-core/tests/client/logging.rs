use captured_log::CapturedLog;
use controller_core::client::fetch;
use serde_json::Value;
use tracing::Level;

use crate::scripted::{Script, Step, list, ok, options, refusal};

#[tokio::test(start_paused = true)]
async fn no_body_reaches_the_log_whatever_becomes_of_it() {
    // Everything that any crate logs, at the chattiest level.
    let (log, _guard) = CapturedLog::start(Level::TRACE);

    let script = Script::new([
        ok(r#"{"data":"hunter2"}"#),
        ok(r#"{"data":"hunter2""#),
        refusal(400, &[], "bad"),
        Step::Answer(502, &[], "<p>hunter2</p>".into()),
    ]);
    let client = script.client(&options());
    let _: Value = fetch(&client, list()).await.unwrap();
    let cut = fetch::<Value>(&client, list()).await.unwrap_err();
    let number = fetch::<u32>(&client, list()).await.unwrap_err();
    let page = fetch::<Value>(&client, list()).await.unwrap_err();

    let log = log.text();
    assert!(log.contains("/apis/apps/v1/deployments"), "{log}");
    assert!(log.contains("status=502"), "{log}");
    let errors = format!("{cut} {cut:?} {number} {number:?} {page} {page:?}");
    for text in [&log, &errors] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

/// serde's own message would be: invalid type: string "hunter2", expected u32.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_located_and_not_quoted() {
    let mut problems = Vec::new();
    for body in [r#""hunter2""#, "[1,", "hunter2"] {
        let script = Script::new([ok(body)]);
        let client = script.client(&options());
        let error = fetch::<Vec<u32>>(&client, list()).await.unwrap_err();
        problems.push(error.to_string());
    }
    insta::assert_snapshot!(problems.join("\n"), @r"
    the answer to GET /apis/apps/v1/deployments cannot be read: unexpected content at line 1 column 9
    the answer to GET /apis/apps/v1/deployments cannot be read: cut short at line 1 column 3
    the answer to GET /apis/apps/v1/deployments cannot be read: not JSON at line 1 column 1
    ");
}
