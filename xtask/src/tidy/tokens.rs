use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// One token of a Rust file, groups opened up: `(`, `)`, `::`, an identifier, a literal
/// with its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// The token as written.
    pub(super) text: String,
    /// Counted from 1.
    pub(super) line: usize,
}

/// All tokens of `stream` in one row. Comments are not tokens, and a doc comment is one
/// literal, so that a search through the row sees code only.
pub(super) fn flatten(stream: TokenStream) -> Vec<Token> {
    let mut row = Vec::new();
    collect(stream, &mut row);
    row
}

/// The line of each place where `row` continues with exactly `pattern`.
#[cfg(test)]
pub(super) fn find(row: &[Token], pattern: &[&str]) -> Vec<usize> {
    row.windows(pattern.len())
        .filter(|window| window.iter().zip(pattern).all(|(t, p)| t.text == *p))
        .map(|window| window[0].line)
        .collect()
}

fn collect(stream: TokenStream, row: &mut Vec<Token>) {
    let mut joint = false;
    for tree in stream {
        let line = tree.span().start().line;
        let mut next_joint = false;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(row, open, line);
                collect(group.stream(), row);
                push(row, close, group.span_close().start().line);
            }
            TokenTree::Ident(ident) => push(row, &ident.to_string(), line),
            TokenTree::Literal(literal) => push(row, &literal.to_string(), line),
            TokenTree::Punct(punct) => {
                let after_colon = joint && row.last().is_some_and(|last| last.text == ":");
                if punct.as_char() == ':' && after_colon {
                    row.pop();
                    push(row, "::", line);
                } else {
                    push(row, &punct.as_char().to_string(), line);
                    next_joint = punct.spacing() == Spacing::Joint;
                }
            }
        }
        joint = next_joint;
    }
}

fn push(row: &mut Vec<Token>, text: &str, line: usize) {
    if !text.is_empty() {
        row.push(Token {
            text: text.to_owned(),
            line,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_opened_and_double_colons_joined() {
        let stream: TokenStream = "a::b(c: &'d str)\n[\"::\"]".parse().unwrap();
        let row = flatten(stream);
        let texts: Vec<&str> = row.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "a", "::", "b", "(", "c", ":", "&", "'", "d", "str", ")", "[", "\"::\"", "]"
            ]
        );
        assert_eq!(find(&row, &["a", "::", "b"]), [1]);
        assert_eq!(find(&row, &["["]), [2]);
    }
}
