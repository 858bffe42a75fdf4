use controller_core::client::ObjectKey;
use controller_core::controllers::min_replicas::{DryRun, Owner};
use insta::assert_snapshot;

use super::*;
use crate::out::sample::*;

#[test]
fn shows_what_was_changed_or_failed_and_nothing_else() {
    let pass = pass(vec![
        failed("api", no_space("api")),
        failed("cart-with-a-long-name", forbidden("cart")),
        autoscaled("search"),
        satisfied("queue"),
        raised("web", 1),
    ]);
    assert_snapshot!(table(&pass).unwrap(), @r"
    NAMESPACE   NAME                                    RESULT
    shop        deployment.apps/api                     could not be raised from 1 to 2 (500)
    shop        deployment.apps/cart-with-a-long-name   could not be raised from 1 to 2 (403 Forbidden)
    shop        deployment.apps/web                     scaled from 1 to 2
    ");
}

#[test]
fn shows_what_would_be_changed() {
    let client = pass(vec![would_raise("web", DryRun::Client)]);
    assert_snapshot!(table(&client).unwrap(), @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/web   would be scaled from 1 to 2 (dry run)
    ");
    let mut refused = failed("api", no_space("api"));
    refused.dry_run = DryRun::Server;
    let server = pass(vec![refused, would_raise("web", DryRun::Server)]);
    assert_snapshot!(table(&server).unwrap(), @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/api   could not be raised from 1 to 2 (500) (server dry run)
    shop        deployment.apps/web   would be scaled from 1 to 2 (server dry run)
    ");
}

#[test]
fn shows_what_an_interrupted_pass_did_not_send() {
    let reason = controller_core::controllers::min_replicas::Reason::Raise { from: 1, to: 2 };
    let pass = pass(vec![
        raised("api", 0),
        verdict("web", reason, Effect::NotSent),
    ]);
    assert_snapshot!(table(&pass).unwrap(), @r"
    NAMESPACE   NAME                  RESULT
    shop        deployment.apps/api   scaled from 0 to 2
    shop        deployment.apps/web   not raised from 1 to 2: stopped before it was sent
    ");
}

#[test]
fn is_absent_when_there_is_nothing_to_show() {
    assert_eq!(
        table(&pass(vec![satisfied("web"), autoscaled("api")])),
        None
    );
    assert_eq!(table(&pass(Vec::new())), None);
}

/// A server is not trusted with the terminal.
#[test]
fn text_from_a_cluster_stays_in_its_cell() {
    let mut evil = raised("web", 1);
    evil.key = ObjectKey::namespaced("shop\x1b[2J", "web\nforged   deployment.apps/x   done\r");
    assert_snapshot!(table(&pass(vec![evil])).unwrap(), @r"
    NAMESPACE   NAME                                                       RESULT
    shop^[[2J   deployment.apps/web\nforged   deployment.apps/x   done\r   scaled from 1 to 2
    ");
}

#[test]
fn a_wide_table_names_who_else_has_a_say() {
    let reasons = [
        Reason::Owned {
            owner: Owner {
                kind: "Rollout".into(),
                name: "web".into(),
            },
        },
        Reason::Fight {
            autoscaler: None,
            opponent: Opponent::Manager("argocd".into()),
            wait: std::time::Duration::from_secs(60),
        },
        Reason::RaiseMin {
            autoscaler: "web-hpa".into(),
            from: 1,
            to: 2,
        },
        Reason::NoLongerExists,
    ];
    let mut verdicts: Vec<Verdict> = reasons
        .into_iter()
        .map(|reason| verdict("web", reason, Effect::None))
        .collect();
    verdicts[3].uid = None;
    assert_snapshot!(wide_table(&pass(verdicts)).unwrap(), @r#"
    NAMESPACE   NAME                  RESULT                                                                                                                               REASON           MANAGER                           UID
    shop        deployment.apps/web   skipped: owned by Rollout/web, which decides its replicas                                                                            Owned            Rollout/web                       uid-web
    shop        deployment.apps/web   in a fight: raised again and again and still below the minimum; field manager "argocd" owns spec.replicas; the next raise waits 1m   Fight            argocd                            uid-web
    shop        deployment.apps/web   minReplicas of HorizontalPodAutoscaler web-hpa is 1, below the minimum of 2                                                          RaiseMin         HorizontalPodAutoscaler/web-hpa   uid-web
    shop        deployment.apps/web   no longer exists                                                                                                                     NoLongerExists   <none>                            <none>
    "#);
    assert_eq!(wide_table(&pass(Vec::new())), None);
}
