//! The grammar of `labelSelector`: `a=b`, `a==b`, `a!=b`, `a`, `!a`, `a in (b,c)`, `a notin (b,c)`, `a>1`,
//! `a<1`, joined by commas.

use std::{iter::Peekable, vec::IntoIter};

use super::rules::{key_problems, value_problem};

/// Requirements that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Symbol(&'static str),
}

struct Parser(Peekable<IntoIter<Token>>);

// === impl LabelSelector ===

impl LabelSelector {
    /// The error is the real server's sentence.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser(tokens(text).into_iter().peekable());
        let mut requirements = Vec::new();
        if parser.0.peek().is_none() {
            return Ok(Self(requirements));
        }
        loop {
            match parser.0.peek() {
                Some(Token::Word(_) | Token::Symbol("!")) => {}
                other => {
                    let found = shown(other);
                    return Err(format!(
                        "found '{found}', expected: !, identifier, or 'end of string'"
                    ));
                }
            }
            let requirement = parser
                .requirement()
                .map_err(|why| format!("unable to parse requirement: {why}"))?;
            requirements.push(requirement);
            match parser.0.next() {
                None => return Ok(Self(requirements)),
                Some(Token::Symbol(",")) => match parser.0.peek() {
                    Some(Token::Word(_) | Token::Symbol("!")) => {}
                    other => {
                        return Err(format!(
                            "found '{}', expected: identifier after ','",
                            shown(other)
                        ));
                    }
                },
                other => {
                    return Err(format!(
                        "found '{}', expected: ',' or 'end of string'",
                        shown(other.as_ref())
                    ));
                }
            }
        }
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, labels: &[(Box<str>, Box<str>)]) -> bool {
        self.0.iter().all(|requirement| {
            let value = labels
                .iter()
                .find(|(key, _)| **key == *requirement.key)
                .map(|(_, value)| &**value);
            requirement.operator.holds(value)
        })
    }
}

// === impl Operator ===

impl Operator {
    fn holds(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => value.is_some_and(|value| values.iter().any(|v| v == value)),
            // An object without the key is not in any set.
            Self::NotIn(values) => value.is_none_or(|value| values.iter().all(|v| v != value)),
            Self::Above(limit) => number().is_some_and(|number| number > *limit),
            Self::Below(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}

// === impl Parser ===

impl Parser {
    fn requirement(&mut self) -> Result<Requirement, String> {
        let absent = self.0.next_if_eq(&Token::Symbol("!")).is_some();
        let key = match self.0.next() {
            Some(Token::Word(word)) => word,
            other => {
                return Err(format!(
                    "found '{}', expected: identifier",
                    shown(other.as_ref())
                ));
            }
        };
        check_key(&key)?;
        if absent {
            return Ok(Requirement {
                key,
                operator: Operator::Absent,
            });
        }
        if matches!(self.0.peek(), None | Some(Token::Symbol(","))) {
            return Ok(Requirement {
                key,
                operator: Operator::Exists,
            });
        }
        let operator = match self.0.next() {
            Some(Token::Symbol("=" | "==")) => Operator::In(vec![self.exact_value(&key)?]),
            Some(Token::Symbol("!=")) => Operator::NotIn(vec![self.exact_value(&key)?]),
            Some(Token::Symbol(">")) => Operator::Above(self.number(&key)?),
            Some(Token::Symbol("<")) => Operator::Below(self.number(&key)?),
            Some(Token::Word(word)) if word == "in" => Operator::In(self.values(&key)?),
            Some(Token::Word(word)) if word == "notin" => Operator::NotIn(self.values(&key)?),
            other => {
                let found = shown(other.as_ref());
                return Err(format!(
                    "found '{found}', expected: in, notin, =, ==, !=, gt, lt"
                ));
            }
        };
        Ok(Requirement { key, operator })
    }

    fn exact_value(&mut self, key: &str) -> Result<String, String> {
        if matches!(self.0.peek(), None | Some(Token::Symbol(","))) {
            return Ok(String::new());
        }
        match self.0.next() {
            Some(Token::Word(word)) => check_value(key, 0, word),
            other => Err(format!(
                "found '{}', expected: identifier",
                shown(other.as_ref())
            )),
        }
    }

    fn number(&mut self, key: &str) -> Result<i64, String> {
        let value = self.exact_value(key)?;
        value.parse().map_err(|_| {
            format!("values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer")
        })
    }

    fn values(&mut self, key: &str) -> Result<Vec<String>, String> {
        match self.0.next() {
            Some(Token::Symbol("(")) => {}
            other => return Err(format!("found '{}' expected: '('", shown(other.as_ref()))),
        }
        let mut values = Vec::new();
        loop {
            // `(a,,b)`, `(,a)` and `()` hold the empty value, as on the real server.
            let value = match self.0.peek() {
                Some(Token::Word(_)) => match self.0.next() {
                    Some(Token::Word(word)) => check_value(key, values.len(), word)?,
                    _ => String::new(),
                },
                Some(Token::Symbol("," | ")")) => String::new(),
                other => {
                    return Err(format!(
                        "found '{}', expected: ',', ')' or identifier",
                        shown(other)
                    ));
                }
            };
            values.push(value);
            match self.0.next() {
                Some(Token::Symbol(",")) => {}
                Some(Token::Symbol(")")) => return Ok(values),
                other => {
                    return Err(format!(
                        "found '{}', expected: ',' or ')'",
                        shown(other.as_ref())
                    ));
                }
            }
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];
    let special = |c: char| "=!(),><".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
        } else {
            let end = rest
                .find(|c: char| special(c) || c.is_whitespace())
                .unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    tokens
}

fn shown(token: Option<&Token>) -> &str {
    match token {
        None => "",
        Some(Token::Word(word)) => word,
        Some(Token::Symbol(symbol)) => symbol,
    }
}

fn check_key(key: &str) -> Result<(), String> {
    match key_problems(key).first().copied() {
        None => Ok(()),
        Some(why) => Err(format!("<nil>: Invalid value: {key:?}: {why}")),
    }
}

fn check_value(key: &str, index: usize, value: String) -> Result<String, String> {
    match value_problem(&value) {
        None => Ok(value),
        Some(why) => Err(format!(
            "values[{index}][{key}]: Invalid value: {value:?}: {why}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels: Vec<_> = labels
            .iter()
            .map(|(k, v)| ((*k).into(), (*v).into()))
            .collect();
        LabelSelector::parse(selector).unwrap().matches(&labels)
    }

    #[test]
    fn every_operator_selects_as_the_server_does() {
        let web = [("app", "web"), ("n", "5")];
        for (selector, selected) in [
            ("", true),
            ("app", true),
            ("!app", false),
            ("app=web", true),
            ("app==web,n", true),
            ("app!=web", false),
            ("other!=web", true),
            ("app in (web, api)", true),
            ("app notin (web)", false),
            ("other notin (web)", true),
            ("app in ()", false),
            ("app=", false),
            ("n>4", true),
            ("n<5", false),
            ("app>4", false),
            ("in in (in)", false),
            (" app = web , ! x ", true),
        ] {
            assert_eq!(matches(selector, &web), selected, "{selector}");
        }
        assert!(matches(
            "demo/min-replicas",
            &[("demo/min-replicas", "true")]
        ));
        assert!(matches("in in (in)", &[("in", "in")]));
    }

    #[test]
    fn a_bad_selector_is_refused_in_the_servers_words() {
        let refusal = |text: &str| LabelSelector::parse(text).unwrap_err();
        insta::assert_snapshot!(refusal("a=b=c"), @"found '=', expected: ',' or 'end of string'");
        insta::assert_snapshot!(refusal("a,"), @"found '', expected: identifier after ','");
        insta::assert_snapshot!(refusal("a in b"), @"unable to parse requirement: found 'b' expected: '('");
        insta::assert_snapshot!(refusal("=x"), @"found '=', expected: !, identifier, or 'end of string'");
        insta::assert_snapshot!(refusal("a b"), @"unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
        insta::assert_snapshot!(refusal("a in (b"), @"unable to parse requirement: found '', expected: ',' or ')'");
        insta::assert_snapshot!(refusal("-a=b"), @r#"unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"#);
        insta::assert_snapshot!(refusal("a>b"), @r#"unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer"#);
    }
}
