//! The words that a person reads, and may search for.

use std::sync::Arc;

use controller_core::client::{ApiError, ObjectKey};
use controller_core::controllers::min_replicas::{
    DryRun, Effect, Failure, Hindrance, OddApiVersion, Opponent, OptIn, Owner, Reason, ScaledBy,
    Verdict, ZeroKeptBy,
};
use tokio::time::Duration;

fn all_reasons() -> Vec<Reason> {
    let opt_in = OptIn::default();
    let namespace = "shop".to_owned();
    let autoscaler = "web-hpa".to_owned();
    let autoscaled = |hindrance| Reason::Autoscaled {
        by: ScaledBy::HorizontalPodAutoscaler(autoscaler.clone()),
        hindrance,
    };
    let odd = |odd| autoscaled(Some(Hindrance::OddApiVersion(odd)));
    let fight = |autoscaler, opponent, minutes: u64| Reason::Fight {
        autoscaler,
        opponent,
        wait: Duration::from_secs(60 * minutes),
    };
    vec![
        Reason::BeingDeleted,
        Reason::NotOptedIn {
            opt_in: opt_in.clone(),
            found: None,
        },
        Reason::NotOptedIn {
            opt_in,
            found: Some("True".into()),
        },
        Reason::NotSelected {
            selector: "tier=front".into(),
        },
        Reason::NamespacePaused {
            namespace: namespace.clone(),
        },
        Reason::NamespaceExcluded { namespace },
        Reason::Owned {
            owner: Owner {
                kind: "Foo".into(),
                name: "f1".into(),
            },
        },
        Reason::ZeroKept {
            by: ZeroKeptBy::Setting,
        },
        Reason::ZeroKept {
            by: ZeroKeptBy::Annotation,
        },
        Reason::RaiseMin {
            autoscaler: autoscaler.clone(),
            from: 1,
            to: 2,
        },
        Reason::MinAboveMax {
            autoscaler: autoscaler.clone(),
            max: 1,
            from: 1,
            to: 2,
        },
        Reason::Satisfied {
            replicas: 3,
            min: 2,
        },
        Reason::Satisfied {
            replicas: 1,
            min: 1,
        },
        autoscaled(None),
        odd(OddApiVersion::Missing),
        odd(OddApiVersion::Other("extensions/v1beta1".into())),
        autoscaled(Some(Hindrance::Owned(Owner {
            kind: "ScaledObject".into(),
            name: "web".into(),
        }))),
        autoscaled(Some(Hindrance::Several(vec!["b".into(), "c".into()]))),
        Reason::Autoscaled {
            by: ScaledBy::ScaledObject("web".into()),
            hindrance: None,
        },
        fight(None, Opponent::Manager("argocd-controller".into()), 1),
        fight(None, Opponent::Nobody, 32),
        fight(None, Opponent::Unknown, 32),
        fight(
            Some(autoscaler.clone()),
            Opponent::Manager("helm".into()),
            60,
        ),
        Reason::Budget {
            limit: 100,
            wait: Duration::from_secs(7),
        },
        Reason::Raise { from: 1, to: 2 },
        Reason::NoLongerExists,
        Reason::NoLongerOptedIn,
        Reason::Unread,
    ]
}

fn verdict(reason: Reason, effect: Effect, dry_run: DryRun) -> Verdict {
    Verdict {
        key: ObjectKey::namespaced("shop", "web"),
        uid: Some("u".into()),
        reason,
        effect,
        dry_run,
        rejected_min: None,
    }
}

fn lines(verdicts: impl IntoIterator<Item = Verdict>) -> String {
    verdicts
        .into_iter()
        .map(|verdict| format!("{} {verdict}\n", verdict.object()))
        .collect()
}

#[test]
fn every_reason_has_a_token_and_a_sentence() {
    let table: String = all_reasons()
        .iter()
        .map(|reason| format!("{} ({:?}): {reason}\n", reason.name(), reason.class()))
        .collect();
    insta::assert_snapshot!(table, @r#"
    BeingDeleted (Skipped): being deleted
    NotOptedIn (Skipped): not opted in: label demo/min-replicas is not set
    NotOptedIn (Skipped): not opted in: label demo/min-replicas is "True", not "true"
    NotSelected (Skipped): does not match the selector tier=front
    NamespacePaused (Skipped): namespace shop is paused (annotation minrep.dev/paused)
    NamespaceExcluded (Skipped): namespace shop is excluded
    Owned (Skipped): owned by Foo/f1, which decides its replicas
    ZeroKept (Skipped): kept at 0 replicas
    ZeroKept (Skipped): kept at 0 replicas (annotation minrep.dev/keep-zero)
    RaiseMin (Raise): minReplicas of HorizontalPodAutoscaler web-hpa is 1, below the minimum of 2
    MinAboveMax (Raise): minReplicas of HorizontalPodAutoscaler web-hpa cannot be raised from 1 to 2
    Satisfied (Satisfied): already satisfies the minimum of 2 (3 replicas)
    Satisfied (Satisfied): already satisfies the minimum of 1 (1 replica)
    Autoscaled (Skipped): autoscaled by HorizontalPodAutoscaler web-hpa
    Autoscaled (Skipped): targeted by HorizontalPodAutoscaler web-hpa, which may never scale it: its target has no apiVersion where "apps/v1" is needed
    Autoscaled (Skipped): targeted by HorizontalPodAutoscaler web-hpa, which may never scale it: its target has apiVersion "extensions/v1beta1" where "apps/v1" is needed
    Autoscaled (Skipped): autoscaled by HorizontalPodAutoscaler web-hpa, whose minimum ScaledObject/web decides
    Autoscaled (Skipped): autoscaled by HorizontalPodAutoscaler web-hpa and b and c at once, so it is not clear whose minimum to raise
    Autoscaled (Skipped): autoscaled by ScaledObject web
    Fight (Waiting): in a fight: raised again and again and still below the minimum; field manager "argocd-controller" owns spec.replicas; the next raise waits 1m
    Fight (Waiting): in a fight: raised again and again and still below the minimum; no other field manager owns spec.replicas; the next raise waits 32m
    Fight (Waiting): in a fight: raised again and again and still below the minimum; who owns spec.replicas could not be looked up; the next raise waits 32m
    Fight (Waiting): in a fight: raised again and again and still below the minimum; field manager "helm" owns minReplicas of HorizontalPodAutoscaler web-hpa; the next raise waits 1h
    Budget (Waiting): waits for its turn: at most 100 raises a minute
    Raise (Raise): below the minimum of 2 (1 replica)
    NoLongerExists (Gone): no longer exists
    NoLongerOptedIn (Gone): no longer opted in
    Unread (Unread): could not be read
    "#);
}

#[test]
fn a_verdict_without_effect_says_why() {
    let verdicts = all_reasons()
        .into_iter()
        .map(|reason| verdict(reason, Effect::None, DryRun::None));
    insta::assert_snapshot!(lines(verdicts), @r#"
    deployment.apps/web skipped: being deleted
    deployment.apps/web skipped: not opted in: label demo/min-replicas is not set
    deployment.apps/web skipped: not opted in: label demo/min-replicas is "True", not "true"
    deployment.apps/web skipped: does not match the selector tier=front
    deployment.apps/web skipped: namespace shop is paused (annotation minrep.dev/paused)
    deployment.apps/web skipped: namespace shop is excluded
    deployment.apps/web skipped: owned by Foo/f1, which decides its replicas
    deployment.apps/web skipped: kept at 0 replicas
    deployment.apps/web skipped: kept at 0 replicas (annotation minrep.dev/keep-zero)
    deployment.apps/web minReplicas of HorizontalPodAutoscaler web-hpa is 1, below the minimum of 2
    deployment.apps/web minReplicas of HorizontalPodAutoscaler web-hpa cannot be raised from 1 to 2
    deployment.apps/web already satisfies the minimum of 2 (3 replicas)
    deployment.apps/web already satisfies the minimum of 1 (1 replica)
    deployment.apps/web skipped: autoscaled by HorizontalPodAutoscaler web-hpa
    deployment.apps/web skipped: targeted by HorizontalPodAutoscaler web-hpa, which may never scale it: its target has no apiVersion where "apps/v1" is needed
    deployment.apps/web skipped: targeted by HorizontalPodAutoscaler web-hpa, which may never scale it: its target has apiVersion "extensions/v1beta1" where "apps/v1" is needed
    deployment.apps/web skipped: autoscaled by HorizontalPodAutoscaler web-hpa, whose minimum ScaledObject/web decides
    deployment.apps/web skipped: autoscaled by HorizontalPodAutoscaler web-hpa and b and c at once, so it is not clear whose minimum to raise
    deployment.apps/web skipped: autoscaled by ScaledObject web
    deployment.apps/web in a fight: raised again and again and still below the minimum; field manager "argocd-controller" owns spec.replicas; the next raise waits 1m
    deployment.apps/web in a fight: raised again and again and still below the minimum; no other field manager owns spec.replicas; the next raise waits 32m
    deployment.apps/web in a fight: raised again and again and still below the minimum; who owns spec.replicas could not be looked up; the next raise waits 32m
    deployment.apps/web in a fight: raised again and again and still below the minimum; field manager "helm" owns minReplicas of HorizontalPodAutoscaler web-hpa; the next raise waits 1h
    deployment.apps/web waits for its turn: at most 100 raises a minute
    deployment.apps/web below the minimum of 2 (1 replica)
    deployment.apps/web no longer exists
    deployment.apps/web no longer opted in
    deployment.apps/web could not be read
    "#);
}

#[test]
fn a_raise_is_told_as_kubectl_would() {
    let (from, to) = (1, 2);
    let reason = || Reason::Raise { from, to };
    let timeout = ApiError::Timeout {
        request: "PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale".into(),
        after: Duration::from_secs(5),
    };
    let disconnected = ApiError::Disconnected {
        request: "PATCH /x".into(),
        sent: true,
        source: "connection reset by peer".into(),
    };
    let would = || Effect::WouldRaise { from, to };
    let kept = || Effect::Failed(Failure::Kept { kept: 1, asked: 2 });
    insta::assert_snapshot!(
        lines([
            verdict(reason(), Effect::Raised { from, to }, DryRun::None),
            verdict(reason(), would(), DryRun::Client),
            verdict(reason(), would(), DryRun::Server),
            verdict(reason(), kept(), DryRun::None),
            verdict(reason(), kept(), DryRun::Server),
            verdict(reason(), Effect::Failed(Failure::Conflicts { tries: 4 }), DryRun::None),
            verdict(reason(), Effect::Failed(Failure::from(timeout)), DryRun::None),
            verdict(
                reason(),
                Effect::Failed(Failure::Api(Arc::new(disconnected))),
                DryRun::None
            ),
            verdict(reason(), Effect::NotSent, DryRun::None),
            verdict(reason(), Effect::Withheld, DryRun::None),
            verdict(Reason::Unread, kept(), DryRun::None),
        ]),
        @r"
        deployment.apps/web scaled from 1 to 2
        deployment.apps/web would be scaled from 1 to 2 (dry run)
        deployment.apps/web would be scaled from 1 to 2 (server dry run)
        deployment.apps/web could not be raised from 1 to 2: the server kept 1 although 2 was asked
        deployment.apps/web could not be raised from 1 to 2: the server kept 1 although 2 was asked (server dry run)
        deployment.apps/web could not be raised from 1 to 2: it changed during each of 4 tries
        deployment.apps/web could not be raised from 1 to 2: timed out after 5s waiting for PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale
        deployment.apps/web could not be raised from 1 to 2: the connection was lost during PATCH /x: connection reset by peer
        deployment.apps/web not raised from 1 to 2: stopped before it was sent
        deployment.apps/web not raised from 1 to 2: more changes than are allowed
        deployment.apps/web could not be read: the server kept 1 although 2 was asked
        "
    );
}

/// C-29: who searches the log for what was scaled finds no failures.
#[test]
fn a_failure_never_reads_like_a_success() {
    let reason = Reason::Raise { from: 1, to: 2 };
    let failed = Effect::Failed(Failure::Kept { kept: 1, asked: 2 });
    for effect in [failed, Effect::NotSent, Effect::Withheld] {
        let text = verdict(reason.clone(), effect, DryRun::None).to_string();
        assert!(!text.contains("scaled"), "{text}");
    }
}

#[test]
fn a_verdict_names_the_change_whatever_came_of_it() {
    let reason = || Reason::Raise { from: 0, to: 3 };
    for effect in [
        Effect::Raised { from: 0, to: 3 },
        Effect::WouldRaise { from: 0, to: 3 },
        Effect::Failed(Failure::Conflicts { tries: 4 }),
        Effect::NotSent,
        Effect::Withheld,
    ] {
        assert_eq!(
            verdict(reason(), effect, DryRun::None).change(),
            Some((0, 3))
        );
    }
    let satisfied = Reason::Satisfied {
        replicas: 3,
        min: 2,
    };
    assert_eq!(
        verdict(satisfied, Effect::None, DryRun::None).change(),
        None
    );
}
