use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

mod parse;
mod validate;

pub(crate) use validate::{is_qualified, is_subdomain};

/// Which objects of a collection are meant, by their labels: what `-l` takes and
/// `labelSelector=` sends.
///
/// The grammar, the checks and the meaning are the API server's: `a`, `!a`, `a=b`,
/// `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a>1`, `a<1`, joined by commas that
/// mean "and". The empty text selects everything. It prints in the server's canonical
/// form, sorted by key.
///
/// | text | selects objects |
/// |---|---|
/// | `a` / `!a` | that have / lack the label |
/// | `a=b`, `a==b` | whose label is `b` |
/// | `a!=b` | whose label is another, **or that lack it** |
/// | `a in (b,c)` | whose label is one of these |
/// | `a notin (b,c)` | whose label is none of these, **or that lack it** |
/// | `a>1`, `a<1` | whose label is a whole number above or below |
/// | `a=` | whose label is there and empty |
///
/// The dangerous mistake is to read `a!=b` as "has a label `a` that is not `b`": objects
/// without `a` match too. Add `a` to require it.
///
/// ```
/// use controller_core::watch::LabelSelector;
///
/// let selector: LabelSelector = "tier != cache, app in (web, api)".parse()?;
/// assert_eq!(selector.to_string(), "app in (api,web),tier!=cache");
///
/// let error = "app in (a,b".parse::<LabelSelector>().unwrap_err();
/// assert_eq!(error.to_string(), "expected ')' at column 12");
/// # Ok::<(), controller_core::watch::SelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    /// Sorted by key; equal keys stay in the order that they were written in.
    requirements: Vec<Requirement>,
}

/// A text that is no label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} at column {column}")]
pub struct SelectorError {
    /// What is wrong, such as `expected ')'`.
    pub message: String,
    /// Where, in characters from 1; one past the end when the text stops too early.
    pub column: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Requirement {
    key: String,
    condition: Condition,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Condition {
    Exists,
    DoesNotExist,
    Equals(String),
    NotEquals(String),
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    GreaterThan(i64),
    LessThan(i64),
}

// === impl LabelSelector ===

impl LabelSelector {
    /// Reads a selector as the API server would.
    ///
    /// # Errors
    /// [`SelectorError`] names the column and what was expected there.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        parse::parse(text).map(Self::from_requirements)
    }

    /// Selects what has the label `key`, whatever its value.
    ///
    /// # Errors
    /// When `key` is no label key.
    pub fn exists(key: &str) -> Result<Self, SelectorError> {
        validate::key(key).map_err(|message| SelectorError { message, column: 1 })?;
        Ok(Self::from_requirements(vec![Requirement {
            key: key.to_owned(),
            condition: Condition::Exists,
        }]))
    }

    /// Selects what has the label `key` with this very value, the empty one included.
    ///
    /// # Errors
    /// When `key` is no label key, or `value` no label value.
    pub fn equals(key: &str, value: &str) -> Result<Self, SelectorError> {
        let invalid = |message| SelectorError { message, column: 1 };
        validate::key(key).map_err(invalid)?;
        validate::value(value).map_err(invalid)?;
        Ok(Self::from_requirements(vec![Requirement {
            key: key.to_owned(),
            condition: Condition::Equals(value.to_owned()),
        }]))
    }

    /// Selects what both select.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.requirements.extend(other.requirements);
        Self::from_requirements(self.requirements)
    }

    /// Whether it selects everything.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether an object with these labels is selected, as the server would decide.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.matches_with(|key| labels.get(key).map(String::as_str))
    }

    /// As [`matches`](Self::matches), for an object that keeps its labels in another form:
    /// `label` looks one up. It is asked once for each requirement.
    pub fn matches_with<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.matches(label(&requirement.key)))
    }

    /// The keys of the labels that it asks for, sorted. One that it asks for twice comes
    /// twice.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.requirements
            .iter()
            .map(|requirement| requirement.key.as_str())
    }

    fn from_requirements(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Self { requirements }
    }
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        Self::parse(text)
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

// === impl Requirement ===

impl Requirement {
    fn matches(&self, value: Option<&str>) -> bool {
        match &self.condition {
            Condition::Exists => value.is_some(),
            Condition::DoesNotExist => value.is_none(),
            Condition::Equals(wanted) => value == Some(wanted),
            Condition::NotEquals(unwanted) => value != Some(unwanted),
            Condition::In(wanted) => value.is_some_and(|value| wanted.contains(value)),
            Condition::NotIn(unwanted) => value.is_none_or(|value| !unwanted.contains(value)),
            // A label that is no number is neither above nor below one.
            Condition::GreaterThan(bound) => integer(value).is_some_and(|value| value > *bound),
            Condition::LessThan(bound) => integer(value).is_some_and(|value| value < *bound),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.condition {
            Condition::Exists => f.write_str(key),
            Condition::DoesNotExist => write!(f, "!{key}"),
            Condition::Equals(value) => write!(f, "{key}={value}"),
            Condition::NotEquals(value) => write!(f, "{key}!={value}"),
            Condition::In(values) => write!(f, "{key} in ({})", joined(values)),
            Condition::NotIn(values) => write!(f, "{key} notin ({})", joined(values)),
            Condition::GreaterThan(bound) => write!(f, "{key}>{bound}"),
            Condition::LessThan(bound) => write!(f, "{key}<{bound}"),
        }
    }
}

fn integer(value: Option<&str>) -> Option<i64> {
    validate::integer(value?)
}

fn joined(values: &BTreeSet<String>) -> String {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    values.join(",")
}

#[cfg(test)]
mod tests;
