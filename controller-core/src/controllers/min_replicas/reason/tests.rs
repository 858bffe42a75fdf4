use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::*;

/// One reason after the other: whoever adds one has to put it in here, and so on the page.
fn after(reason: Option<&Reason>) -> Option<Reason> {
    let (from, to) = (1, 2);
    let autoscaler = || "web".to_owned();
    Some(match reason {
        None => Reason::BeingDeleted,
        Some(Reason::BeingDeleted) => Reason::NotOptedIn {
            opt_in: OptIn::default(),
            found: None,
        },
        Some(Reason::NotOptedIn { .. }) => Reason::NotSelected {
            selector: "a=b".into(),
        },
        Some(Reason::NotSelected { .. }) => Reason::NamespacePaused {
            namespace: "shop".into(),
        },
        Some(Reason::NamespacePaused { .. }) => Reason::NamespaceExcluded {
            namespace: "shop".into(),
        },
        Some(Reason::NamespaceExcluded { .. }) => Reason::Owned {
            owner: Owner {
                kind: "Foo".into(),
                name: "f1".into(),
            },
        },
        Some(Reason::Owned { .. }) => Reason::ZeroKept {
            by: ZeroKeptBy::Setting,
        },
        Some(Reason::ZeroKept { .. }) => Reason::RaiseMin {
            autoscaler: autoscaler(),
            from,
            to,
        },
        Some(Reason::RaiseMin { .. }) => Reason::MinAboveMax {
            autoscaler: autoscaler(),
            max: 1,
            from,
            to,
        },
        Some(Reason::MinAboveMax { .. }) => Reason::Satisfied {
            replicas: 2,
            min: 2,
        },
        Some(Reason::Satisfied { .. }) => Reason::Autoscaled {
            by: ScaledBy::ScaledObject("web".into()),
            hindrance: None,
        },
        Some(Reason::Autoscaled { .. }) => Reason::Fight {
            autoscaler: None,
            opponent: Opponent::Unknown,
            wait: Duration::from_secs(60),
        },
        Some(Reason::Fight { .. }) => Reason::Budget {
            limit: 100,
            wait: Duration::from_secs(1),
        },
        Some(Reason::Budget { .. }) => Reason::Raise { from, to },
        Some(Reason::Raise { .. }) => Reason::NoLongerExists,
        Some(Reason::NoLongerExists) => Reason::NoLongerOptedIn,
        Some(Reason::NoLongerOptedIn) => Reason::Unread,
        Some(Reason::Unread) => return None,
    })
}

/// All of them, in the order in which they are asked.
fn all() -> Vec<Reason> {
    std::iter::successors(after(None), |reason| after(Some(reason))).collect()
}

/// The first cell of each row of the page's tables.
fn documented() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reasons.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

#[test]
fn the_page_has_each_reason_once_in_the_order_in_which_they_are_asked() {
    let names: Vec<&str> = all().iter().map(Reason::name).collect();
    assert_eq!(documented(), names);
}

#[test]
fn each_name_is_its_own() {
    let names: BTreeSet<&str> = all().iter().map(Reason::name).collect();
    assert_eq!(names.len(), all().len());
}

#[test]
fn a_wait_that_grows_shorter_is_the_same_decision() {
    let budget = |seconds| Reason::Budget {
        limit: 100,
        wait: Duration::from_secs(seconds),
    };
    assert!(budget(7).is_same_decision(&budget(3)));
    let fight = |minutes: u64| Reason::Fight {
        autoscaler: None,
        opponent: Opponent::Unknown,
        wait: Duration::from_secs(60 * minutes),
    };
    assert!(!fight(1).is_same_decision(&fight(2)));
}
