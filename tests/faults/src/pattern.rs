//! Patterns with `*`.

use std::fmt;

/// A text to compare with, in which `*` stands for any run of characters, the empty one included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

// === impl Pattern ===

impl Pattern {
    /// Whether the whole of `text` fits.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let Some((head, mut pattern)) = self.0.split_once('*') else {
            return self.0 == text;
        };
        let Some(mut rest) = text.strip_prefix(head) else {
            return false;
        };
        // Greedy from the left is enough: only the last piece must sit at the end.
        while let Some((piece, tail)) = pattern.split_once('*') {
            let Some(at) = rest.find(piece) else {
                return false;
            };
            rest = &rest[at + piece.len()..];
            pattern = tail;
        }
        rest.ends_with(pattern)
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run() {
        for (pattern, text, fits) in [
            ("web", "web", true),
            ("web", "web2", false),
            ("*", "", true),
            ("web-*", "web-1", true),
            ("web-*", "api-1", false),
            ("*/scale", "deployments/scale", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXc", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(
                Pattern::from(pattern).matches(text),
                fits,
                "{pattern} on {text}"
            );
        }
    }
}
