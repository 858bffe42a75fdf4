use std::io;
use std::sync::Arc;

use controller_core::client::fetch;
use parking_lot::Mutex;
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use crate::scripted::{Script, Step, list, ok, options, refusal};

/// Everything that any crate logs, at the chattiest level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn no_body_reaches_the_log_whatever_becomes_of_it() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .with_ansi(false)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

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
