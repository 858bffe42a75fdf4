use controller_core::client::ObjectKey;
use insta::assert_snapshot;

use super::*;
use crate::out::sample::*;

fn shown(pass: &Pass, output: OutputArg, named: bool) -> (String, String) {
    let (io, captured) = Io::captured();
    let place = Place {
        namespace: Some("shop".into()),
        command: "reconcile once",
        ..Place::default()
    };
    show_pass(&io, pass, output, named, &place).unwrap();
    (captured.stdout.text(), captured.stderr.text())
}

#[test]
fn data_and_talk_stay_apart() {
    let mut pass = pass(vec![
        failed("api", no_space("api")),
        autoscaled("db"),
        autoscaled("search"),
        raised("web", 1),
    ]);
    pass.warnings = vec!["namespaces cannot be read".into()];
    let (stdout, stderr) = shown(&pass, OutputArg::Table, false);
    assert_snapshot!(stdout, @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/api   could not be raised from 1 to 2 (500)
    shop        deployment.apps/web   scaled from 1 to 2
    ");
    assert_snapshot!(stderr, @r"
    Warning: namespaces cannot be read
    Error from server: etcdserver: mvcc: database space exceeded (shop/api)
    Skipped: 2 Autoscaled (`-o json` names them)
    Reconciled 4 Deployments in 3.1s: 1 raised, 1 failed, 2 skipped, 0 already satisfied
    ");
    let (stdout, json_stderr) = shown(&pass, OutputArg::Json, false);
    assert!(serde_json::from_str::<serde_json::Value>(&stdout).is_ok());
    assert_eq!(json_stderr, stderr);
}

#[test]
fn every_named_object_is_accounted_for() {
    let mut pass = pass(vec![
        not_opted_in("db", None),
        satisfied("queue"),
        raised("web", 1),
    ]);
    pass.missing = vec![ObjectKey::namespaced("shop", "nope")];
    let (_, stderr) = shown(&pass, OutputArg::Table, true);
    assert_snapshot!(stderr, @r#"
    deployment.apps/db skipped: not opted in: label demo/min-replicas is not set
    deployment.apps/queue already satisfies the minimum of 2 (3 replicas)
    Error from server (NotFound): deployments.apps "nope" not found
    Reconciled 4 Deployments in 3.1s: 1 raised, 0 failed, 1 skipped, 1 already satisfied, 1 not found
    "#);
}

#[test]
fn nothing_to_do_is_said_and_not_printed() {
    let (stdout, stderr) = shown(&pass(Vec::new()), OutputArg::Table, false);
    assert_eq!(stdout, "");
    assert_snapshot!(stderr, @r"
    No opted-in Deployments found in shop namespace.
    Reconciled 0 Deployments in 3.1s: 0 raised, 0 failed, 0 skipped, 0 already satisfied
    ");
    let (stdout, stderr) = shown(&pass(vec![satisfied("web")]), OutputArg::Table, false);
    assert_eq!(stdout, "");
    assert_snapshot!(stderr, @r"
    No Deployment needs a change in shop namespace.
    Reconciled 1 Deployment in 3.1s: 0 raised, 0 failed, 0 skipped, 1 already satisfied
    ");
}
