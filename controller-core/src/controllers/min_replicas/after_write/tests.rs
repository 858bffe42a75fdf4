use super::*;
use crate::client::ObjectKey;
use crate::controllers::min_replicas::Through;

fn raise(through: Through) -> Raise {
    Raise {
        key: ObjectKey::namespaced("shop", "web"),
        uid: "u1".into(),
        resource_version: "7".into(),
        from: 1,
        to: 2,
        through,
    }
}

fn found(uid: &'static str, resource_version: &'static str, number: i32) -> Live<'static> {
    Live::Found {
        uid,
        resource_version,
        number,
    }
}

fn word(next: Next) -> &'static str {
    match next {
        Next::Gone => "gone",
        Next::Done => "done",
        Next::PlanAgain => "plan again",
        Next::ReportWrite => "report write",
        Next::ReportRead => "report read",
    }
}

#[test]
fn what_comes_next_depends_on_the_refusal_and_on_the_live_object() {
    let looks = [
        ("gone", Live::Gone),
        ("unread", Live::Unread),
        ("unchanged", found("u1", "7", 1)),
        ("touched", found("u1", "8", 1)),
        ("at our number", found("u1", "8", 2)),
        ("higher", found("u1", "8", 10)),
        ("another uid", found("u2", "8", 1)),
        ("another uid at our number", found("u2", "8", 2)),
    ];
    let refusals = [Refusal::Conflict, Refusal::Refused, Refusal::Lost];
    let mut table = format!(
        "{:27}{:14}{:14}{:14}{}\n",
        "", "Conflict", "Refused", "Lost", "Lost, dry run"
    );
    let raise = raise(Through::Scale);
    for (look, live) in looks {
        table.push_str(&format!("{look:27}"));
        for refusal in refusals {
            let next = word(after_refusal(refusal, &raise, live, false));
            table.push_str(&format!("{next:14}"));
        }
        let next = word(after_refusal(Refusal::Lost, &raise, live, true));
        table.push_str(&format!("{next}\n"));
    }
    insta::assert_snapshot!(table, @r"
                               Conflict      Refused       Lost          Lost, dry run
    gone                       gone          gone          gone          gone
    unread                     report read   report write  report write  report write
    unchanged                  plan again    report write  report write  report write
    touched                    plan again    plan again    plan again    plan again
    at our number              plan again    plan again    done          plan again
    higher                     plan again    plan again    plan again    plan again
    another uid                plan again    plan again    plan again    plan again
    another uid at our number  plan again    plan again    plan again    plan again
    ");
}

/// Of a raise through an autoscaler it is the autoscaler that must not have changed.
#[test]
fn the_object_that_was_written_to_is_the_one_that_is_compared() {
    let raise = raise(Through::Autoscaler {
        name: "web-hpa".into(),
        uid: "h1".into(),
        resource_version: "9".into(),
    });
    let next = |live| after_refusal(Refusal::Refused, &raise, live, false);
    assert_eq!(next(found("h1", "9", 1)), Next::ReportWrite);
    assert_eq!(next(found("u1", "7", 1)), Next::PlanAgain);
}

#[test]
fn only_an_answer_that_may_be_missing_is_lost() {
    let timeout = ApiError::Timeout {
        request: "PATCH /x".into(),
        after: tokio::time::Duration::from_secs(5),
    };
    let refused = ApiError::Refused {
        server: "a:1".into(),
    };
    assert_eq!(Refusal::from(&timeout), Refusal::Lost);
    assert_eq!(Refusal::from(&refused), Refusal::Refused);
}
