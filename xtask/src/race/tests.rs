use tokio::time::{Duration, Instant};

use super::command::{explain, select};
use super::contest::{Better, Case, Contest, Goal};
use super::queue;
use super::report::Report;
use super::rounds::{self, Entry, Outcome, Row};
use super::stats::Stats;
use super::subject::{Entrant, Subject, SubjectError};
use super::table::table;

const SUBJECTS: [&str; 2] = ["ours", "peer"];

/// Long enough for a shell on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

const FAST: Case = Case {
    name: "fast",
    unit: "keys/s",
    better: Better::Higher,
    goal: Some(Goal::Times(3.0)),
};

const SMALL: Case = Case {
    name: "small",
    unit: "bytes",
    better: Better::Lower,
    goal: Some(Goal::AtMost(100.0)),
};

/// Answers what it has to.
const WELL: &str = r#"
    case "$1 $2" in
    "describe ") echo '{"subject": "x", "version": "v1"}' ;;
    "queue fast") echo '{"case": "fast", "unit": "keys/s", "value": 40}' ;;
    "queue small") echo '{"case": "small", "unit": "bytes", "value": 99.5}' ;;
    *) exit 9 ;;
    esac"#;

fn stats(samples: &[f64]) -> Option<(f64, f64, f64)> {
    Stats::of(samples).map(|stats| (stats.median, stats.min, stats.max))
}

fn entrant(name: &'static str, script: &str) -> Entrant {
    Entrant {
        name,
        subject: Ok(Subject::script(script, LIMIT)),
    }
}

fn contest(ours: Entrant, peer: Entrant) -> Contest {
    Contest {
        name: "queue",
        cases: vec![FAST, SMALL],
        entrants: vec![ours, peer],
    }
}

fn entry(samples: &[f64]) -> Option<Entry> {
    Stats::of(samples).map(|stats| Entry {
        stats,
        version: "v1".into(),
    })
}

/// A report of one row.
fn report(case: Case, ours: &[f64], peer: &[f64]) -> Report {
    let entries = vec![entry(ours), entry(peer)];
    let outcome = Outcome {
        rows: vec![Row { case, entries }],
        failures: Vec::new(),
    };
    Report::new("queue", "2 cores".into(), ours.len(), &SUBJECTS, outcome)
}

/// What `sample` makes of a subject that does this when it is asked for the case `fast`.
async fn why(script: &str) -> String {
    let subject = Subject::script(script, LIMIT);
    let why = subject.sample("queue", &FAST).await.unwrap_err();
    let (subject, case) = ("peer", Some("fast"));
    explain(&rounds::Failure { subject, case, why })
}

#[test]
fn the_median_of_an_even_number_lies_between_the_middle_two() {
    assert_eq!(stats(&[3.0, 1.0, 2.0]), Some((2.0, 1.0, 3.0)));
    assert_eq!(stats(&[8.0, 1.0, 2.0, 4.0]), Some((3.0, 1.0, 8.0)));
    assert_eq!(stats(&[5.0]), Some((5.0, 5.0, 5.0)));
    assert_eq!(stats(&[]), None);
}

#[test]
fn a_spread_of_a_quarter_is_still_steady() {
    assert!(!Stats::of(&[90.0, 100.0, 115.0]).unwrap().is_wide());
    assert!(Stats::of(&[90.0, 100.0, 116.0]).unwrap().is_wide());
    assert_eq!(
        report(FAST, &[1.0, 2.0], &[1.0, 1.0]).unsteady(),
        [("fast", "ours")]
    );
}

#[test]
fn a_ratio_above_one_is_better_whichever_way_the_values_point() {
    assert_eq!(Better::Higher.ratio(60.0, 20.0), 3.0);
    assert_eq!(Better::Lower.ratio(60.0, 20.0), 1.0 / 3.0);
    assert_eq!(report(FAST, &[60.0], &[20.0]).rows[0].ratio["peer"], 3.0);
    assert_eq!(report(SMALL, &[20.0], &[60.0]).rows[0].ratio["peer"], 3.0);
}

#[test]
fn a_goal_is_reached_at_its_very_value() {
    let reached = |case, ours, peer| report(case, ours, peer).rows[0].reached(&SUBJECTS);
    assert_eq!(reached(FAST, &[60.0], &[20.0]), Some(true));
    assert_eq!(reached(FAST, &[59.0], &[20.0]), Some(false));
    assert_eq!(reached(SMALL, &[100.0], &[1.0]), Some(true));
    assert_eq!(reached(SMALL, &[100.5], &[900.0]), Some(false));
    // Without a peer there is nothing to be better than; a plain limit needs none.
    assert_eq!(reached(FAST, &[60.0], &[]), None);
    assert_eq!(reached(FAST, &[], &[20.0]), None);
    assert_eq!(reached(SMALL, &[60.0], &[]), Some(true));
    assert_eq!(reached(Case { goal: None, ..FAST }, &[60.0], &[20.0]), None);
}

#[test]
fn the_report_has_the_agreed_shape() {
    let report = report(FAST, &[70.0, 60.0, 61.5], &[20.0, 30.5, 10.0]);
    let text = serde_json::to_string_pretty(&report).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "race": "queue",
      "machine": "2 cores",
      "rounds": 3,
      "rows": [
        {
          "case": "fast",
          "unit": "keys/s",
          "better": "higher",
          "subjects": {
            "ours": {
              "median": 61.5,
              "min": 60.0,
              "max": 70.0,
              "version": "v1"
            },
            "peer": {
              "median": 20.0,
              "min": 10.0,
              "max": 30.5,
              "version": "v1"
            }
          },
          "ratio": {
            "peer": 3.075
          }
        }
      ]
    }
    "#);
}

#[test]
fn a_report_replaces_the_one_before_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("race");
    report(FAST, &[1.0], &[1.0]).write(&below).unwrap();
    report(FAST, &[7.0], &[1.0]).write(&below).unwrap();
    let names: Vec<_> = std::fs::read_dir(&below)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["queue.json"]);
    let text = std::fs::read_to_string(below.join("queue.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["rows"][0]["subjects"]["ours"]["median"], 7.0);
}

#[tokio::test]
async fn every_subject_runs_every_case_and_the_table_shows_it() {
    let peer = WELL.replace("40", "16").replace("99.5", "130");
    let outcome = rounds::run(contest(entrant("ours", WELL), entrant("peer", &peer)), 2).await;
    assert!(outcome.failures.is_empty());
    let report = Report::new("queue", "2 cores".into(), 2, &SUBJECTS, outcome);
    insta::assert_snapshot!(table(&report, &SUBJECTS), @"
    case   unit                   ours                 peer  better than peer  goal
    fast   keys/s  40.0 (40.0 to 40.0)  16.0 (16.0 to 16.0)            2.50 x  3 x: MISSED
    small  bytes   99.5 (99.5 to 99.5)     130 (130 to 130)            1.31 x  at most 100: reached
    ");
}

#[tokio::test]
async fn the_subjects_take_turns_and_who_is_first_changes() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let noting = |name| {
        let script = format!("echo \"{name} $2\" >>'{}'\n{WELL}", log.display());
        entrant(name, &script)
    };
    let mut contest = contest(noting("ours"), noting("peer"));
    contest.cases.truncate(1);
    rounds::run(contest, 3).await;
    let text = std::fs::read_to_string(&log).unwrap();
    let order: Vec<&str> = text.lines().filter(|line| line.ends_with("fast")).collect();
    let (ours, peer) = ("ours fast", "peer fast");
    assert_eq!(order, [ours, peer, peer, ours, ours, peer]);
}

#[tokio::test]
async fn a_subject_that_fails_in_a_case_is_out_of_that_case_only() {
    let broken = WELL.replace(
        "echo '{\"case\": \"fast\"",
        "echo cannot >&2; exit 3; echo '{",
    );
    let outcome = rounds::run(contest(entrant("ours", WELL), entrant("peer", &broken)), 3).await;
    let failures: Vec<String> = outcome.failures.iter().map(explain).collect();
    assert_eq!(
        failures,
        ["peer in fast: it failed (exit status: 3): cannot"]
    );
    let report = Report::new("queue", "2 cores".into(), 3, &SUBJECTS, outcome);
    insta::assert_snapshot!(table(&report, &SUBJECTS), @"
    case   unit                   ours                 peer  better than peer  goal
    fast   keys/s  40.0 (40.0 to 40.0)                    -                 -  3 x: not judged
    small  bytes   99.5 (99.5 to 99.5)  99.5 (99.5 to 99.5)            1.00 x  at most 100: reached
    ");
    assert!(!report.rows[0].subjects.contains_key("peer"));
    assert!(report.rows[0].ratio.is_empty());
}

#[tokio::test]
async fn a_subject_that_is_not_built_does_not_keep_the_other_from_running() {
    let peer = Entrant {
        name: "peer",
        subject: Err(SubjectError::Build("go is not on PATH".into())),
    };
    let outcome = rounds::run(contest(entrant("ours", WELL), peer), 1).await;
    let failures: Vec<String> = outcome.failures.iter().map(explain).collect();
    assert_eq!(failures, ["peer: it cannot be built: go is not on PATH"]);
    assert!(outcome.rows.iter().all(|row| row.entries[0].is_some()));
    assert!(outcome.rows.iter().all(|row| row.entries[1].is_none()));
}

#[tokio::test]
async fn a_subject_that_hangs_is_killed() {
    let limit = Duration::from_millis(300);
    let hanging = Subject::script("exec sleep 1000", limit);
    let start = Instant::now();
    let error = hanging.sample("queue", &FAST).await.unwrap_err();
    assert_eq!(error.to_string(), "it still ran after 0.3 s");
    assert!(start.elapsed() < LIMIT);
}

#[tokio::test]
async fn what_is_no_sample_is_told_as_such() {
    let answers = [
        "true",
        "echo nonsense",
        r#"printf '{"case": "fast", "unit": "keys/s", "value": 1}\n{"case": "fast"}\n'"#,
        r#"echo '{"case": "slow", "unit": "keys/s", "value": 1}'"#,
        r#"echo '{"case": "fast", "unit": "ms", "value": 1}'"#,
        r#"echo '{"case": "fast", "unit": "keys/s", "value": 0}'"#,
        r#"echo '{"case": "fast", "unit": "keys/s", "value": "NaN"}'"#,
        r#"echo '{"case": "fast", "unit": "keys/s", "value": 1}'; exit 1"#,
        "kill -9 $$",
    ];
    let mut texts = Vec::new();
    for answer in answers {
        texts.push(why(answer).await);
    }
    insta::assert_snapshot!(texts.join("\n"), @r#"
    peer in fast: it printed no sample but "": EOF while parsing a value at line 1 column 0
    peer in fast: it printed no sample but "nonsense\n": expected ident at line 1 column 2
    peer in fast: it printed no sample but "{\"case\": \"fast\", \"unit\": \"keys/s\", \"value\": 1}\n{\"case\": \"fast\"}\n": trailing characters at line 2 column 1
    peer in fast: it measured slow in keys/s
    peer in fast: it measured fast in ms
    peer in fast: it measured 0, which cannot be
    peer in fast: it printed no sample but "{\"case\": \"fast\", \"unit\": \"keys/s\", \"value\": \"NaN\"}\n": invalid type: string "NaN", expected f64 at line 1 column 49
    peer in fast: it failed (exit status: 1)
    peer in fast: it failed (signal: 9 (SIGKILL))
    "#);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let subject = Subject::new("/nowhere/at-all".into());
    let why = subject.version().await.unwrap_err();
    let (subject, case) = ("peer", None);
    assert_eq!(
        explain(&rounds::Failure { subject, case, why }),
        "peer: cannot run /nowhere/at-all: No such file or directory (os error 2)"
    );
}

#[tokio::test]
async fn the_version_names_the_commit() {
    let subject = Subject::script(WELL, LIMIT);
    assert_eq!(subject.version().await.unwrap(), "v1");
    let version = subject.at("84a2d09-dirty".into()).version().await;
    assert_eq!(version.unwrap(), "v1 (84a2d09-dirty)");
}

#[test]
fn cases_keep_their_order_and_unknown_ones_are_refused() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let selected = select(queue::cases(), &names(&["growth", "2p2w"])).unwrap();
    let selected: Vec<&str> = selected.iter().map(|case| case.name).collect();
    assert_eq!(selected, ["2p2w", "growth"]);
    assert_eq!(select(queue::cases(), &[]).unwrap().len(), 10);
    let error = select(vec![FAST, SMALL], &names(&["slow"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no case slow; there are fast, small"
    );
}

#[test]
fn the_definitions_name_every_case_with_its_unit_and_direction() {
    let readme = crate::task::root().join("tests/peers/README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    for case in queue::cases() {
        let row = format!("| `{}` |", case.name);
        let row = text.lines().find(|line| line.starts_with(&row));
        let row = row.unwrap_or_else(|| panic!("{} has no row", case.name));
        let better = format!("{:?}", case.better).to_lowercase();
        let end = format!("| {} | {better} |", case.unit);
        assert!(row.contains(&end), "{row} does not say {end}");
        let goal = match case.goal {
            None => "| |".to_owned(),
            Some(Goal::Times(times)) => format!("| {times} time"),
            Some(Goal::AtMost(limit)) => format!("| at most {limit} |"),
        };
        assert!(row.contains(&goal), "{row} does not say {goal}");
    }
}
