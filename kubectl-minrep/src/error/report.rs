use std::error::Error;
use std::fmt;

use super::Exit;
use crate::out::{escape_line, escape_text};

/// What a person reads when a command failed.
///
/// The first line can be searched for and is worded as kubectl words it. After a blank
/// line come facts, and hints with commands to copy:
///
/// ```text
/// error: context "prdo" does not exist
///
/// hint: did you mean "prod"?
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The code that the process ends with.
    pub exit: Exit,
    headline: String,
    causes: Vec<String>,
    body: Vec<String>,
}

// === impl Report ===

impl Report {
    /// `error: …`: what this program found out.
    pub fn error(exit: Exit, sentence: impl fmt::Display) -> Self {
        Self::new(exit, format!("error: {sentence}"))
    }

    /// `Error from server (Reason): …`: the server's own sentence.
    pub fn from_server(exit: Exit, reason: &str, message: &str) -> Self {
        Self::new(exit, from_server(reason, message))
    }

    fn new(exit: Exit, headline: String) -> Self {
        Self {
            exit,
            headline,
            causes: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds a line of fact below the blank line.
    #[must_use]
    pub fn fact(mut self, line: impl Into<String>) -> Self {
        self.body.push(line.into());
        self
    }

    /// Adds a hint. Commands in it stand in backticks, and exist.
    #[must_use]
    pub fn hint(self, hint: impl fmt::Display) -> Self {
        self.fact(format!("hint: {hint}"))
    }

    /// Remembers what the error stems from, for `-v 2` and above.
    #[must_use]
    pub fn caused_by(mut self, error: &(dyn Error + 'static)) -> Self {
        let mut cause = error.source();
        while let Some(error) = cause {
            self.causes
                .push(escape_line(&error.to_string()).into_owned());
            cause = error.source();
        }
        self
    }

    /// Leaves the causes out unless the user asked to hear more.
    #[must_use]
    pub fn at_verbosity(mut self, verbosity: u8) -> Self {
        if verbosity < 2 {
            self.causes.clear();
        }
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_text(&self.headline))?;
        for cause in &self.causes {
            write!(f, "\ncaused by: {cause}")?;
        }
        if !self.body.is_empty() {
            f.write_str("\n")?;
        }
        for line in &self.body {
            write!(f, "\n{}", escape_text(line))?;
        }
        Ok(())
    }
}

/// kubectl's form for what the server said, on one line whatever it said.
pub(crate) fn from_server(reason: &str, message: &str) -> String {
    let message = escape_line(message);
    match reason {
        "" => format!("Error from server: {message}"),
        reason => format!("Error from server ({}): {message}", escape_line(reason)),
    }
}
