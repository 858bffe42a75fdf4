use syn::Item;
use syn::spanned::Spanned;

use super::{Findings, RustFile, SourceFile, Tree};

const WHY: &str = "every file reads alike: what there is first, then what it does";

/// A file goes: imports, modules, types, `// === impl X ===` banners in the order of the
/// types, tests.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for (file, rust) in tree.shipped() {
        imports_first(&mut findings, file, rust);
        tests_last(&mut findings, file, rust);
        banners_in_type_order(&mut findings, file, rust);
    }
    findings
}

fn imports_first(findings: &mut Findings, file: &SourceFile, rust: &RustFile) {
    let behind = |item: &Item| !matches!(item, Item::Use(_) | Item::Mod(_) | Item::Macro(_));
    let Some(first) = rust.items.iter().position(behind) else {
        return;
    };
    for item in rust.items[first..]
        .iter()
        .filter(|item| matches!(item, Item::Use(_)))
    {
        findings.add(
            &file.path,
            item.span().start().line,
            "an import below the first type or function",
            WHY,
            "move it to the top",
        );
    }
}

fn tests_last(findings: &mut Findings, file: &SourceFile, rust: &RustFile) {
    let Some(last) = rust.items.last().map(|item| item.span().end().line) else {
        return;
    };
    let mut lines = file
        .text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line));
    let early = lines.find(|(line, text)| {
        *line < last && rust.is_test_line(*line) && text.starts_with("mod ") && text.ends_with('{')
    });
    if let Some((line, _)) = early {
        findings.add(
            &file.path,
            line,
            "tests above code that ships",
            WHY,
            "move them to the end",
        );
    }
}

fn banners_in_type_order(findings: &mut Findings, file: &SourceFile, rust: &RustFile) {
    let types: Vec<String> = rust.items.iter().filter_map(type_name).collect();
    let foreign: Vec<String> = rust.items.iter().filter_map(implemented).collect();
    let mut previous: Option<(usize, &str)> = None;
    for (line, name) in banners(file, rust) {
        let Some(position) = types.iter().position(|known| known == name) else {
            // A part of a type whose definition is elsewhere may stand anywhere.
            if !foreign.iter().any(|known| known == name) {
                findings.add(
                    &file.path,
                    line,
                    format!("a banner for {name}, and no such type or impl"),
                    WHY,
                    "name a type that is defined or implemented in this file",
                );
            }
            continue;
        };
        if let Some((before, other)) = previous
            && position <= before
        {
            findings.add(
                &file.path,
                line,
                format!("the banner of {name} comes after that of {other}"),
                WHY,
                "put the blocks in the order of the types, one banner a type",
            );
        }
        previous = Some((position, name));
    }
}

/// The lines `// === impl X ===` outside of tests, with X.
fn banners<'a>(file: &'a SourceFile, rust: &RustFile) -> Vec<(usize, &'a str)> {
    let of = |line: &'a str| line.strip_prefix("// === impl ")?.strip_suffix(" ===");
    file.text
        .lines()
        .enumerate()
        .filter(|(at, _)| !rust.is_test_line(at + 1))
        .filter_map(|(at, line)| Some((at + 1, of(line)?)))
        .collect()
}

/// The type that an impl block is for: `X` of `impl fmt::Display for x::X<T>`.
fn implemented(item: &Item) -> Option<String> {
    let Item::Impl(block) = item else {
        return None;
    };
    let syn::Type::Path(path) = &*block.self_ty else {
        return None;
    };
    Some(path.path.segments.last()?.ident.to_string())
}

fn type_name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Enum(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agreed_order_passes() {
        let tree = Tree::sample(&[(
            "a/src/lib.rs",
            "use std::fmt;\nmod x;\npub use x::Y;\nconst N: u8 = 1;\npub struct A;\nenum B {}\n\
             \n// === impl A ===\n\nimpl A {}\n\n// === impl B ===\n\nimpl B {}\n// === impl Elsewhere ===\nimpl x::Elsewhere {}\nfn f() {}\n\
             #[cfg(test)]\nmod tests {\n    use super::*;\n}\n",
        )]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn late_imports_early_tests_and_shuffled_banners_are_found() {
        let tree = Tree::sample(&[(
            "a/src/lib.rs",
            "struct A;\nuse std::fmt;\nstruct B;\n#[cfg(test)]\nmod tests {\n}\n\
             // === impl B ===\n// === impl A ===\n// === impl Gone ===\nfn f() {}\n",
        )]);
        insta::assert_snapshot!(check(&tree).brief(), @r"
        a/src/lib.rs:2 an import below the first type or function
        a/src/lib.rs:5 tests above code that ships
        a/src/lib.rs:8 the banner of A comes after that of B
        a/src/lib.rs:9 a banner for Gone, and no such type or impl
        ");
    }
}
