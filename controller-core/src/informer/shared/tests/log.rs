//! What is logged by this thread.
use std::time::Duration;

use captured_log::CapturedLog;

/// Waits until the log says so.
pub(super) async fn logged(log: &CapturedLog, text: &str) {
    let said = async {
        while !log.text().contains(text) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(30), said).await;
    assert!(waited.is_ok(), "no {text:?} in {}", log.text());
}

/// How many lines say so.
pub(super) fn count(log: &CapturedLog, text: &str) -> usize {
    let log = log.text();
    log.lines().filter(|line| line.contains(text)).count()
}
