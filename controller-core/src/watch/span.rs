use memchr::memchr2;

/// Finds where a JSON value ends, without reading it.
///
/// It is fed the value in pieces, from its first byte on, and looks at strings and brackets
/// only. Whether what lies between is JSON is for whoever decodes it: the point is to find
/// the *next* value, however broken this one is, and to keep nothing while looking.
#[derive(Debug, Default)]
pub(super) struct Span {
    depth: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// Before the first byte, or between the brackets.
    #[default]
    Structure,
    Text,
    /// Behind a backslash in a text.
    Escape,
    /// In a number, `true`, `false` or `null`.
    Bare,
}

/// The members of a JSON object: names and values, still encoded.
///
/// Ends with an error where it is no object, or not a whole one; what came before is good
/// nevertheless. A name with an escape in it is not unescaped.
pub(super) struct Members<'a> {
    rest: &'a [u8],
    begun: bool,
    ended: bool,
    /// The member that an object without an end broke off in: its name and the beginning of
    /// its value.
    cut: Option<Member<'a>>,
}

/// This is no JSON object, or its end is missing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotAnObject;

/// A name and a value.
pub(super) type Member<'a> = (&'a [u8], &'a [u8]);

// === impl Span ===

impl Span {
    /// How many of `bytes` belong to the value, and whether it ends there. A value of no
    /// bytes at all is none: a bracket or a comma stands in its place.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.place {
                Place::Escape => {
                    at += 1;
                    self.place = Place::Text;
                }
                Place::Text => match memchr2(b'"', b'\\', &bytes[at..]) {
                    None => return (bytes.len(), false),
                    Some(found) => {
                        at += found + 1;
                        if bytes[at - 1] == b'\\' {
                            self.place = Place::Escape;
                            continue;
                        }
                        self.place = Place::Structure;
                        if self.depth == 0 {
                            return (at, true);
                        }
                    }
                },
                Place::Bare => {
                    let end = bytes[at..].iter().position(|byte| {
                        matches!(byte, b',' | b':' | b'}' | b']') || byte.is_ascii_whitespace()
                    });
                    return end.map_or((bytes.len(), false), |end| (at + end, true));
                }
                Place::Structure if self.depth == 0 => match byte {
                    b'"' => {
                        self.place = Place::Text;
                        at += 1;
                    }
                    b'{' | b'[' => {
                        self.depth = 1;
                        at += 1;
                    }
                    b'}' | b']' | b',' | b':' => return (at, true),
                    _ => self.place = Place::Bare,
                },
                Place::Structure => {
                    let rest = &bytes[at..];
                    let found = rest
                        .iter()
                        .position(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'));
                    let Some(found) = found else {
                        return (bytes.len(), false);
                    };
                    at += found + 1;
                    match rest[found] {
                        b'"' => self.place = Place::Text,
                        b'{' | b'[' => self.depth += 1,
                        _ => self.depth -= 1,
                    }
                    if self.depth == 0 {
                        return (at, true);
                    }
                }
            }
        }
        (at, false)
    }
}

// === impl Members ===

impl<'a> Members<'a> {
    pub(super) fn of(object: &'a [u8]) -> Self {
        Self {
            rest: object,
            begun: false,
            ended: false,
            cut: None,
        }
    }

    /// The member in which the object broke off, once the iteration has ended: its name and
    /// the beginning of its value.
    pub(super) fn cut(&self) -> Option<Member<'a>> {
        self.cut
    }

    fn step(&mut self) -> Result<Option<Member<'a>>, NotAnObject> {
        let begun = std::mem::replace(&mut self.begun, true);
        if !begun {
            self.take(b'{')?;
        }
        if self.take(b'}').is_ok() {
            let trailing = !self.rest.trim_ascii().is_empty();
            return if trailing { Err(NotAnObject) } else { Ok(None) };
        }
        if begun {
            self.take(b',')?;
        }
        let name = self.value()?;
        let name = name.strip_prefix(b"\"").ok_or(NotAnObject)?;
        let name = &name[..name.len() - 1];
        self.take(b':')?;
        self.cut = Some((name, self.rest.trim_ascii_start()));
        let value = self.value()?;
        self.cut = None;
        Ok(Some((name, value)))
    }

    fn take(&mut self, byte: u8) -> Result<(), NotAnObject> {
        let rest = self.rest.trim_ascii_start();
        self.rest = rest.strip_prefix(&[byte]).ok_or(NotAnObject)?;
        Ok(())
    }

    fn value(&mut self) -> Result<&'a [u8], NotAnObject> {
        let rest = self.rest.trim_ascii_start();
        let (length, ended) = Span::default().feed(rest);
        if length == 0 || !ended {
            return Err(NotAnObject);
        }
        let (value, rest) = rest.split_at(length);
        self.rest = rest;
        Ok(value)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, NotAnObject>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let step = self.step().transpose();
        self.ended = !matches!(step, Some(Ok(_)));
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value at the start of `text`, found in pieces of `size` bytes.
    fn value(text: &str, size: usize) -> Option<&str> {
        let mut span = Span::default();
        let mut at = 0;
        for piece in text.as_bytes().chunks(size) {
            let (length, ended) = span.feed(piece);
            at += length;
            if ended {
                return Some(&text[..at]);
            }
        }
        None
    }

    #[test]
    fn a_value_ends_at_the_same_place_however_it_is_cut() {
        for (text, expected) in [
            (
                r#"{"a":[1,{"b":"}]\"{"}]},x"#,
                Some(r#"{"a":[1,{"b":"}]\"{"}]}"#),
            ),
            (r#""say \\" , 1"#, Some(r#""say \\""#)),
            ("12.5e3]", Some("12.5e3")),
            ("true }", Some("true")),
            ("[[]]]", Some("[[]]")),
            ("]", Some("")),
            (r#"{"a":1"#, None),
            ("12", None),
        ] {
            for size in 1..=text.len() {
                assert_eq!(value(text, size), expected, "{text} by {size}");
            }
        }
    }

    fn members(text: &str) -> (Vec<(&str, &str)>, bool) {
        let mut members = Vec::new();
        for member in Members::of(text.as_bytes()) {
            let Ok((name, value)) = member else {
                return (members, false);
            };
            let text = |bytes| std::str::from_utf8(bytes).unwrap();
            members.push((text(name), text(value)));
        }
        (members, true)
    }

    #[test]
    fn the_members_of_an_object_are_told_in_order() {
        assert_eq!(
            members(" { \"a\" : 1 ,\"b\":{\"c\":[]}, \"\":\"x\"}\n"),
            (vec![("a", "1"), ("b", r#"{"c":[]}"#), ("", r#""x""#)], true)
        );
        assert_eq!(members("{}"), (vec![], true));
    }

    #[test]
    fn half_an_object_tells_its_whole_members() {
        assert_eq!(
            members(r#"{"a":{"b":1},"c":[1,"#),
            (vec![("a", r#"{"b":1}"#)], false)
        );
        let mut members = Members::of(br#"{"a":1,"c":[1,"#);
        assert_eq!(members.by_ref().count(), 2);
        assert_eq!(members.cut(), Some((&b"c"[..], &b"[1,"[..])));
    }

    #[test]
    fn what_is_no_object_is_told() {
        for text in [
            "",
            "[]",
            "{",
            "{,}",
            "{1:2}",
            r#"{"a"}"#,
            "{} {}",
            r#"{"a":}"#,
        ] {
            assert!(!members(text).1, "{text}");
        }
    }
}
