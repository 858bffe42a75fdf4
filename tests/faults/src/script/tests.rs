//! What a script file may say, and what is refused where.

use std::time::Duration;

use http::HeaderValue;

use super::*;
use crate::{Action, Past, Place, StreamFault, Verb};

fn refusal(yaml: &str) -> String {
    Script::parse(yaml).expect_err("a refusal").to_string()
}

#[test]
fn a_file_and_a_builder_say_the_same() {
    let mut script = Script::parse(
        "
rules:
  - name: busy
    match: {verb: list, resource: deployments, namespace: shop}
    attempts: 1..=3
    do: {status: {code: 429, message: storage is (re)initializing, retry_after: 1}}
  - match:
      verb: [update, patch]
      resource: deployments/scale
      name: web-*
      query: {dryRun: '*'}
      without: force
    per_object: true
    attempts: 1
    window: 5s..1m30s
    do: [delay: 250ms, lost_answer]
  - do: {cut: {after_events: 2, after: 5s, how: reset}}
  - do: {truncate: {after_events: 1}}
  - do: {expired: {as: event, after_events: 4}}
  - do: {expired: {as: status}}
  - do: hang
  - do: {half_open: {after_events: 1}}
  - do: {malformed: {after_events: 1, line: '{'}}
  - do:
      - duplicated: {after_events: 1, of: events}
      - reordered: {after_events: 2}
      - reordered: {of: bookmarks, within: 5s}
      - oversized: {after_events: 3, bytes: 2097152}
      - dropped: {after_events: 4}
      - dropped: {lines: 3}
      - spoilt_item: {after_items: 2, item: '{}'}
      - slow: {bytes: 64, every: 100ms}
  - do: {false_answer: {code: 500, message: etcd took too long}}
  - do: {answer_from: {revision: 40}}
  - do: {restore: {behind: 10}}
  - do: {status: {code: 502, content_type: text/html, body: <html>, headers: {x-from: gateway}}}
",
    )
    .unwrap();
    let built = Script::from(vec![
        Rule::new(
            Action::status(429)
                .message("storage is (re)initializing")
                .retry_after(1),
        )
        .named("busy")
        .verb(Verb::List)
        .resource("deployments")
        .namespace("shop")
        .attempts(1..=3),
        Rule::new(Action::Delay(Duration::from_millis(250)))
            .then(Action::LostAnswer)
            .verb(Verb::Update)
            .verb(Verb::Patch)
            .resource("deployments/scale")
            .object("web-*")
            .query("dryRun", "*")
            .without("force")
            .per_object()
            .attempts(1)
            .window(Duration::from_secs(5)..Duration::from_secs(90)),
        Rule::new(
            crate::Cut {
                after: Some(Duration::from_secs(5)),
                ..Action::cut_after_events(2)
            }
            .with_reset(),
        ),
        Rule::new(Action::truncate_after_events(1)),
        Rule::new(Action::expired_in_stream(4)),
        Rule::new(Action::Expired),
        Rule::new(Action::Hang),
        Rule::new(Action::half_open_after_events(1)),
        Rule::new(Action::malformed(1, "{")),
        Rule::new(Action::duplicated(Place::events(1)))
            .then(Action::reordered(2))
            .then(StreamFault::Reordered {
                at: Place::bookmarks(0),
                within: Duration::from_secs(5),
            })
            .then(Action::oversized(3, 2 * 1024 * 1024))
            .then(Action::dropped(4))
            .then(StreamFault::Dropped {
                at: 0.into(),
                lines: 3,
            })
            .then(Action::spoilt_item(2, "{}"))
            .then(Action::slow(64, Duration::from_millis(100))),
        Rule::new(Action::false_answer(
            Action::status(500).message("etcd took too long"),
        )),
        Rule::new(Action::AnswerFrom(Past::Revision(40))),
        Rule::new(Action::Restore(Past::Behind(10))),
        Rule::new(
            Action::status(502)
                .body(HeaderValue::from_static("text/html"), "<html>")
                .header(
                    http::HeaderName::from_static("x-from"),
                    HeaderValue::from_static("gateway"),
                ),
        ),
    ]);
    let lines: Vec<_> = script
        .rules
        .iter_mut()
        .map(|rule| rule.line.take())
        .collect();
    assert_eq!(lines[..3], [Some(3), Some(7), Some(17)]);
    assert_eq!(script, built);
}

#[test]
fn an_unknown_word_is_refused_with_its_line() {
    insta::assert_snapshot!(refusal("rules:\n  - match: {verb: list}\n    attempt: 3\n    do: hang\n"), @"line 3, column 5: unknown field `attempt`, expected one of name, match, attempts, per_object, window, do");
    insta::assert_snapshot!(refusal("rules:\n  - match:\n      verb: fetch\n    do: hang\n"), @"line 3, column 13: unknown verb `fetch`, expected one of get, list, watch, create, update, patch, delete, deletecollection");
    insta::assert_snapshot!(refusal("rules:\n  - match:\n      resources: pods\n    do: hang\n"), @"line 3, column 7: unknown field `resources`, expected one of verb, group, resource, namespace, name, path, query, without");
    insta::assert_snapshot!(refusal("rules:\n  - do: explode\n"), @"line 2, column 5: unknown variant `explode`, expected one of status, delay, delay_answer, hang, reset, lost_answer, false_answer, cut, truncate, expired, half_open, malformed, duplicated, reordered, oversized, dropped, spoilt_item, slow, answer_from, restore, opaque_revisions");
    insta::assert_snapshot!(refusal("rules:\n  - do:\n      cut: {after_event: 3}\n"), @"line 3, column 13: unknown field `after_event`, expected one of after_events, of, after, how");
}

#[test]
fn a_value_that_makes_no_sense_is_refused_with_its_line() {
    insta::assert_snapshot!(refusal("rules:\n  - do: hang\n    attempts: 3..1\n"), @"line 3, column 15: `3..1` holds no attempt");
    insta::assert_snapshot!(refusal("rules:\n  - do:\n      delay: soon\n"), @"line 3, column 14: `soon` is no duration; write 500ms, 2s or 1m30s");
    insta::assert_snapshot!(refusal("rules:\n  - do:\n      status: {code: 99}\n"), @"line 3, column 22: `99` is no HTTP status code");
    insta::assert_snapshot!(refusal("rules:\n  - do: hang\n    window: 20s..5s\n"), @"line 3, column 13: `20s..5s` holds no time");
    insta::assert_snapshot!(refusal("rules:\n  - attempts: 1\n"), @"line 2, column 5: missing field `do`");
}

#[test]
fn what_spoils_a_body_has_limits() {
    let words = |words: &str| refusal(&format!("rules:\n  - do:\n      {words}\n"));
    insta::assert_snapshot!(words("duplicated: {after_events: many}"), @"line 3, column 34: `many` is no number of lines");
    insta::assert_snapshot!(words("duplicated: {after_events: 1, of: changes}"), @"line 3, column 41: unknown variant `changes`, expected one of lines, events, bookmarks");
    insta::assert_snapshot!(words("duplicated: {after: 1}"), @"line 3, column 20: unknown field `after`, expected one of after_events, of");
    insta::assert_snapshot!(words("reordered: {within: 0s}"), @"line 3, column 27: `0s` is no time at all; it must be more than zero");
    insta::assert_snapshot!(words("oversized: {after_events: 1}"), @"line 3, column 19: missing field `bytes`");
    insta::assert_snapshot!(words("oversized: {bytes: 0}"), @"line 3, column 26: `0` is no number of bytes from 1 to 67108864 (64 MiB)");
    insta::assert_snapshot!(words("oversized: {bytes: 67108865}"), @"line 3, column 26: `67108865` is no number of bytes from 1 to 67108864 (64 MiB)");
    insta::assert_snapshot!(words("oversized: {bytes: 2MiB}"), @"line 3, column 26: `2MiB` is no number of bytes from 1 to 67108864 (64 MiB)");
    insta::assert_snapshot!(words("dropped: {lines: 0}"), @"line 3, column 24: `0` is no whole number above zero");
    insta::assert_snapshot!(words("slow: {bytes: 0, every: 1s}"), @"line 3, column 21: `0` is no number of bytes from 1 to 67108864 (64 MiB)");
    insta::assert_snapshot!(words("slow: {bytes: 64, every: 0ms}"), @"line 3, column 32: `0ms` is no time at all; it must be more than zero");
    insta::assert_snapshot!(words("slow: {bytes: 64}"), @"line 3, column 14: missing field `every`");
    insta::assert_snapshot!(words("slow: 64"), @"line 3, column 13: expected a mapping, `{WORD: VALUE}`");
    insta::assert_snapshot!(words("cut: {after: 0s}"), @"line 3, column 20: `0s` is no time at all; it must be more than zero");
    insta::assert_snapshot!(words("expired: {as: status, after_events: 3}"), @"line 3, column 16: `after_events` and `of` are about a stream; they go with `as: event`");
    insta::assert_snapshot!(words("expired: {as: trailer}"), @"line 3, column 21: unknown variant `trailer`, expected one of status, event");
    insta::assert_snapshot!(words("cut: {how: softly}"), @"line 3, column 18: unknown variant `softly`, expected one of clean, reset, torn");
}

#[test]
fn a_moment_in_the_past_has_exactly_one_name() {
    let moment = |words: &str| refusal(&format!("rules:\n  - do:\n      answer_from: {words}\n"));
    insta::assert_snapshot!(moment("{}"), @"line 3, column 20: expected exactly one of `revision` and `behind`");
    insta::assert_snapshot!(moment("{revision: 40, behind: 10}"), @"line 3, column 20: expected exactly one of `revision` and `behind`");
    insta::assert_snapshot!(moment("{revision: 0}"), @"line 3, column 31: `0` is no whole number above zero");
    insta::assert_snapshot!(moment("{behind: 0}"), @"line 3, column 29: `0` is no whole number above zero");
    insta::assert_snapshot!(moment("{behind: -3}"), @"line 3, column 29: `-3` is no whole number above zero");
    insta::assert_snapshot!(moment("{revision: yesterday}"), @"line 3, column 31: `yesterday` is no whole number above zero");
    insta::assert_snapshot!(moment("{before: 3}"), @"line 3, column 21: unknown field `before`, expected one of revision, behind");
    insta::assert_snapshot!(moment("40"), @"line 3, column 20: expected a mapping, `{WORD: VALUE}`");
    insta::assert_snapshot!(refusal("rules:\n  - do: [hang, restore]\n"), @"line 2, column 23: expected a mapping, `{WORD: VALUE}`");
}

#[test]
fn what_a_proxy_cannot_do_is_named() {
    let cannot = |yaml: &str| {
        let script = Script::parse(yaml).expect("a valid script");
        script.check_for_proxy().expect_err("it cannot").to_string()
    };
    insta::assert_snapshot!(cannot("rules:\n  - do: hang\n\n  - name: stale endpoint\n    do: [delay: 1s, answer_from: {behind: 10}]\n"), @r#"rule 2 ("stale endpoint"), line 4: a proxy cannot do `answer_from`, only the simulated server can"#);
    insta::assert_snapshot!(cannot("rules: [{do: {restore: {revision: 4}}}]"), @"rule 1, line 1: a proxy cannot do `restore`, only the simulated server can");
    let built = Script::from(Rule::new(Action::Restore(Past::Behind(1))));
    insta::assert_snapshot!(built.check_for_proxy().expect_err("it cannot"), @"rule 1: a proxy cannot do `restore`, only the simulated server can");
    let fine = Script::from(Rule::new(Action::Hang));
    assert_eq!(fine.check_for_proxy(), Ok(()));
}

#[test]
fn the_examples_are_valid_and_their_files_tell_what_a_proxy_can_do() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut told = Vec::new();
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let script = Script::load(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        told.push(match script.check_for_proxy() {
            Ok(()) => name,
            Err(cannot) => format!("{name}: {cannot}"),
        });
    }
    told.sort_unstable();
    insta::assert_snapshot!(told.join("\n"), @r#"
broken-streams.yaml
busy-server.yaml
cut-watches.yaml
lost-answers.yaml
opaque-revisions.yaml
restored-server.yaml: rule 1 ("restored from a backup"), line 5: a proxy cannot do `restore`, only the simulated server can
slow-network.yaml
stale-endpoint.yaml: rule 1 ("stale endpoint"), line 4: a proxy cannot do `answer_from`, only the simulated server can
"#);
}

#[test]
fn every_word_is_described() {
    let readme = include_str!("../../README.md");
    let error = refusal("rules:\n  - do: explode\n");
    let (_, words) = error.split_once("expected one of ").unwrap();
    for word in words.split(", ") {
        let described = [format!("| `{word}` |"), format!("| `{word}: ")];
        assert!(described.iter().any(|row| readme.contains(row)), "{word}");
    }
}

/// None of it is a word of the library that reads YAML.
#[test]
fn what_is_not_a_script_is_told_in_a_scripts_terms() {
    insta::assert_snapshot!(refusal(""), @"line 1, column 1: expected `rules`, a list");
    insta::assert_snapshot!(refusal("rules: 5\n"), @"line 1, column 8: expected a list");
    insta::assert_snapshot!(refusal("rules:\n  - do: cut\n"), @"line 2, column 5: this word needs a value");
    insta::assert_snapshot!(refusal("rules:\n  - do: {hang: {}}\n"), @"line 2, column 16: this word takes no value");
    insta::assert_snapshot!(refusal("rules:\n  - do: {cut: }\n"), @"line 2, column 13: expected a mapping, `{WORD: VALUE}`");
    insta::assert_snapshot!(refusal("rules:\n  - do: {delay: 1s, delay_answer: 1s}\n"), @"line 2, column 21: one word an entry; several are a list");
    insta::assert_snapshot!(refusal("rules:\n  - do: hang\n    attempts: [1, 2]\n"), @"line 3, column 15: expected one value");
    insta::assert_snapshot!(refusal("rules:\n  - do: hang\n    do: reset\n"), @"line 3, column 5: duplicate mapping key: do");
    insta::assert_snapshot!(refusal("rules: []\n---\nrules: []\n"), @"line 3, column 1: multiple YAML documents detected");
    insta::assert_snapshot!(refusal("rules:\n\t- do: hang\n"), @"line 2, column 2: tabs disallowed within this context (block indentation)");
}

#[test]
fn a_rule_that_could_do_nothing_is_refused() {
    insta::assert_snapshot!(refusal("rules:\n  - match: {verb: list}\n    do: []\n"), @"line 3, column 9: an empty list says nothing");
    insta::assert_snapshot!(refusal("rules:\n  - match: {verb: []}\n    do: hang\n"), @"line 2, column 19: an empty list says nothing");
}

#[test]
fn an_answer_that_no_server_can_send_is_refused() {
    insta::assert_snapshot!(refusal("rules:\n  - do: {status: {code: 101}}\n"), @"line 2, column 25: `101` only announces an answer; write a code from 200 to 999");
    insta::assert_snapshot!(refusal("rules:\n  - do: {status: {code: 500, headers: {Content-Length: 5}}}\n"), @"line 2, column 40: `Content-Length` follows from the body and cannot be set");
    insta::assert_snapshot!(refusal("rules:\n  - do: {status: {code: 500, headers: {transfer-encoding: chunked}}}\n"), @"line 2, column 40: `transfer-encoding` follows from the body and cannot be set");
}

#[test]
fn a_script_may_begin_with_a_byte_order_mark() {
    assert_eq!(
        Script::parse("\u{feff}rules: []\n").unwrap(),
        Script::default()
    );
}
