use std::collections::BTreeMap;
use std::fmt::Write;

use http::HeaderMap;
use serde_json::Value;

/// What a server answered, as far as it is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Those of [`COMPARED`] that are there, in small letters.
    pub(super) headers: BTreeMap<&'static str, Vec<String>>,
    pub(super) content: Content,
}

/// A body.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Json(Value),
    Text(String),
    /// Of a watch.
    Events {
        events: Vec<Value>,
        end: End,
    },
    /// Not read yet, or not compared.
    Unread,
}

/// How reading a watch came to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All the events that were asked for are there.
    Enough,
    /// The server ended it.
    Closed,
    /// Nothing more came for a long time.
    Silent,
}

/// The headers that matter: what a client acts on. The rest is of one request, such as
/// `Audit-Id` and `Date`, or of the connection.
const COMPARED: [&str; 9] = [
    "content-type",
    "warning",
    "retry-after",
    "allow",
    "cache-control",
    "location",
    "vary",
    "www-authenticate",
    "x-content-type-options",
];

/// A report is read in a terminal.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && !matches!(c, '\n' | '\t') {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

// === impl Answer ===

impl Answer {
    /// Status and headers; the content is yet to come.
    pub(super) fn head(status: u16, headers: &HeaderMap) -> Self {
        let mut compared = BTreeMap::new();
        for name in COMPARED {
            let values = headers.get_all(name).iter();
            let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            let values: Vec<String> = values.collect();
            if !values.is_empty() {
                compared.insert(name, values);
            }
        }
        Self {
            status,
            headers: compared,
            content: Content::Unread,
        }
    }

    /// The whole of it, for a reader.
    pub(super) fn text(&self) -> String {
        let mut text = format!("status: {}\n", self.status);
        for (name, values) in &self.headers {
            for value in values {
                let _ = writeln!(text, "{name}: {value}");
            }
        }
        match &self.content {
            Content::Json(body) => text.push_str(&format!("{body:#}\n")),
            Content::Text(body) => text.push_str(&format!("{body}\n")),
            Content::Events { events, end } => {
                for event in events {
                    let _ = writeln!(text, "{event:#}");
                }
                text.push_str(match end {
                    End::Enough => "",
                    End::Closed => "(closed by the server)\n",
                    End::Silent => "(and then silence)\n",
                });
            }
            Content::Unread => {}
        }
        text
    }
}

// === impl Content ===

impl Content {
    /// A body that came as a whole.
    pub(super) fn of(body: &[u8]) -> Self {
        match serde_json::from_slice(body) {
            Ok(value) => Self::Json(value),
            Err(_) => Self::Text(printable(&String::from_utf8_lossy(body))),
        }
    }
}
