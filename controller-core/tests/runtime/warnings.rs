use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::Level;

/// What is logged as a warning, by this thread.
#[derive(Clone, Default)]
pub(crate) struct Warnings(Arc<Mutex<Vec<u8>>>);

impl io::Write for Warnings {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// === impl Warnings ===

impl Warnings {
    pub(crate) fn capture() -> (Self, tracing::subscriber::DefaultGuard) {
        let warnings = Self::default();
        let writer = warnings.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_max_level(Level::WARN)
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .finish();
        (warnings, tracing::subscriber::set_default(subscriber))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}
