//! Scripts as YAML files.

mod proxy_cannot;
mod wire;

use std::{fs, io, path::Path, path::PathBuf};

pub use self::proxy_cannot::ProxyCannot;
use crate::Rule;

/// A list of rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The rules; of those that pick a request the first acts.
    pub rules: Vec<Rule>,
}

/// Why a script was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file could not be read.
    #[error("cannot read the fault script {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The text is no YAML, holds an unknown word, or a value that makes no sense.
    #[error("line {line}, column {column}: {problem}")]
    Invalid {
        /// Counted from 1; 0 if the parser could not tell.
        line: u64,
        /// Counted from 1; 0 if the parser could not tell.
        column: u64,
        /// What is wrong there.
        problem: String,
    },
}

// === impl Script ===

impl Script {
    /// Reads a script from YAML text.
    ///
    /// # Errors
    ///
    /// [`ScriptError::Invalid`] with the line of the first thing that is wrong.
    pub fn parse(yaml: &str) -> Result<Self, ScriptError> {
        let wire: wire::Script = serde_saphyr::from_str(yaml).map_err(|error| invalid(&error))?;
        Ok(wire.into())
    }

    /// Reads a script from a file.
    ///
    /// # Errors
    ///
    /// [`ScriptError::Read`] if the file cannot be read, otherwise as [`Script::parse`].
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let yaml = fs::read_to_string(path).map_err(|source| ScriptError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&yaml)
    }
}

impl From<Vec<Rule>> for Script {
    fn from(rules: Vec<Rule>) -> Self {
        Self { rules }
    }
}

impl From<Rule> for Script {
    fn from(rule: Rule) -> Self {
        Self { rules: vec![rule] }
    }
}

impl FromIterator<Rule> for Script {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        Self {
            rules: rules.into_iter().collect(),
        }
    }
}

fn invalid(error: &serde_saphyr::Error) -> ScriptError {
    let (line, column) = error
        .location()
        .map_or((0, 0), |at| (at.line(), at.column()));
    let text = error.without_snippet().to_string();
    // The parser says it too.
    let place = format!(" at line {line}, column {column}");
    let problem = plain(text.strip_suffix(&place).unwrap_or(&text)).to_owned();
    ScriptError::Invalid {
        line,
        column,
        problem,
    }
}

/// The parser's words without those for who calls it, and in a script's terms.
fn plain(problem: &str) -> &str {
    let hints = [", set DuplicateKeyPolicy", "; use from_str_multiple"];
    for hint in hints {
        if let Some((problem, _)) = problem.split_once(hint) {
            return problem;
        }
    }
    match problem {
        "unexpected end of input" => "expected `rules`, a list",
        "invalid type: unit variant, expected newtype variant" => "this word needs a value",
        "unexpected value for unit" => "this word takes no value",
        "expected mapping end" => "one word an entry; several are a list",
        "expected sequence start" => "expected a list",
        "expected mapping start" => "expected a mapping, `{WORD: VALUE}`",
        "expected string scalar" => "expected one value",
        other => other,
    }
}

#[cfg(test)]
mod tests;
