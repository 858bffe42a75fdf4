use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, ImplItem, Item};

use super::tokens::{self, Token};

/// A Rust file, split into the code that ships and the tests beside it.
pub(super) struct RustFile {
    /// The items that ship: without `#[cfg(test)]` items and `#[test]` functions.
    pub(super) items: Vec<Item>,
    /// The same as one row of tokens.
    pub(super) tokens: Vec<Token>,
    /// The lines that belong to tests, counted from 1.
    test_lines: BTreeSet<usize>,
    /// Names of `#[cfg(test)] mod name;`: their files are tests as a whole.
    pub(super) test_modules: Vec<String>,
}

/// Takes the tests out of the items, and keeps book of them.
#[derive(Default)]
struct Split {
    test_lines: BTreeSet<usize>,
    test_modules: Vec<String>,
}

// === impl RustFile ===

impl RustFile {
    /// Parses `text`; the error names the line.
    pub(super) fn parse(text: &str) -> Result<Self, (usize, String)> {
        let file = syn::parse_file(text)
            .map_err(|error| (error.span().start().line, error.to_string()))?;
        let mut split = Split::default();
        let items = split.keep(file.items);
        let mut stream = TokenStream::new();
        for item in &items {
            item.to_tokens(&mut stream);
        }
        Ok(Self {
            items,
            tokens: tokens::flatten(stream),
            test_lines: split.test_lines,
            test_modules: split.test_modules,
        })
    }

    /// Whether line `line` (from 1) belongs to a test.
    pub(super) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.contains(&line)
    }
}

// === impl Split ===

impl Split {
    fn keep(&mut self, items: Vec<Item>) -> Vec<Item> {
        let mut kept = Vec::with_capacity(items.len());
        for mut item in items {
            if is_test(attributes(&item)) {
                self.drop_lines(&item);
                if let Item::Mod(module) = &item
                    && module.content.is_none()
                {
                    self.test_modules.push(module.ident.to_string());
                }
                continue;
            }
            match &mut item {
                Item::Mod(module) => {
                    if let Some((_, content)) = &mut module.content {
                        *content = self.keep(std::mem::take(content));
                    }
                }
                Item::Impl(block) => block.items.retain(|member| {
                    let test = matches!(member, ImplItem::Fn(f) if is_test(&f.attrs));
                    if test {
                        self.drop_lines(member);
                    }
                    !test
                }),
                _ => {}
            }
            kept.push(item);
        }
        kept
    }

    fn drop_lines(&mut self, dropped: &impl Spanned) {
        let span = dropped.span();
        self.test_lines.extend(span.start().line..=span.end().line);
    }
}

/// The attributes of the items that tests are made of.
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[cfg(doctest)]`, `#[test]`, `#[tokio::test]`;
/// `#[cfg(not(test))]` is code that ships.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        if path.is_ident("cfg") {
            let row = tokens::flatten(attribute.meta.to_token_stream());
            let has = |word: &str| row.iter().any(|token| token.text == word);
            return (has("test") || has("doctest")) && !has("not");
        }
        path.segments
            .last()
            .is_some_and(|last| last.ident == "test")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_from_what_ships() {
        let file = RustFile::parse(
            "fn ships() {}\n\
             #[cfg(not(test))]\nfn also() {}\n\
             #[cfg(test)]\nmod cases;\n\
             struct S;\n\
             impl S {\n    #[cfg(test)]\n    fn probe() {}\n}\n\
             /// Docs.\n#[cfg(all(test, unix))]\nmod tests {\n    fn x() {}\n}\n",
        )
        .unwrap_or_else(|(line, error)| panic!("line {line}: {error}"));
        assert_eq!(file.test_modules, ["cases"]);
        let lines: Vec<usize> = file.test_lines.iter().copied().collect();
        assert_eq!(lines, [4, 5, 8, 9, 11, 12, 13, 14, 15]);
        assert!(tokens::find(&file.tokens, &["fn", "x"]).is_empty());
        assert_eq!(tokens::find(&file.tokens, &["fn", "also"]), [3]);
    }

    #[test]
    fn a_file_that_does_not_parse_names_the_line() {
        let Err((line, _)) = RustFile::parse("fn a() {}\nfn {") else {
            panic!("that is no Rust");
        };
        assert_eq!(line, 2);
    }
}
