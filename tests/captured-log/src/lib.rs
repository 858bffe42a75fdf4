//! What a test's own thread logs, as a text to compare.
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::Level;
use tracing::subscriber::{DefaultGuard, set_default, set_global_default};
use tracing_subscriber::fmt::MakeWriter;

/// The log of one thread: a line each, without time, target and colours. A clone is the same
/// one.
///
/// ```
/// use captured_log::CapturedLog;
///
/// let (log, _guard) = CapturedLog::start(tracing::Level::INFO);
/// tracing::info!(replicas = 2, "scaled");
/// tracing::debug!("not worth it");
/// assert_eq!(log.text(), " INFO scaled replicas=2\n");
/// ```
///
/// The dangerous mistake is a runtime with several threads: what its other threads log goes
/// elsewhere.
#[derive(Clone, Debug, Default)]
pub struct CapturedLog(Arc<Mutex<Vec<u8>>>);

// === impl CapturedLog ===

impl CapturedLog {
    /// Collects what this thread logs from `level` up, until the guard is dropped.
    #[must_use = "it ends when the guard is dropped"]
    pub fn start(level: Level) -> (Self, DefaultGuard) {
        // tracing asks once whether a line in the code is of interest to anybody, when it is
        // first reached. Other tests of this process have no log: were there no global one
        // either, a line that they reach first could stay silent here. An error means that
        // it is set already.
        let _ = set_global_default(tracing_subscriber::registry());
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(log.clone())
            .with_max_level(level)
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .finish();
        (log, set_default(subscriber))
    }

    /// Everything since the last [`take`](Self::take), or since the start.
    pub fn text(&self) -> String {
        text(self.0.lock().clone())
    }

    /// The same, and forgets it.
    pub fn take(&self) -> String {
        text(std::mem::take(&mut *self.0.lock()))
    }
}

impl io::Write for CapturedLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for CapturedLog {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn text(log: Vec<u8>) -> String {
    String::from_utf8(log).expect("invariant: a log is text")
}
