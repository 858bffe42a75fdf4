use std::fmt::Display;
use std::io;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget};
use parking_lot::Mutex;

use super::io::Stream;

/// How often a bar may be drawn in a second.
const HERTZ: u8 = 10;

/// The stream for talk, with at most one bar below what was said. A clone is the same.
#[derive(Clone)]
pub(super) struct Stderr {
    stream: Stream,
    /// The bar that is shown now.
    bar: Arc<Mutex<Option<ProgressBar>>>,
    has_bar: bool,
}

/// Shows a bar; dropped, it leaves nothing of it on the terminal.
pub(super) struct Shown {
    pub(super) bar: ProgressBar,
    shown_by: Stderr,
}

// === impl Stderr ===

impl Stderr {
    /// `has_bar`: whether somebody would see one.
    pub(super) fn new(stream: Stream, has_bar: bool) -> Self {
        Self {
            stream,
            bar: Arc::default(),
            has_bar,
        }
    }

    /// Writes one line, or several, above the bar.
    pub(super) fn write_line(&self, line: impl Display) -> io::Result<()> {
        let write = || {
            let mut stream = self.stream.lock();
            writeln!(stream, "{line}").and_then(|()| stream.flush())
        };
        match &*self.bar.lock() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Shows a bar from now on, `None` if nobody would see it.
    pub(super) fn show_bar(&self) -> Option<Shown> {
        self.has_bar
            .then(|| self.show(ProgressDrawTarget::stderr_with_hz(HERTZ)))
    }

    fn show(&self, target: ProgressDrawTarget) -> Shown {
        let bar = ProgressBar::with_draw_target(None, target);
        *self.bar.lock() = Some(bar.clone());
        Shown {
            bar,
            shown_by: self.clone(),
        }
    }
}

// === impl Shown ===

impl Drop for Shown {
    fn drop(&mut self) {
        // Held meanwhile, or a line could be written over the bar.
        let mut shown = self.shown_by.bar.lock();
        self.bar.finish_and_clear();
        *shown = None;
    }
}
