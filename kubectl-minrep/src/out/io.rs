use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, OnceLock};

use anstream::{AutoStream, StripStream};
use parking_lot::Mutex;

use super::log::as_event;
use super::stderr::{Shown, Stderr};
use crate::cli::LogFormat;

/// Where output goes. A clone writes to the same place.
///
/// Each call writes whole lines under one lock, so lines of several tasks never mix.
#[derive(Clone)]
pub struct Io {
    stdout: Stream,
    stderr: Stderr,
    log_format: Arc<OnceLock<LogFormat>>,
}

/// What was written to an [`Io`] that a test made.
#[derive(Clone, Default)]
pub struct Captured {
    /// Data.
    pub stdout: Buffer,
    /// Talk.
    pub stderr: Buffer,
}

/// One captured stream.
#[derive(Clone, Default)]
pub struct Buffer(Arc<Mutex<Vec<u8>>>);

pub(super) type Stream = Arc<Mutex<dyn Write + Send>>;

// === impl Io ===

impl Io {
    /// The process's own streams. Colours are dropped where they are not wanted: no
    /// terminal, `NO_COLOR`, `TERM=dumb`.
    pub fn process() -> Self {
        let stderr = AutoStream::auto(io::stderr());
        let has_bar = io::stderr().is_terminal() && !is_watched_by_a_program();
        Self {
            stdout: Arc::new(Mutex::new(AutoStream::auto(io::stdout()))),
            stderr: Stderr::new(Arc::new(Mutex::new(stderr)), has_bar),
            log_format: Arc::default(),
        }
    }

    /// Sets the form of talk from now on, for all clones, once: the command line says it only
    /// when it has been read. Until then it is text.
    pub fn set_log_format(&self, log_format: LogFormat) {
        // An error: it was set before.
        let _ = self.log_format.set(log_format);
    }

    /// Streams in memory, without colours.
    pub fn captured() -> (Self, Captured) {
        let captured = Captured::default();
        let stream = |buffer: &Buffer| -> Stream {
            let boxed: Box<dyn Write + Send> = Box::new(buffer.clone());
            Arc::new(Mutex::new(StripStream::new(boxed)))
        };
        let io = Self {
            stdout: stream(&captured.stdout),
            stderr: Stderr::new(stream(&captured.stderr), false),
            log_format: Arc::default(),
        };
        (io, captured)
    }

    /// Writes to stdout what the command was asked for.
    ///
    /// A reader that closed the pipe (`| head -1`) has what it wanted: no error.
    ///
    /// # Errors
    ///
    /// A full disk and the like.
    pub fn data(&self, text: impl Display) -> io::Result<()> {
        let mut stdout = self.stdout.lock();
        match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Writes one line, or several, to stderr; where the log is JSON, as one line of it.
    /// Failing to talk fails no command.
    pub fn talk(&self, line: impl Display) {
        drop(match self.log_format() {
            LogFormat::Text => self.stderr.write_line(line),
            LogFormat::Json => self.stderr.write_line(as_event(&line.to_string())),
        });
    }

    pub(super) fn log_format(&self) -> LogFormat {
        self.log_format.get().copied().unwrap_or(LogFormat::Text)
    }

    pub(super) fn stderr(&self) -> &Stderr {
        &self.stderr
    }

    /// Shows a bar from now on, `None` if nobody would see it.
    pub(super) fn show_bar(&self) -> Option<Shown> {
        match self.log_format() {
            LogFormat::Text => self.stderr.show_bar(),
            // Whoever reads objects has no use for what draws a bar.
            LogFormat::Json => None,
        }
    }
}

/// A terminal that nobody sits at: `CI` is set by every such service that is known, and a
/// dumb terminal cannot draw over a line.
fn is_watched_by_a_program() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

// === impl Buffer ===

impl Buffer {
    /// What was written so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock()).into_owned()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
