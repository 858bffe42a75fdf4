//! The words of a script file. `README.md` describes each; a word that is not here is refused.

use std::{collections::BTreeMap, fmt, str::FromStr, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{
    Deserialize, Deserializer,
    de::{self, value::MapAccessDeserializer},
};
use serde_json::Value;

use crate::{
    Action, Attempts, Cut, Ending, Matcher, Pattern, StatusFault, StreamFault, Verb, Window,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    rules: Vec<Rule>,
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
}

/// What goes wrong, one word each.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wrong {
    Status(Status),
    Delay(Parsed<Time>),
    DelayAnswer(Parsed<Time>),
    Hang,
    Reset,
    LostAnswer,
    Cut(CutWords),
    Truncate(After),
    Expired(Expired),
    HalfOpen(After),
    Malformed(Malformed),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Status {
    code: Parsed<Code>,
    reason: Option<String>,
    message: Option<String>,
    details: Option<Value>,
    retry_after: Option<u64>,
    #[serde(default)]
    headers: BTreeMap<Parsed<Header>, Parsed<HeaderText>>,
    body: Option<String>,
    content_type: Option<Parsed<HeaderText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CutWords {
    after_events: Option<u64>,
    after: Option<Parsed<Time>>,
    #[serde(default)]
    how: How,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    #[default]
    Clean,
    Reset,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    #[serde(default)]
    after_events: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expired {
    #[serde(rename = "as")]
    how: ExpiredAs,
    after_events: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExpiredAs {
    Status,
    Event,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Malformed {
    #[serde(default)]
    after_events: u64,
    #[serde(default = "garbage")]
    line: String,
}

/// One value, or a list of them.
struct OneOrMore<T>(Vec<T>);

/// A value that is written as text or as a number and read by `FromStr`, so that its error has a line.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct Parsed<T>(T);

struct Time(Duration);

struct Code(StatusCode);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Header(String);

struct HeaderText(HeaderValue);

// === impl Script ===

impl From<Script> for super::Script {
    fn from(script: Script) -> Self {
        script.rules.into_iter().map(crate::Rule::from).collect()
    }
}

// === impl Rule ===

impl From<Rule> for crate::Rule {
    fn from(rule: Rule) -> Self {
        Self {
            name: rule.name,
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
        }
    }
}

// === impl Wrong ===

impl From<Wrong> for Action {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Status(status) => StatusFault::from(status).into(),
            Wrong::Delay(time) => Self::Delay(time.0.0),
            Wrong::DelayAnswer(time) => Self::DelayAnswer(time.0.0),
            Wrong::Hang => Self::Hang,
            Wrong::Reset => Self::Reset,
            Wrong::LostAnswer => Self::LostAnswer,
            Wrong::Cut(CutWords {
                after_events,
                after,
                how,
            }) => {
                let how = match how {
                    How::Clean => Ending::Clean,
                    How::Reset => Ending::Reset,
                };
                Cut {
                    after_events,
                    after: after.map(|time| time.0.0),
                    how,
                }
                .into()
            }
            Wrong::Truncate(After { after_events }) => {
                StreamFault::Truncate { after_events }.into()
            }
            Wrong::Expired(Expired {
                how: ExpiredAs::Status,
                ..
            }) => Self::Expired,
            Wrong::Expired(Expired {
                how: ExpiredAs::Event,
                after_events,
            }) => StreamFault::Expired {
                after_events: after_events.unwrap_or(0),
            }
            .into(),
            Wrong::HalfOpen(After { after_events }) => {
                StreamFault::HalfOpen { after_events }.into()
            }
            Wrong::Malformed(Malformed { after_events, line }) => {
                StreamFault::Malformed { after_events, line }.into()
            }
        }
    }
}

// === impl Status ===

impl From<Status> for StatusFault {
    fn from(status: Status) -> Self {
        let headers: HeaderMap = status
            .headers
            .into_iter()
            .filter_map(|(name, value)| Some((HeaderName::from_str(&name.0.0).ok()?, value.0.0)))
            .collect();
        let mut fault = Self {
            code: status.code.0.0,
            reason: status.reason,
            message: status.message,
            details: status.details,
            headers,
            body: status.body.map(Bytes::from),
            content_type: status.content_type.map(|value| value.0.0),
        };
        if let Some(seconds) = status.retry_after {
            fault = fault.retry_after(seconds);
        }
        fault
    }
}

// === impl OneOrMore ===

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
            type Value = OneOrMore<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("one entry or a list")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(de::value::StrDeserializer::new(text))
                    .map(|one| OneOrMore(vec![one]))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|one| OneOrMore(vec![one]))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = seq.next_element()? {
                    all.push(one);
                }
                Ok(OneOrMore(all))
            }
        }

        deserializer.deserialize_any(Visitor(std::marker::PhantomData))
    }
}

// === impl Parsed ===

impl<'de, T: ParseWord> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A bare number is a word too.
        let text = String::deserialize(deserializer)?;
        T::parse_word(&text).map(Self).map_err(de::Error::custom)
    }
}

/// `FromStr` with errors for the person who wrote the script.
trait ParseWord: Sized {
    fn parse_word(text: &str) -> Result<Self, String>;
}

impl ParseWord for Attempts {
    fn parse_word(text: &str) -> Result<Self, String> {
        text.parse()
    }
}

impl ParseWord for Option<Verb> {
    fn parse_word(text: &str) -> Result<Self, String> {
        text.parse().map(Some)
    }
}

impl ParseWord for Time {
    fn parse_word(text: &str) -> Result<Self, String> {
        let help = || format!("`{text}` is no duration; write 500ms, 2s or 1m30s");
        let span: jiff::SignedDuration = text.trim().parse().map_err(|_| help())?;
        Duration::try_from(span).map(Self).map_err(|_| help())
    }
}

impl ParseWord for Window {
    fn parse_word(text: &str) -> Result<Self, String> {
        let (from, until) = text
            .split_once("..")
            .ok_or_else(|| format!("`{text}` is no window; write 5s..20s, ..20s or 5s.."))?;
        let time = |part: &str| Time::parse_word(part).map(|time| time.0);
        Ok(Self {
            from: if from.is_empty() {
                Duration::ZERO
            } else {
                time(from)?
            },
            until: if until.is_empty() {
                None
            } else {
                Some(time(until)?)
            },
        })
    }
}

impl ParseWord for Code {
    fn parse_word(text: &str) -> Result<Self, String> {
        StatusCode::from_str(text)
            .map(Self)
            .map_err(|_| format!("`{text}` is no HTTP status code"))
    }
}

impl ParseWord for Header {
    fn parse_word(text: &str) -> Result<Self, String> {
        HeaderName::from_str(text).map_err(|_| format!("`{text}` is no header name"))?;
        Ok(Self(text.to_owned()))
    }
}

impl ParseWord for HeaderText {
    fn parse_word(text: &str) -> Result<Self, String> {
        HeaderValue::from_str(text)
            .map(Self)
            .map_err(|_| format!("`{text}` is no header value"))
    }
}

fn garbage() -> String {
    r#"{"type":"MODIFIED","object":{"kind":"#.to_owned()
}
