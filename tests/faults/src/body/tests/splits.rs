//! However the server's bytes are split into frames, what comes out is the same, and what a plain reading of
//! each fault's description says.

use proptest::{collection::vec, prelude::*, sample::Index, test_runner::TestCaseResult};

use super::*;
/// A fault, its place in lines, and what it makes of a body.
#[derive(Clone, Debug)]
struct Case {
    fault: StreamFault,
    expect: fn(Vec<String>, usize) -> Vec<String>,
}

/// The model: given the lines and the index in them of the one that is hit, if there is one.
fn cases(at: Place) -> Vec<Case> {
    vec![
        Case {
            fault: StreamFault::Truncate(at),
            expect: |mut lines, hit| {
                lines.truncate(hit + 1);
                let half = lines[hit].len() / 2;
                lines[hit].truncate(half);
                lines
            },
        },
        Case {
            fault: StreamFault::Malformed {
                at,
                line: "???".to_owned(),
            },
            expect: |mut lines, hit| {
                lines[hit] = "???\n".to_owned();
                lines
            },
        },
        Case {
            fault: StreamFault::Duplicated(at),
            expect: |mut lines, hit| {
                lines.insert(hit, lines[hit].clone());
                lines
            },
        },
        Case {
            fault: StreamFault::Oversized { at, bytes: 50 },
            expect: |mut lines, hit| {
                let length = lines[hit].len() - 1;
                if lines[hit].starts_with('{') && length < 50 {
                    lines[hit].insert_str(1, &" ".repeat(50 - length));
                }
                lines
            },
        },
        Case {
            fault: StreamFault::Dropped { at, lines: 1 },
            expect: |mut lines, hit| {
                lines.remove(hit);
                lines
            },
        },
    ]
}

/// One of these lines is an event or a bookmark, of which some look much like the other.
fn line() -> impl Strategy<Value = String> {
    let beginning = prop_oneof![
        Just(String::new()),
        Just(r#"{"type":"BOOKMARK","#.to_owned()),
        Just(r#"{"type":"BOOKMAR"#.to_owned()),
        Just(r#"{"type":"ADDED","#.to_owned()),
    ];
    (beginning, "[ -~]{0,12}").prop_map(|(beginning, rest)| format!("{beginning}{rest}\n"))
}

fn place() -> impl Strategy<Value = Place> {
    let of = prop_oneof![
        Just(Counted::Lines),
        Just(Counted::Events),
        Just(Counted::Bookmarks)
    ];
    (0..4_u64, of).prop_map(|(after, of)| Place { after, of })
}

fn fault() -> impl Strategy<Value = StreamFault> {
    (place(), any::<Index>(), 1..3_u64).prop_map(|(at, pick, lines)| {
        let every = Duration::from_millis(10);
        let cut = Cut {
            after_events: Some(at.after),
            of: at.of,
            ..Cut::default()
        };
        let mut all: Vec<_> = cases(at).into_iter().map(|case| case.fault).collect();
        all.extend([
            StreamFault::Cut(cut),
            StreamFault::Cut(cut.with_reset()),
            StreamFault::Expired(at),
            StreamFault::HalfOpen(at),
            StreamFault::Reordered { at, within: HOUR },
            StreamFault::Dropped { at, lines },
            StreamFault::Slow { bytes: 7, every },
        ]);
        pick.get(&all).clone()
    })
}

fn pieces(text: &str, cuts: &[Index]) -> Vec<String> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
    at.sort_unstable();
    let ends = at.iter().copied().chain([text.len()]);
    let mut from = 0;
    ends.map(|end| text[std::mem::replace(&mut from, end)..end].to_owned())
        .collect()
}

/// What is read, and how it ends: well, with an error, or never.
fn outcome(faults: &[StreamFault], pieces: Vec<String>) -> (String, String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let actions = faults.iter().cloned().map(Action::from);
        let mut body = spoilt(actions, stream::iter(pieces));
        let mut text = String::new();
        loop {
            match timeout(2 * HOUR, body.frame()).await {
                Err(_) => return (text, "never".to_owned()),
                Ok(None) => return (text, "end".to_owned()),
                Ok(Some(Err(error))) => return (text, error.to_string()),
                Ok(Some(Ok(frame))) => text.push_str(&super::text(frame.data_ref().unwrap())),
            }
        }
    })
}

fn is_hit(line: &str, of: Counted) -> bool {
    let bookmark = line.starts_with(r#"{"type":"BOOKMARK""#);
    match of {
        Counted::Lines => true,
        Counted::Events => !bookmark,
        Counted::Bookmarks => bookmark,
    }
}

fn compare(at: Place, lines: &[String], cuts: &[Index]) -> TestCaseResult {
    let of_this_kind = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_hit(line, at.of));
    let hit = of_this_kind
        .map(|(index, _)| index)
        .nth(usize::try_from(at.after).unwrap());
    for Case { fault, expect } in cases(at) {
        let (text, end) = outcome(std::slice::from_ref(&fault), pieces(&lines.concat(), cuts));
        let expected = match hit {
            None => lines.to_vec(),
            Some(hit) => expect(lines.to_vec(), hit),
        };
        prop_assert_eq!(
            (text, end.as_str()),
            (expected.concat(), "end"),
            "{:?}",
            fault
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn each_fault_does_what_it_says(
        at in place(),
        lines in vec(line(), 0..6),
        cuts in vec(any::<Index>(), 0..8),
    ) {
        compare(at, &lines, &cuts)?;
    }

    #[test]
    fn frames_make_no_difference(
        faults in vec(fault(), 1..4),
        lines in vec(line(), 0..8),
        newline_at_end in any::<bool>(),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        let mut text = lines.concat();
        if !newline_at_end {
            text.pop();
        }
        let whole = outcome(&faults, vec![text.clone()]);
        prop_assert_eq!(outcome(&faults, pieces(&text, &cuts)), whole.clone());
        let single = text.chars().map(String::from).collect();
        prop_assert_eq!(outcome(&faults, single), whole);
    }
}
