use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;

use anstream::{AutoStream, StripStream};
use parking_lot::Mutex;

/// Where output goes. A clone writes to the same place.
///
/// Each call writes whole lines under one lock, so lines of several tasks never mix.
#[derive(Clone)]
pub struct Io {
    stdout: Stream,
    stderr: Stream,
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
        Self {
            stdout: Arc::new(Mutex::new(AutoStream::auto(io::stdout()))),
            stderr: Arc::new(Mutex::new(AutoStream::auto(io::stderr()))),
        }
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
            stderr: stream(&captured.stderr),
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

    /// Writes one line, or several, to stderr. Failing to talk fails no command.
    pub fn talk(&self, line: impl Display) {
        let mut stderr = self.stderr.lock();
        drop(writeln!(stderr, "{line}").and_then(|()| stderr.flush()));
    }

    pub(super) fn stderr(&self) -> Stream {
        Arc::clone(&self.stderr)
    }
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
