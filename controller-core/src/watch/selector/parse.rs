use std::collections::BTreeSet;

use super::{Condition, Requirement, SelectorError, validate};

/// A recursive-descent parser with one token of lookahead, as the server's is.
///
/// ```text
/// selector    = [ requirement { "," requirement } ]
/// requirement = "!" key
///             | key [ ( "=" | "==" | "!=" ) [ value ]
///                   | ( "<" | ">" ) integer
///                   | ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")" ]
/// ```
///
/// Blanks may stand between any two tokens. Keys and values are checked where they are
/// read, so that the column of a bad one is known.
struct Parser {
    tokens: Vec<(Token, usize)>,
    position: usize,
}

/// A word is anything between blanks and symbols: keys, values, `in` and `notin`. Which
/// of them it is depends on where it stands: `in in (in)` is a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Symbol(&'static str),
    End,
}

/// The longest first, so that `==` is not two `=`.
const SYMBOLS: [&str; 9] = ["!=", "==", "!", "=", "<", ">", "(", ")", ","];

/// The requirements in the order that they are written in.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, SelectorError> {
    let mut parser = Parser {
        tokens: tokens(text),
        position: 0,
    };
    parser.selector()
}

/// Splits `text`; each token comes with its column.
fn tokens(text: &str) -> Vec<(Token, usize)> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut column = 1;
    while let Some(first) = rest.chars().next() {
        let length = if is_blank(first) {
            first.len_utf8()
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            tokens.push((Token::Symbol(symbol), column));
            symbol.len()
        } else {
            let word = rest
                .find(|c: char| is_blank(c) || "!=<>(),".contains(c))
                .map_or(rest, |end| &rest[..end]);
            tokens.push((Token::Word(word.to_owned()), column));
            word.len()
        };
        column += rest[..length].chars().count();
        rest = &rest[length..];
    }
    tokens.push((Token::End, column));
    tokens
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

// === impl Parser ===

impl Parser {
    fn selector(&mut self) -> Result<Vec<Requirement>, SelectorError> {
        let mut requirements = Vec::new();
        if *self.peek() == Token::End {
            return Ok(requirements);
        }
        loop {
            requirements.push(self.requirement()?);
            match self.peek() {
                Token::End => return Ok(requirements),
                Token::Symbol(",") => {
                    self.advance();
                    // The server takes no comma at the end, but says so oddly.
                    if !matches!(self.peek(), Token::Word(_) | Token::Symbol("!")) {
                        return Err(self.expected("a label key after ','"));
                    }
                }
                _ => return Err(self.expected("',' or the end")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let absent = *self.peek() == Token::Symbol("!");
        if absent {
            self.advance();
        }
        let (key, column) = match self.next() {
            (Token::Word(key), column) => (key, column),
            (_, column) => {
                return Err(SelectorError {
                    message: "expected a label key".into(),
                    column,
                });
            }
        };
        validate::key(&key).map_err(|message| SelectorError { message, column })?;
        let condition = if absent {
            Condition::DoesNotExist
        } else {
            self.condition()?
        };
        Ok(Requirement { key, condition })
    }

    /// What follows a key.
    fn condition(&mut self) -> Result<Condition, SelectorError> {
        match self.peek().clone() {
            Token::End | Token::Symbol(",") => Ok(Condition::Exists),
            Token::Symbol("=" | "==") => {
                self.advance();
                Ok(Condition::Equals(self.value()?))
            }
            Token::Symbol("!=") => {
                self.advance();
                Ok(Condition::NotEquals(self.value()?))
            }
            Token::Symbol(">") => {
                self.advance();
                Ok(Condition::GreaterThan(self.bound()?))
            }
            Token::Symbol("<") => {
                self.advance();
                Ok(Condition::LessThan(self.bound()?))
            }
            Token::Word(word) if word == "in" => {
                self.advance();
                Ok(Condition::In(self.values()?))
            }
            Token::Word(word) if word == "notin" => {
                self.advance();
                Ok(Condition::NotIn(self.values()?))
            }
            _ => Err(self.expected("'=', '!=', 'in', 'notin', '<', '>' or ','")),
        }
    }

    /// One value; nothing at all is the empty value.
    fn value(&mut self) -> Result<String, SelectorError> {
        match self.peek() {
            Token::End | Token::Symbol(",") => Ok(String::new()),
            Token::Word(_) => self.word(),
            Token::Symbol(_) => Err(self.expected("a label value")),
        }
    }

    /// What follows `<` or `>`.
    fn bound(&mut self) -> Result<i64, SelectorError> {
        let column = self.column();
        let Token::Word(word) = self.peek().clone() else {
            return Err(self.expected("an integer"));
        };
        // A label value begins with a letter or digit, so that no bound has a sign.
        validate::value(&word).map_err(|message| SelectorError { message, column })?;
        let bound = validate::integer(&word).ok_or_else(|| SelectorError {
            message: format!("expected an integer, found {word:?}"),
            column,
        })?;
        self.advance();
        Ok(bound)
    }

    /// `(a,b)`. An empty place between commas or brackets is the empty value, so `()`
    /// holds one.
    fn values(&mut self) -> Result<BTreeSet<String>, SelectorError> {
        if *self.peek() != Token::Symbol("(") {
            return Err(self.expected("'('"));
        }
        self.advance();
        let mut values = BTreeSet::new();
        loop {
            let value = match self.peek() {
                Token::Word(_) => self.word()?,
                _ => String::new(),
            };
            values.insert(value);
            match self.peek() {
                Token::Symbol(",") => self.advance(),
                Token::Symbol(")") => {
                    self.advance();
                    return Ok(values);
                }
                Token::End => return Err(self.expected("')'")),
                _ => return Err(self.expected("',' or ')'")),
            }
        }
    }

    fn word(&mut self) -> Result<String, SelectorError> {
        let column = self.column();
        let Token::Word(word) = self.peek().clone() else {
            return Err(self.expected("a label value"));
        };
        validate::value(&word).map_err(|message| SelectorError { message, column })?;
        self.advance();
        Ok(word)
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.position].0
    }

    fn column(&self) -> usize {
        self.tokens[self.position].1
    }

    fn next(&mut self) -> (Token, usize) {
        let token = self.tokens[self.position].clone();
        self.advance();
        token
    }

    /// Never past the end, which is a token of its own.
    fn advance(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    fn expected(&self, what: &str) -> SelectorError {
        SelectorError {
            message: format!("expected {what}"),
            column: self.column(),
        }
    }
}
