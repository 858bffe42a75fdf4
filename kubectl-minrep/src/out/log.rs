//! The log: short lines on stderr, or one JSON object a line.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use super::stderr::Stderr;
use super::{Io, escape_line};
use crate::cli::LogFormat;

/// Starts the log for the rest of the process. `RUST_LOG` overrides `-v`.
///
/// A second call changes nothing: a process has one log.
pub fn init_log(verbosity: u8, format: LogFormat, io: &Io) {
    let filter = EnvFilter::builder()
        .parse(std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default())
        .ok()
        .filter(|_| std::env::var_os(EnvFilter::DEFAULT_ENV).is_some_and(|text| !text.is_empty()))
        .unwrap_or_else(|| EnvFilter::new(directives(verbosity, format)));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_timer(Rfc3339)
        .with_writer(Lines {
            stderr: io.stderr().clone(),
            format,
        });
    drop(match format {
        LogFormat::Text => {
            let log = log.with_target(verbosity >= 6).finish();
            tracing::subscriber::set_global_default(log)
        }
        LogFormat::Json => {
            let log = log.json().flatten_event(true).with_current_span(false);
            tracing::subscriber::set_global_default(log.finish())
        }
    });
}

/// What is said beside the log, as one line of it: a stream that is JSON stays JSON.
pub(super) fn as_event(text: &str) -> String {
    let level = if text.starts_with("error:") || text.starts_with("Error from server") {
        "ERROR"
    } else if text.starts_with("Warning:") {
        "WARN"
    } else {
        "INFO"
    };
    event(level, text)
}

/// One line in the form of the log's own.
pub(super) fn event(level: &'static str, text: &str) -> String {
    let event = Said {
        timestamp: format!("{:.0}", jiff::Timestamp::now()),
        level,
        message: text,
        target: "kubectl_minrep",
    };
    serde_json::to_string(&event).expect("invariant: strings are JSON")
}

/// What each `-v` shows, by kubectl's habit: from 2 on what goes on, from 4 each
/// decision, from 6 each request.
///
/// kube's own lines stay off below 6: it logs every failed request that we report too.
fn directives(verbosity: u8, format: LogFormat) -> String {
    // The id of a reconcile is 36 characters that a person does not miss.
    let ids = match (format, verbosity) {
        (LogFormat::Json, 0..=3) => ",controller_core::reconcile=info",
        (LogFormat::Text, 0..=3) => ",controller_core::reconcile=off",
        _ => "",
    };
    levels(verbosity).to_owned() + ids
}

fn levels(verbosity: u8) -> &'static str {
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
#[derive(Clone)]
struct Lines {
    stderr: Stderr,
    format: LogFormat,
}

/// A line in the form of the log's own.
#[derive(Serialize)]
struct Said<'a> {
    timestamp: String,
    level: &'static str,
    message: &'a str,
    target: &'static str,
}

// === impl Rfc3339 ===

impl FormatTime for Rfc3339 {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{:.0}", jiff::Timestamp::now())
    }
}

// === impl Lines ===

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Lines {
    /// The formatter hands over one whole line with its line end.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        match self.format {
            // Text from a cluster stays on its line.
            LogFormat::Text => self.stderr.write_line(escape_line(line))?,
            // JSON has escapes of its own, and no others.
            LogFormat::Json => self.stderr.write_line(line)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
            .with_writer(Lines {
                stderr: io.stderr().clone(),
                format: LogFormat::Text,
            })
            .finish();
        tracing::subscriber::with_default(log, || {
            tracing::info!(deployment = %"web\n\x1b[31mERROR", "scaled\r\nfrom 1 to 2");
        });
        assert_eq!(captured.stderr.text().lines().count(), 1);
        assert!(!captured.stderr.text().contains('\x1b'));
    }
}
