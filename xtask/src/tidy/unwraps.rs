use super::{Findings, Token, Tree};

/// How a message of `expect` begins.
const INVARIANT: &str = "\"invariant: ";

/// Code that ships does not unwrap, and an `expect` names the invariant that it rests on.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for (file, rust) in tree.shipped() {
        for (at, token) in rust.tokens.iter().enumerate() {
            let why = "a panic without a reason is a crash nobody can explain";
            match method(&rust.tokens, at) {
                Some(("unwrap" | "unwrap_err", _)) => findings.add(
                    &file.path,
                    token.line,
                    format!("`{}` outside of a test", token.text),
                    why,
                    "return the error, or `expect(\"invariant: …\")` where one holds",
                ),
                Some(("expect" | "expect_err", message))
                    if message.starts_with('"') && !message.starts_with(INVARIANT) =>
                {
                    findings.add(
                        &file.path,
                        token.line,
                        format!("`expect({message})` names no invariant"),
                        why,
                        "return the error, or begin with `invariant: ` and say what always holds",
                    );
                }
                _ => {}
            }
        }
    }
    findings
}

/// The method called at `at`, and the token behind its parenthesis.
fn method(tokens: &[Token], at: usize) -> Option<(&str, &str)> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let called = at > 0 && matches!(text(at - 1), "." | "::") && text(at + 1) == "(";
    called.then(|| (text(at), text(at + 2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invariants_tests_and_parser_methods_pass() {
        let tree = Tree::sample(&[
            (
                "a/src/lib.rs",
                "fn f() { x.expect(\"invariant: set by new\"); parser.expect(Token::Comma); y.unwrap_or(1); }\n\
                 /// `x.unwrap()`\n#[cfg(test)]\nmod tests { fn g() { x.unwrap(); } }",
            ),
            ("a/tests/b.rs", "fn f() { x.unwrap(); }"),
        ]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn unwraps_and_bare_expects_are_found() {
        let tree = Tree::sample(&[(
            "a/src/lib.rs",
            "fn f() {\n  x.unwrap();\n  y.expect(\"should work\");\n  z.map(Result::unwrap)\n}",
        )]);
        insta::assert_snapshot!(check(&tree).brief(), @r#"
        a/src/lib.rs:2 `unwrap` outside of a test
        a/src/lib.rs:3 `expect("should work")` names no invariant
        "#);
    }
}
