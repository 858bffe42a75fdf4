/// Whether `text` is what `pattern` says; `*` stands for any text, also for none.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "anything"),
            ("a*", "a"),
            ("a*c", "abc"),
            ("a*b*c", "a-b-b-c"),
            ("*.name: *", "body.metadata.name: 1"),
        ] {
            assert!(matches(pattern, text), "{pattern} is not {text}");
        }
    }

    #[test]
    fn everything_else_is_itself() {
        for (pattern, text) in [
            ("", "a"),
            ("a", "ab"),
            ("a", "ba"),
            ("a*a", "a"),
            ("a*c", "abcd"),
            ("a*b*c", "acb"),
            ("*a*", "b"),
        ] {
            assert!(!matches(pattern, text), "{pattern} is {text}");
        }
    }
}
