use serde_json::json;

use super::*;
use crate::client::ObjectKey;

fn raise() -> Raise {
    Raise {
        key: ObjectKey::namespaced("shop", "web"),
        uid: "u1".into(),
        resource_version: "7".into(),
        from: 1,
        to: 2,
    }
}

fn deployment(uid: &str, resource_version: &str, replicas: i32) -> Deployment {
    serde_json::from_value(json!({
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": uid,
            "resourceVersion": resource_version,
        },
        "spec": {"replicas": replicas},
    }))
    .unwrap()
}

fn word(next: Next<'_>) -> &'static str {
    match next {
        Next::Gone => "gone",
        Next::Done => "done",
        Next::PlanAgain(_) => "plan again",
        Next::ReportWrite => "report write",
        Next::ReportRead => "report read",
    }
}

#[test]
fn what_comes_next_depends_on_the_refusal_and_on_the_live_object() {
    let unchanged = deployment("u1", "7", 1);
    let touched = deployment("u1", "8", 1);
    let ours = deployment("u1", "8", 2);
    let higher = deployment("u1", "8", 10);
    let recreated = deployment("u2", "8", 1);
    let recreated_at_two = deployment("u2", "8", 2);
    let looks = [
        ("gone", Live::Gone),
        ("unread", Live::Unread),
        ("unchanged", Live::Found(&unchanged)),
        ("touched", Live::Found(&touched)),
        ("at our number", Live::Found(&ours)),
        ("higher", Live::Found(&higher)),
        ("another uid", Live::Found(&recreated)),
        ("another uid at our number", Live::Found(&recreated_at_two)),
    ];
    let refusals = [Refusal::Conflict, Refusal::Refused, Refusal::Lost];
    let mut table = format!(
        "{:27}{:14}{:14}{:14}{}\n",
        "", "Conflict", "Refused", "Lost", "Lost, dry run"
    );
    for (look, live) in looks {
        table.push_str(&format!("{look:27}"));
        for refusal in refusals {
            let next = word(after_refusal(refusal, &raise(), live, false));
            table.push_str(&format!("{next:14}"));
        }
        let next = word(after_refusal(Refusal::Lost, &raise(), live, true));
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
