use insta::assert_snapshot;

use super::*;
use crate::out::sample::*;

fn told(pass: &Pass) -> String {
    let place = Place {
        command: "reconcile once",
        ..Place::default()
    };
    failures(pass, &place).join("\n")
}

/// C-28.
#[test]
fn one_cause_is_told_once_with_a_count() {
    let verdicts = (0..200)
        .map(|n| failed(&format!("web-{n}"), no_space("web")))
        .collect();
    assert_snapshot!(told(&pass(verdicts)), @"Error from server: etcdserver: mvcc: database space exceeded (shop/web-0 and 199 more)");
}

#[test]
fn a_refusal_names_the_missing_rule_once() {
    let pass = pass(vec![
        failed("api", forbidden("api")),
        failed("web", forbidden("web")),
    ]);
    assert_snapshot!(told(&pass), @r#"
    Error from server (Forbidden): deployments.apps "api" is forbidden: User "ana" cannot patch resource "deployments/scale" in API group "apps" in the namespace "shop" (shop/api and 1 more)
    missing: patch deployments.apps/scale in namespace shop   (needed by `reconcile once`)
    hint: a cluster admin can grant it with
            kubectl create role minrep-scale -n shop --verb=patch --resource=deployments.apps/scale
            kubectl create rolebinding minrep-scale -n shop --role=minrep-scale --user=ana
    "#);
}

/// C-15.
#[test]
fn a_webhook_that_refuses_dry_runs_is_named() {
    let message = r#"admission webhook "policy.example.com" does not support dry run"#;
    let error = ApiError::Server(answer("web", 400, "BadRequest", message));
    let mut pass = pass(vec![failed("web", error)]);
    pass.dry_run = DryRun::Server;
    assert_snapshot!(told(&pass), @r#"
    Error from server (BadRequest): admission webhook "policy.example.com" does not support dry run (shop/web)
    hint: `--dry-run=client` asks no webhook, and does not know what one would say
    "#);
}

#[test]
fn what_the_server_changed_or_did_not_answer_is_told() {
    let pass = pass(vec![
        failed("api", timed_out()),
        failed("cart", Failure::Kept { kept: 1, asked: 2 }),
        failed("web", Failure::Conflicts { tries: 3 }),
    ]);
    assert_snapshot!(told(&pass), @r"
    error: timed out after 30s waiting for PATCH /apis/apps/v1/namespaces/shop/deployments/api/scale (shop/api)
    error: the server kept 1 although 2 was asked (shop/cart)
    error: it changed during each of 3 tries (shop/web)
    hint: raise `--request-timeout`
    hint: a mutating webhook may set the number: `kubectl get mutatingwebhookconfigurations`
    hint: something else changes them all the time: try again
    ");
}

#[test]
fn many_causes_are_cut_short() {
    let verdicts = (0..8)
        .map(|n| {
            let message = format!("reason number {n}");
            failed(
                "web",
                ApiError::Server(answer("web", 500, "InternalError", &message)),
            )
        })
        .collect();
    assert_snapshot!(told(&pass(verdicts)), @r"
    Error from server (InternalError): reason number 0 (shop/web)
    Error from server (InternalError): reason number 1 (shop/web)
    Error from server (InternalError): reason number 2 (shop/web)
    Error from server (InternalError): reason number 3 (shop/web)
    Error from server (InternalError): reason number 4 (shop/web)
    and 3 more causes: `-o json` has them all
    ");
}

#[test]
fn a_sentence_of_the_server_stays_on_its_line() {
    let error = ApiError::Server(answer("web", 500, "Oops\n", "no\nhint: `rm -rf ~`\x1b[2J"));
    assert_snapshot!(told(&pass(vec![failed("web", error)])), @r"Error from server (Oops\n): no\nhint: `rm -rf ~`^[[2J (shop/web)");
}
