//! Replaces resourceVersions in JSON while it passes.

use bytes::BytesMut;

use super::{LENGTH, hide, reveal};

/// Replaces the string values of some keys, wherever they stand, and leaves every other byte as it is.
///
/// Keys and values inside a string, such as an annotation that holds JSON, are text and stay. However the
/// bytes are split, what comes out is the same: held back is at most a value that has begun.
#[derive(Debug)]
pub(crate) struct Rewriter {
    keys: &'static [&'static str],
    replace: fn(&[u8]) -> Option<Vec<u8>>,
    state: State,
    /// The beginning of the string that is being read: the candidate for a key, or the value held back.
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside,
    InString {
        escaped: bool,
    },
    /// Behind a string that is one of the keys, if a colon comes.
    AfterKey,
    BeforeValue,
    InValue,
}

const REVISION: &str = "resourceVersion";

/// No number and no opaque text is longer, and no key.
const LONGEST: usize = LENGTH;

// === impl Rewriter ===

impl Rewriter {
    /// For answers.
    pub(crate) fn hiding() -> Self {
        Self::new(&[REVISION], hide)
    }

    /// For request bodies.
    pub(crate) fn revealing() -> Self {
        Self::new(&[REVISION], reveal)
    }

    /// For JSON patches, which name the field in a `path` and its value under `value`.
    pub(crate) fn revealing_patch() -> Self {
        Self::new(&[REVISION, "value"], reveal)
    }

    fn new(keys: &'static [&'static str], replace: fn(&[u8]) -> Option<Vec<u8>>) -> Self {
        Self {
            keys,
            replace,
            state: State::Outside,
            text: Vec::with_capacity(LONGEST + 1),
        }
    }

    /// Takes in the next bytes and writes what is sure.
    pub(crate) fn push(&mut self, data: &[u8], out: &mut BytesMut) {
        // What lies before it was written, or is held back.
        let mut from = 0;
        for (at, &byte) in data.iter().enumerate() {
            match self.state {
                State::Outside => self.outside(byte),
                State::InString { escaped } => self.in_string(byte, escaped),
                State::AfterKey => match byte {
                    b':' => self.state = State::BeforeValue,
                    b' ' | b'\t' | b'\r' | b'\n' => {}
                    _ => self.outside(byte),
                },
                State::BeforeValue => match byte {
                    b'"' => {
                        out.extend_from_slice(&data[from..=at]);
                        from = at + 1;
                        self.text.clear();
                        self.state = State::InValue;
                    }
                    b' ' | b'\t' | b'\r' | b'\n' => {}
                    _ => self.outside(byte),
                },
                State::InValue => {
                    if byte == b'"' {
                        let replaced = (self.replace)(&self.text);
                        out.extend_from_slice(replaced.as_deref().unwrap_or(&self.text));
                        from = at;
                        self.state = State::Outside;
                    } else if byte.is_ascii_alphanumeric() && self.text.len() < LONGEST {
                        self.text.push(byte);
                        from = at + 1;
                    } else {
                        // No version, then, and no key either.
                        out.extend_from_slice(&self.text);
                        from = at;
                        self.text.resize(LONGEST + 1, b' ');
                        self.in_string(byte, false);
                    }
                }
            }
        }
        out.extend_from_slice(&data[from..]);
    }

    /// Writes what was held back, at the end.
    pub(crate) fn finish(&mut self, out: &mut BytesMut) {
        if self.state == State::InValue {
            out.extend_from_slice(&self.text);
            self.state = State::Outside;
        }
    }

    fn outside(&mut self, byte: u8) {
        if byte == b'"' {
            self.text.clear();
            self.state = State::InString { escaped: false };
        } else {
            self.state = State::Outside;
        }
    }

    fn in_string(&mut self, byte: u8, escaped: bool) {
        self.state = match byte {
            // Not possible in JSON: the line is broken, the next may not be.
            b'\n' => State::Outside,
            b'"' if !escaped => {
                if self.keys.iter().any(|key| key.as_bytes() == self.text) {
                    State::AfterKey
                } else {
                    State::Outside
                }
            }
            _ => State::InString {
                escaped: byte == b'\\' && !escaped,
            },
        };
        if self.text.len() <= LONGEST {
            self.text.push(byte);
        }
    }
}

#[cfg(test)]
mod tests;
