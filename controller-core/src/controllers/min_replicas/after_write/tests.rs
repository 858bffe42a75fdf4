use super::*;
use crate::client::{Answer, ObjectKey, Target, Verb};
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

const REFUSALS: [Refusal; 4] = [
    Refusal::Conflict,
    Refusal::Refused,
    Refusal::Doubtful,
    Refusal::Lost,
];

const LOOKS: [(&str, Live<'_>); 8] = [
    ("gone", Live::Gone),
    ("unread", Live::Unread),
    ("unchanged", found("u1", "7", 1)),
    ("touched", found("u1", "8", 1)),
    ("at our number", found("u1", "8", 2)),
    ("higher", found("u1", "8", 10)),
    ("another uid", found("u2", "8", 1)),
    ("another uid at our number", found("u2", "8", 2)),
];

const fn found(uid: &'static str, resource_version: &'static str, number: i32) -> Live<'static> {
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
    let mut table = format!(
        "{:27}{:14}{:14}{:14}{:14}{}\n",
        "", "Conflict", "Refused", "Doubtful", "Lost", "Lost, dry run"
    );
    let raise = raise(Through::Scale);
    for (look, live) in LOOKS {
        table.push_str(&format!("{look:27}"));
        for refusal in REFUSALS {
            let next = word(after_refusal(refusal, &raise, live, false));
            table.push_str(&format!("{next:14}"));
        }
        let next = word(after_refusal(Refusal::Lost, &raise, live, true));
        table.push_str(&format!("{next}\n"));
    }
    insta::assert_snapshot!(table, @r"
                               Conflict      Refused       Doubtful      Lost          Lost, dry run
    gone                       gone          gone          gone          gone          gone
    unread                     report read   report write  report write  report write  report write
    unchanged                  plan again    report write  report write  report write  report write
    touched                    plan again    plan again    plan again    plan again    plan again
    at our number              plan again    plan again    plan again    done          plan again
    higher                     plan again    plan again    plan again    plan again    plan again
    another uid                plan again    plan again    plan again    plan again    plan again
    another uid at our number  plan again    plan again    plan again    plan again    plan again
    ");
}

#[test]
fn a_failed_write_counts_unless_the_guarded_object_is_still_there() {
    let mut table = format!(
        "{:27}{:10}{:10}{:10}{}\n",
        "", "Conflict", "Refused", "Doubtful", "Lost"
    );
    let raise = raise(Through::Scale);
    for (look, live) in LOOKS {
        table.push_str(&format!("{look:27}"));
        for refusal in REFUSALS {
            let nothing = left_nothing(refusal, &raise, live);
            let word = if nothing { "" } else { "counts" };
            table.push_str(&format!("{word:10}"));
        }
        let trimmed = table.trim_end().len();
        table.truncate(trimmed);
        table.push('\n');
    }
    insta::assert_snapshot!(table, @r"
                               Conflict  Refused   Doubtful  Lost
    gone                                           counts    counts
    unread                                         counts    counts
    unchanged                                                counts
    touched                                        counts    counts
    at our number                                  counts    counts
    higher                                         counts    counts
    another uid                                    counts    counts
    another uid at our number                      counts    counts
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
    let answered = |code| {
        let status = serde_json::from_value(serde_json::json!({
            "status": "Failure", "code": code, "message": "no",
        }));
        let answer = Answer::from_status(Verb::Patch, Target::default(), status.unwrap());
        Refusal::from(&ApiError::from(answer))
    };
    for code in [400, 401, 403, 404, 408, 422, 429] {
        assert_eq!(answered(code), Refusal::Refused, "{code}");
    }
    for code in [500, 503, 507] {
        assert_eq!(answered(code), Refusal::Doubtful, "{code}");
    }
    for code in [502, 504] {
        assert_eq!(answered(code), Refusal::Lost, "{code}");
    }
    assert_eq!(answered(409), Refusal::Conflict);
}
