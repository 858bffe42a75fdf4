//! What a proxy cannot do.

use std::fmt;

use crate::{Rule, Script};

/// A rule that a proxy before a real server cannot carry out, because only the server knows its own past.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: a proxy cannot do `{word}`, only the simulated server can",
    Place(self)
)]
pub struct ProxyCannot {
    /// The rule's place in the script, counted from 1.
    pub rule: usize,
    /// The rule's name.
    pub name: Option<String>,
    /// The line of its file on which the rule begins.
    pub line: Option<u64>,
    /// The word.
    pub word: &'static str,
}

struct Place<'a>(&'a ProxyCannot);

// === impl ProxyCannot ===

impl ProxyCannot {
    /// The first such rule.
    pub(crate) fn find<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> Result<(), Self> {
        for (index, rule) in rules.into_iter().enumerate() {
            if let Some(action) = rule.actions.iter().find(|action| action.needs_the_server()) {
                return Err(Self {
                    rule: index + 1,
                    name: rule.name.clone(),
                    line: rule.line,
                    word: action.word(),
                });
            }
        }
        Ok(())
    }
}

// === impl Place ===

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProxyCannot {
            rule, name, line, ..
        } = self.0;
        write!(f, "rule {rule}")?;
        if let Some(name) = name {
            write!(f, " ({name:?})")?;
        }
        if let Some(line) = line {
            write!(f, ", line {line}")?;
        }
        Ok(())
    }
}

// === impl Script ===

impl Script {
    /// Whether a proxy can carry out all of it.
    ///
    /// # Errors
    ///
    /// [`ProxyCannot`] with the first rule that needs the simulated server.
    pub fn check_for_proxy(&self) -> Result<(), ProxyCannot> {
        ProxyCannot::find(&self.rules)
    }
}
