//! Passes for the tests of this folder.

use std::sync::Arc;
use std::time::Duration;

use controller_core::client::{Answer, ApiError, ObjectKey, Target, Verb};
use controller_core::controllers::min_replicas::{
    DryRun, Effect, Failure, OptIn, Reason, ScaledBy, Verdict,
};

use super::Pass;

pub(crate) fn verdict(name: &str, reason: Reason, effect: Effect) -> Verdict {
    Verdict {
        key: ObjectKey::namespaced("shop", name),
        uid: Some(format!("uid-{name}")),
        reason,
        effect,
        dry_run: DryRun::None,
        rejected_min: None,
    }
}

pub(crate) fn raised(name: &str, from: i32) -> Verdict {
    verdict(
        name,
        Reason::Raise { from, to: 2 },
        Effect::Raised { from, to: 2 },
    )
}

pub(crate) fn would_raise(name: &str, dry_run: DryRun) -> Verdict {
    Verdict {
        dry_run,
        ..verdict(
            name,
            Reason::Raise { from: 1, to: 2 },
            Effect::WouldRaise { from: 1, to: 2 },
        )
    }
}

pub(crate) fn failed(name: &str, failure: impl Into<Failure>) -> Verdict {
    verdict(
        name,
        Reason::Raise { from: 1, to: 2 },
        Effect::Failed(failure.into()),
    )
}

pub(crate) fn satisfied(name: &str) -> Verdict {
    verdict(
        name,
        Reason::Satisfied {
            replicas: 3,
            min: 2,
        },
        Effect::None,
    )
}

pub(crate) fn not_opted_in(name: &str, found: Option<&str>) -> Verdict {
    verdict(
        name,
        Reason::NotOptedIn {
            opt_in: OptIn::default(),
            found: found.map(str::to_owned),
        },
        Effect::None,
    )
}

pub(crate) fn autoscaled(name: &str) -> Verdict {
    verdict(
        name,
        Reason::Autoscaled {
            by: ScaledBy::HorizontalPodAutoscaler(format!("{name}-hpa")),
            hindrance: None,
        },
        Effect::None,
    )
}

pub(crate) fn pass(verdicts: Vec<Verdict>) -> Pass {
    let planned = verdicts.iter().filter(|it| it.change().is_some()).count();
    Pass {
        verdicts,
        missing: Vec::new(),
        dry_run: DryRun::None,
        planned,
        max_changes: None,
        too_many: None,
        interrupted: false,
        timed_out: None,
        synced: true,
        not_looked_at: 0,
        unanswered: 0,
        warnings: Vec::new(),
        elapsed: Duration::from_millis(3149),
    }
}

/// What a server answers to the write of `name`.
pub(crate) fn answer(name: &str, code: u16, reason: &str, message: &str) -> Box<Answer> {
    Box::new(Answer {
        code,
        reason: reason.to_owned(),
        message: message.to_owned(),
        details: None,
        retry_after: None,
        from_api: true,
        verb: Verb::Patch,
        target: Target {
            resource: "deployments.apps/scale".into(),
            namespace: Some("shop".into()),
            name: Some(name.into()),
        },
    })
}

pub(crate) fn forbidden(name: &str) -> ApiError {
    ApiError::Forbidden(answer(
        name,
        403,
        "Forbidden",
        &format!(
            "deployments.apps {name:?} is forbidden: User \"ana\" cannot patch resource \
             \"deployments/scale\" in API group \"apps\" in the namespace \"shop\""
        ),
    ))
}

pub(crate) fn no_space(name: &str) -> ApiError {
    ApiError::Server(answer(
        name,
        500,
        "",
        "etcdserver: mvcc: database space exceeded",
    ))
}

pub(crate) fn timed_out() -> Failure {
    Failure::Api(Arc::new(ApiError::Timeout {
        request: "PATCH /apis/apps/v1/namespaces/shop/deployments/api/scale".into(),
        after: Duration::from_secs(30),
    }))
}
