//! Cluster text, made safe for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` on one line, with nothing in it that a terminal would act upon.
///
/// Escape becomes `^[` as kubectl prints it, a line end `\n`; other control characters
/// and the ones that reorder text are shown by their number.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// The same for text of several lines: line ends and tabs stay.
pub fn escape_text(text: &str) -> Cow<'_, str> {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let dangerous = |c: char| !keep(c) && acts_on_terminal(c);
    if !text.contains(dangerous) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            _ if !dangerous(c) => safe.push(c),
            '\x1b' => safe.push_str("^["),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            // Writing to a string cannot fail.
            _ => drop(write!(safe, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(safe)
}

/// Control characters, and the marks that turn the reading direction: with those,
/// `nimda` can be made to read `admin`.
fn acts_on_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_left_alone() {
        assert!(matches!(escape_line("größer: web → 2"), Cow::Borrowed(_)));
        assert!(matches!(escape_text("a\n\tb"), Cow::Borrowed(_)));
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_upon() {
        assert_eq!(
            escape_line("\x1b[2Jweb\r\nerror: forged\t\u{9b}31m\u{202e}x\u{7}"),
            r"^[[2Jweb\r\nerror: forged\t\u{9b}31m\u{202e}x\u{7}"
        );
        assert_eq!(escape_text("a\x1b[0m\r\nb"), "a^[[0m\\r\nb");
    }
}
