use std::collections::HashMap;

/// What is different on every server, by the order in which one server first told of it.
///
/// Two answers that name the same uid have the same symbol for it, on either server: not
/// only is there a uid, it is the right one.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    uids: HashMap<String, usize>,
    versions: HashMap<String, usize>,
    /// Names that the server made, and what they are shown as.
    names: Vec<(String, String)>,
}

// === impl Symbols ===

impl Symbols {
    pub(super) fn uid(&mut self, uid: &str) -> String {
        format!("<uid {}>", number(&mut self.uids, uid))
    }

    /// Of an object: every write gives it another one.
    pub(super) fn version(&mut self, version: &str) -> String {
        format!("<version {}>", number(&mut self.versions, version))
    }

    /// Learns a name that begins as it was asked for and ends as the server liked.
    pub(super) fn learn_name(&mut self, prefix: &str, name: &str) {
        let made = name.strip_prefix(prefix);
        let made = made.filter(|suffix| suffix.len() == 5);
        if made.is_some() && !self.names.iter().any(|(known, _)| known == name) {
            let symbol = format!("{prefix}<suffix {}>", self.names.len() + 1);
            self.names.push((name.to_owned(), symbol));
        }
    }

    /// A text with the symbols in it: uids, made names and, where it speaks of
    /// resourceVersions, every number that may be one.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, symbol) in &self.names {
            text = text.replace(name, symbol);
        }
        let lower = text.to_ascii_lowercase();
        let versions = lower.contains("resource version") || lower.contains("resourceversion");
        let mut shown = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            let part = rest.starts_with(is_part);
            let end = rest.find(|c| is_part(c) != part).unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            rest = after;
            if is_uuid(token) {
                shown.push_str(&self.uid(token));
            } else if versions && token.len() > 1 && token.bytes().all(|b| b.is_ascii_digit()) {
                // These also name the newest of all objects.
                let newest = lower.contains("too large") || lower.contains("too old");
                match self.versions.get(token).filter(|_| !newest) {
                    Some(known) => shown.push_str(&format!("<version {known}>")),
                    None => shown.push_str("<version>"),
                }
            } else {
                shown.push_str(token);
            }
        }
        shown
    }
}

fn number(seen: &mut HashMap<String, usize>, value: &str) -> usize {
    let next = seen.len() + 1;
    *seen.entry(value.to_owned()).or_insert(next)
}

fn is_uuid(token: &str) -> bool {
    token.len() == 36
        && token.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "11111111-2222-3333-4444-555555555555";
    const B: &str = "aaaaaaaa-2222-3333-4444-555555555555";

    #[test]
    fn the_same_uid_is_the_same_symbol() {
        let mut symbols = Symbols::default();
        assert_eq!(symbols.uid(A), "<uid 1>");
        assert_eq!(
            symbols.text(&format!("{B}, not {A}")),
            "<uid 2>, not <uid 1>"
        );
        assert_eq!(symbols.text("11111111-2222"), "11111111-2222");
    }

    #[test]
    fn numbers_are_versions_only_where_a_text_speaks_of_them() {
        let mut symbols = Symbols::default();
        assert_eq!(symbols.version("70002"), "<version 1>");
        let text = "ResourceVersion in precondition: 99999, in object meta: 70002, code 4";
        let shown =
            "ResourceVersion in precondition: <version>, in object meta: <version 1>, code 4";
        assert_eq!(symbols.text(text), shown);
        let newest = symbols.text("Too large resource version: 99999, current: 70002");
        assert_eq!(
            newest,
            "Too large resource version: <version>, current: <version>"
        );
        assert_eq!(symbols.text("at most 70002 bytes"), "at most 70002 bytes");
    }

    #[test]
    fn a_made_name_is_known_wherever_it_stands() {
        let mut symbols = Symbols::default();
        symbols.learn_name("web-", "web-x7k2p");
        symbols.learn_name("web-", "web-given-by-hand");
        let text = symbols.text("pods \"web-x7k2p\", web-given-by-hand");
        assert_eq!(text, "pods \"web-<suffix 1>\", web-given-by-hand");
    }
}
