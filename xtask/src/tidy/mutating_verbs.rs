use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ExprPath, ItemUse, LitStr, Macro, Pat};

use super::tokens::{self, Token};
use super::{Findings, Tree};

/// The stages that may write to the API server. `client/` names every verb, since it turns
/// them into requests, but takes them from its callers.
const WRITERS: [&str; 3] = [
    "controller-core/src/client/",
    "controller-core/src/leader/",
    "controller-core/src/write/",
];

/// Enums and constants whose members are verbs.
const OWNERS: [&str; 2] = ["Verb", "Method"];

/// Their members, and the constructors of calls, that change something.
const MUTATING: [&str; 11] = [
    "Create",
    "Delete",
    "DeleteCollection",
    "Patch",
    "Update",
    "DELETE",
    "PATCH",
    "POST",
    "PUT",
    "post",
    "put",
];

/// Types that make requests: the call of `client/`, and kube's and http's builders.
const BUILDERS: [&str; 2] = ["Call", "Request"];

/// Their functions that change something.
const CONSTRUCTORS: [&str; 9] = [
    "create",
    "delete",
    "delete_collection",
    "patch",
    "patch_subresource",
    "post",
    "put",
    "replace",
    "update",
];

/// Only `write/` and `leader/` send a verb that changes something. Judging one, in a
/// pattern or a comparison, is free to all.
pub(super) fn check(tree: &Tree) -> Findings {
    let mut findings = Findings::default();
    for (file, rust) in tree.product() {
        if WRITERS.iter().any(|prefix| file.path.starts_with(prefix)) {
            continue;
        }
        let mut visitor = Visitor::default();
        for item in &rust.items {
            visitor.visit_item(item);
        }
        for (line, what) in visitor.hits {
            findings.add(
                &file.path,
                line,
                format!("`{what}` outside of write/ and leader/"),
                "whoever looks for what changes a cluster has to look in one place",
                "make it a plan, and let write/ send it",
            );
        }
    }
    findings
}

/// Collects the expressions that make a mutating request.
#[derive(Default)]
struct Visitor {
    hits: Vec<(usize, String)>,
}

// === impl Visitor ===

impl Visitor {
    fn scan(&mut self, row: &[Token]) {
        for window in row.windows(3) {
            let [owner, colons, member] = window else {
                continue;
            };
            if colons.text == "::" && is_mutating(&owner.text, &member.text) {
                let what = format!("{}::{}", owner.text, member.text);
                self.hits.push((owner.line, what));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Visitor {
    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        self.scan(&tokens::flatten(path.to_token_stream()));
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let compares = matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_));
        for side in [&binary.left, &binary.right] {
            if !(compares && matches!(**side, Expr::Path(_) | Expr::Reference(_) | Expr::Lit(_))) {
                self.visit_expr(side);
            }
        }
    }

    /// A pattern judges, it does not send.
    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_macro(&mut self, invoked: &'ast Macro) {
        if !invoked.path.is_ident("matches") {
            self.scan(&tokens::flatten(invoked.tokens.clone()));
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        if matches!(
            literal.value().as_str(),
            "DELETE" | "PATCH" | "POST" | "PUT"
        ) {
            let line = literal.span().start().line;
            self.hits.push((line, literal.value()));
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let row = tokens::flatten(item.to_token_stream());
        for (owner, rest) in row.iter().zip(1..) {
            let member = row.get(rest + 1).map_or("", |token| token.text.as_str());
            let opens = OWNERS.contains(&owner.text.as_str())
                && row.get(rest).is_some_and(|token| token.text == "::");
            if opens && (matches!(member, "*" | "{") || MUTATING.contains(&member)) {
                self.hits
                    .push((owner.line, format!("use {}::{member}", owner.text)));
            }
        }
        visit::visit_item_use(self, item);
    }
}

fn is_mutating(owner: &str, member: &str) -> bool {
    OWNERS.contains(&owner) && MUTATING.contains(&member)
        || BUILDERS.contains(&owner) && CONSTRUCTORS.contains(&member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_judging_and_the_writers_pass() {
        let tree = Tree::sample(&[
            (
                "kubectl-minrep/src/cli/hint.rs",
                "/// Sends `Verb::Patch`.\n\
                 fn f(v: Verb) -> bool { match v { Verb::Patch => true, _ => v == Verb::Create } }\n\
                 fn g(m: &Method) -> bool { matches!(m, &Method::PATCH) || m != &Method::POST }\n\
                 fn h() { send(Verb::List); map.update(1); words.contains(\"patch\"); }\n",
            ),
            (
                "controller-core/src/write/scale.rs",
                "fn f() { send(Verb::Patch) }",
            ),
            (
                "controller-core/src/client/call.rs",
                "fn f() { Method::PATCH }",
            ),
            ("tests/sim-apiserver/src/lib.rs", "fn f() { Method::PATCH }"),
        ]);
        assert_eq!(check(&tree).brief(), "");
    }

    #[test]
    fn every_way_to_make_a_write_is_found() {
        let tree = Tree::sample(&[(
            "controller-core/src/informer/a.rs",
            "use http::Method::PATCH;\n\
             use crate::client::Verb::{self, Update};\n\
             fn a() { Call { verb: Verb::Patch } }\n\
             fn b() { http::Request::builder().method(\"POST\") }\n\
             fn c() { kube::core::Request::new(x).get(); Request::delete(uri) }\n\
             fn d() { Call::patch(x) }\n\
             fn e() { tokio::select! { _ = send(Method::PUT) => {} } }\n",
        )]);
        insta::assert_snapshot!(check(&tree).brief(), @r"
        controller-core/src/informer/a.rs:1 `use Method::PATCH` outside of write/ and leader/
        controller-core/src/informer/a.rs:2 `use Verb::{` outside of write/ and leader/
        controller-core/src/informer/a.rs:3 `Verb::Patch` outside of write/ and leader/
        controller-core/src/informer/a.rs:4 `POST` outside of write/ and leader/
        controller-core/src/informer/a.rs:5 `Request::delete` outside of write/ and leader/
        controller-core/src/informer/a.rs:6 `Call::patch` outside of write/ and leader/
        controller-core/src/informer/a.rs:7 `Method::PUT` outside of write/ and leader/
        ");
    }
}
