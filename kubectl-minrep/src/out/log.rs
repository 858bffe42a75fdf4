//! The log: short lines on stderr.

use std::fmt;
use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use super::io::Stream;
use super::{Io, escape_line};

/// Starts the log for the rest of the process. `RUST_LOG` overrides `-v`.
///
/// A second call changes nothing: a process has one log.
pub fn init_log(verbosity: u8, io: &Io) {
    let filter = EnvFilter::builder()
        .parse(std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default())
        .ok()
        .filter(|_| std::env::var_os(EnvFilter::DEFAULT_ENV).is_some_and(|text| !text.is_empty()))
        .unwrap_or_else(|| EnvFilter::new(directives(verbosity)));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_target(verbosity >= 6)
        .with_timer(Rfc3339)
        .with_writer(Lines(io.stderr()))
        .finish();
    drop(tracing::subscriber::set_global_default(log));
}

/// What each `-v` shows, by kubectl's habit: from 2 on what goes on, from 4 each
/// decision, from 6 each request.
///
/// kube's own lines stay off below 6: it logs every failed request that we report too.
fn directives(verbosity: u8) -> &'static str {
    match verbosity {
        0 | 1 => "warn,kubectl_minrep=info,controller_core::controllers=info,kube_client=off",
        2 | 3 => "warn,kubectl_minrep=info,controller_core=info,kube_client=off",
        4 | 5 => {
            "warn,kubectl_minrep=debug,controller_core=debug,controller_core::client=info,kube_client=off"
        }
        6 | 7 => "info,kubectl_minrep=debug,controller_core=debug,kube_client=debug",
        8 | 9 => "debug,kubectl_minrep=trace,controller_core=trace,kube_client=trace",
        _ => "trace",
    }
}

/// Seconds are enough for a person, and UTC is what a cluster's other logs use.
struct Rfc3339;

/// Where log lines go.
struct Lines(Stream);

/// One log line on its way: escaped, so that text from a cluster stays one line.
struct Line(Stream);

// === impl Rfc3339 ===

impl FormatTime for Rfc3339 {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{:.0}", jiff::Timestamp::now())
    }
}

// === impl Lines ===

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(self.0.clone())
    }
}

// === impl Line ===

impl Write for Line {
    /// The formatter hands over one whole line with its line end.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let mut stderr = self.0.lock();
        writeln!(stderr, "{}", escape_line(line))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_a_cluster_cannot_forge_a_line() {
        let (io, captured) = Io::captured();
        let log = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .with_writer(Lines(io.stderr()))
            .finish();
        tracing::subscriber::with_default(log, || {
            tracing::info!(deployment = %"web\n\x1b[31mERROR", "scaled\r\nfrom 1 to 2");
        });
        assert_eq!(captured.stderr.text().lines().count(), 1);
        assert!(!captured.stderr.text().contains('\x1b'));
    }
}
