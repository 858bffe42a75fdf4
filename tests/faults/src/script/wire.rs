//! The words of a script file. `README.md` describes each; a word that is not here is refused.

mod parsed;
mod stream;
mod wrong;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::Spanned;

use self::{
    parsed::{OneOrMore, Parsed},
    wrong::Wrong,
};
use crate::{Action, Attempts, Matcher, Pattern, Verb, Window};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    rules: Vec<Spanned<Rule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    name: Option<String>,
    #[serde(default, rename = "match")]
    matcher: Match,
    #[serde(default)]
    attempts: Parsed<Attempts>,
    #[serde(default)]
    per_object: bool,
    #[serde(default)]
    window: Parsed<Window>,
    #[serde(rename = "do")]
    actions: OneOrMore<Wrong>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    #[serde(default)]
    verb: OneOrMore<Parsed<Option<Verb>>>,
    group: Option<String>,
    resource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    path: Option<String>,
    #[serde(default)]
    query: BTreeMap<String, String>,
    #[serde(default)]
    without: OneOrMore<String>,
}

// === impl Script ===

impl From<Script> for super::Script {
    fn from(script: Script) -> Self {
        script
            .rules
            .into_iter()
            .map(|rule| crate::Rule {
                line: Some(rule.referenced.line()),
                ..rule.value.into()
            })
            .collect()
    }
}

// === impl Rule ===

impl From<Rule> for crate::Rule {
    fn from(rule: Rule) -> Self {
        Self {
            name: rule.name,
            line: None,
            matcher: rule.matcher.into(),
            attempts: rule.attempts.0,
            per_object: rule.per_object,
            window: rule.window.0,
            actions: rule.actions.0.into_iter().map(Action::from).collect(),
        }
    }
}

// === impl Match ===

impl From<Match> for Matcher {
    fn from(words: Match) -> Self {
        Self {
            verbs: words.verb.0.into_iter().filter_map(|verb| verb.0).collect(),
            group: words.group.map(Pattern::from),
            resource: words.resource.map(Pattern::from),
            namespace: words.namespace.map(Pattern::from),
            name: words.name.map(Pattern::from),
            path: words.path.map(Pattern::from),
            query: words
                .query
                .into_iter()
                .map(|(key, value)| (key, value.into()))
                .collect(),
            without: words.without.0,
        }
    }
}
