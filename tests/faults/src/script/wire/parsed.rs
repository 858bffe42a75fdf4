//! Values of a script file.

use std::{fmt, num::NonZeroU64, str::FromStr, time::Duration};

use http::{HeaderName, HeaderValue, StatusCode};
use serde::{
    Deserialize, Deserializer,
    de::{self, value::MapAccessDeserializer},
};

use crate::{Attempts, StatusFault, Verb, Window};

/// One value, or a list of them.
pub(super) struct OneOrMore<T>(pub(super) Vec<T>);

/// A value that is written as text or as a number and read by `FromStr`, so that its error has a line.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parsed<T>(pub(super) T);

/// More than no time.
pub(super) struct Time(pub(super) Duration);

/// A number of bytes, from 1 to 64 MiB.
pub(super) struct Size(pub(super) usize);

/// A number of lines; none is fine.
#[derive(Default)]
pub(super) struct Lines(pub(super) u64);

pub(super) struct Code(pub(super) StatusCode);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Header(pub(super) String);

pub(super) struct HeaderText(pub(super) HeaderValue);

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
                if all.is_empty() {
                    return Err(de::Error::custom("an empty list says nothing"));
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
pub(super) trait ParseWord: Sized {
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

impl ParseWord for usize {
    fn parse_word(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("`{text}` is no number of items"))
    }
}

impl ParseWord for Time {
    fn parse_word(text: &str) -> Result<Self, String> {
        match duration(text)? {
            Duration::ZERO => Err(format!(
                "`{text}` is no time at all; it must be more than zero"
            )),
            time => Ok(Self(time)),
        }
    }
}

impl ParseWord for Size {
    fn parse_word(text: &str) -> Result<Self, String> {
        const MOST: usize = 64 * 1024 * 1024;
        match text.parse() {
            Ok(size @ 1..=MOST) => Ok(Self(size)),
            _ => Err(format!(
                "`{text}` is no number of bytes from 1 to {MOST} (64 MiB)"
            )),
        }
    }
}

impl ParseWord for Lines {
    fn parse_word(text: &str) -> Result<Self, String> {
        let lines = text.parse().map(Self);
        lines.map_err(|_| format!("`{text}` is no number of lines"))
    }
}

impl ParseWord for NonZeroU64 {
    fn parse_word(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("`{text}` is no whole number above zero"))
    }
}

impl ParseWord for Window {
    fn parse_word(text: &str) -> Result<Self, String> {
        let (from, until) = text
            .split_once("..")
            .ok_or_else(|| format!("`{text}` is no window; write 5s..20s, ..20s or 5s.."))?;
        let time = |part: &str| (!part.is_empty()).then(|| duration(part)).transpose();
        let window = Self {
            from: time(from)?.unwrap_or_default(),
            until: time(until)?,
        };
        if window.until.is_some_and(|until| until <= window.from) {
            return Err(format!("`{text}` holds no time"));
        }
        Ok(window)
    }
}

impl ParseWord for Code {
    fn parse_word(text: &str) -> Result<Self, String> {
        match StatusCode::from_str(text) {
            Ok(code) if code.is_informational() => Err(format!(
                "`{text}` only announces an answer; write a code from 200 to 999"
            )),
            Ok(code) => Ok(Self(code)),
            Err(_) => Err(format!("`{text}` is no HTTP status code")),
        }
    }
}

impl ParseWord for Header {
    fn parse_word(text: &str) -> Result<Self, String> {
        let name = HeaderName::from_str(text).map_err(|_| format!("`{text}` is no header name"))?;
        if StatusFault::FRAMING.contains(&name) {
            return Err(format!("`{text}` follows from the body and cannot be set"));
        }
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

fn duration(text: &str) -> Result<Duration, String> {
    let help = || format!("`{text}` is no duration; write 500ms, 2s or 1m30s");
    let span: jiff::SignedDuration = text.trim().parse().map_err(|_| help())?;
    Duration::try_from(span).map_err(|_| help())
}
