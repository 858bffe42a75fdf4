use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Output, Stdio};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::process::Command;
use tokio::time::{Duration, timeout};

use super::contest::Case;

/// Somebody who is to take part.
pub(super) struct Entrant {
    pub(super) name: &'static str,
    /// The program, or why there is none.
    pub(super) subject: Result<Subject, SubjectError>,
}

/// A program that measures one case at each start.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    program: PathBuf,
    /// What stands before the arguments that a race gives.
    arguments: Vec<String>,
    /// Where its source stands, if its version alone does not say that.
    commit: Option<String>,
    /// After this long it is killed.
    limit: Duration,
}

/// Why a subject has no sample.
#[derive(Debug, thiserror::Error)]
pub(super) enum SubjectError {
    /// It is not built; the text says why.
    #[error("it cannot be built: {0}")]
    Build(String),
    /// The program does not start.
    #[error("cannot run {}", path.display())]
    Start {
        /// The program.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It did not come to its end.
    #[error("it still ran after {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It said itself that something is wrong.
    #[error("it failed ({status}){}", said(stderr))]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// What it wrote there.
        stderr: String,
    },
    /// Its output is no sample.
    #[error("it printed no sample but {text:?}")]
    Garbage {
        /// The whole of it.
        text: String,
        /// What a reader missed.
        #[source]
        source: serde_json::Error,
    },
    /// A sample of something else.
    #[error("it measured {case} in {unit}")]
    OtherCase {
        /// Which it said it was.
        case: String,
        /// In which unit.
        unit: String,
    },
    /// No measurement comes to that.
    #[error("it measured {0}, which cannot be")]
    Impossible(f64),
}

#[derive(Deserialize)]
struct Description {
    version: String,
}

#[derive(Deserialize)]
struct Sample {
    case: String,
    unit: String,
    value: f64,
}

// === impl Subject ===

impl Subject {
    /// No case takes a tenth of it on a slow machine.
    const LIMIT: Duration = Duration::from_secs(120);

    pub(super) fn new(program: PathBuf) -> Self {
        Self {
            program,
            arguments: Vec::new(),
            commit: None,
            limit: Self::LIMIT,
        }
    }

    /// The same, built from this commit.
    pub(super) fn at(self, commit: String) -> Self {
        Self {
            commit: Some(commit),
            ..self
        }
    }

    /// A shell script as a subject: what a race asks for is in `$1` and `$2`.
    #[cfg(test)]
    pub(super) fn script(script: &str, limit: Duration) -> Self {
        Self {
            program: "sh".into(),
            arguments: ["-c", script, "subject"].map(String::from).into(),
            commit: None,
            limit,
        }
    }

    /// Which version of itself it is.
    pub(super) async fn version(&self) -> Result<String, SubjectError> {
        let description: Description = self.answer(&["describe"]).await?;
        let version = description.version;
        Ok(match &self.commit {
            Some(commit) => format!("{version} ({commit})"),
            None => version,
        })
    }

    /// Runs a case in a fresh process and returns the value.
    pub(super) async fn sample(&self, race: &str, case: &Case) -> Result<f64, SubjectError> {
        let sample: Sample = self.answer(&[race, case.name]).await?;
        if sample.case != case.name || sample.unit != case.unit {
            return Err(SubjectError::OtherCase {
                case: sample.case,
                unit: sample.unit,
            });
        }
        if !sample.value.is_finite() || sample.value <= 0.0 {
            return Err(SubjectError::Impossible(sample.value));
        }
        Ok(sample.value)
    }

    async fn answer<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T, SubjectError> {
        let output = self.output(arguments).await?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        // A program that warns is worth hearing also when it has a sample.
        eprint!("{stderr}");
        if !output.status.success() {
            return Err(SubjectError::Failed {
                status: output.status,
                stderr,
            });
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // serde_json takes white space, but no second value, for the end.
        serde_json::from_str(&text).map_err(|error| SubjectError::Garbage {
            text,
            source: error,
        })
    }

    async fn output(&self, arguments: &[&str]) -> Result<Output, SubjectError> {
        let start = |source| SubjectError::Start {
            path: self.program.clone(),
            source,
        };
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(start)?;
        match timeout(self.limit, child.wait_with_output()).await {
            Ok(output) => output.map_err(start),
            Err(_) => Err(SubjectError::TimedOut(self.limit)),
        }
    }
}

/// The first line of what a program said, as the end of a sentence.
fn said(stderr: &str) -> String {
    let first = stderr.lines().find(|line| !line.trim().is_empty());
    first.map(|line| format!(": {line}")).unwrap_or_default()
}
