//! Whatever a server sends, in whatever pieces.
//!
//! The inputs are made of the words that lists and watches consist of, mostly in a senseless
//! order, and of bytes that mean nothing. Each target runs for a second; CI gives it longer by
//! `BOLERO_RANDOM_TEST_TIME_MS`. A failure prints a seed: `BOLERO_RANDOM_SEED` repeats it.
use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::codec::{Codec, Line};
use super::items::{Found, Items};
use super::json::Json;
use super::lines::{Lines, NextLine};
use super::page::{Page, Part};
use super::span::{Members, Span};
use super::testing::{WIDGETS, Widget};
use super::{Object, Unreadable, WatchEvent};

/// What a word is made of, and what may stand in its place.
type Word = (u8, u8);

const WORDS: [&[u8]; 28] = [
    b"{", b"}", b"[", b"]", b",", b":", b"\"", b"\\", b"\n", b" ", b"null", b"7", b"\xff",
    br#""items":"#,
    br#""kind":"#,
    br#""metadata":"#,
    br#""type":"ADDED","#,
    br#""type":"BOOKMARK","#,
    br#""object":"#,
    br#""WidgetList""#,
    br#""Table""#,
    br#"{"resourceVersion":"9","continue":"t"}"#,
    br#"{"kind":"WidgetList","metadata":{"resourceVersion":"9"},"items":["#,
    br#"{"metadata":{"name":"a","namespace":"s","resourceVersion":"1"},"spec":{"size":1}}"#,
    br#"{"kind":"Pod","metadata":{"name":"b"}}"#,
    br#"{"metadata":{"name":"c","namespace":"s","resourceVersion":"2"},"spec":{"size":"x"}}"#,
    br#"{"type":"MODIFIED","object":{"metadata":{"name":"d","namespace":"s","resourceVersion":"3"},"spec":{"size":1}}}"#,
    br#""longer than a short limit, and with }] in it""#,
];

/// A limit that the inputs exceed, so that this is tried too.
const SHORT: usize = 100;

fn second() -> Duration {
    Duration::from_secs(1)
}

fn text(words: &[Word]) -> Vec<u8> {
    let mut text = Vec::new();
    for (word, byte) in words {
        match WORDS.get(usize::from(*word) % (WORDS.len() + 2)) {
            Some(word) => text.extend_from_slice(word),
            None => text.push(*byte),
        }
    }
    text
}

/// `text` in pieces of the lengths in `cuts`, over and over.
fn pieces(text: &[u8], cuts: &[u8]) -> Vec<Bytes> {
    let mut rest = text;
    let mut pieces = Vec::new();
    let mut lengths = cuts.iter().map(|cut| usize::from(*cut) + 1).cycle();
    while !rest.is_empty() {
        let length = lengths.next().unwrap_or(rest.len()).min(rest.len());
        let (piece, later) = rest.split_at(length);
        pieces.push(Bytes::copy_from_slice(piece));
        rest = later;
    }
    pieces
}

/// What [`Items`] finds, up to where it is no JSON. `None` stands for that.
fn found(pieces: Vec<Bytes>, longest: usize) -> (Vec<Option<Found>>, bool) {
    let mut items = Items::with_longest(longest);
    let mut all = Vec::new();
    for piece in pieces {
        items.push(piece);
        loop {
            match items.next() {
                Ok(None) => break,
                Ok(Some(found)) => {
                    if let Found::Item(item) | Found::TooLong(item) = &found {
                        assert!(item.len() <= longest, "an item over the limit was kept");
                    }
                    all.push(Some(found));
                }
                Err(_) => {
                    all.push(None);
                    return (all, false);
                }
            }
            assert!(items.kept() <= longest.max(Items::LONGEST_META));
        }
    }
    (all, items.is_whole())
}

/// The lines of a body, and the beginnings of those that are too long, marked.
fn lines(pieces: Vec<Bytes>, longest: usize) -> Vec<(Bytes, bool)> {
    let frames = pieces
        .into_iter()
        .map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    let mut reader = Lines::with_longest(StreamBody::new(stream::iter(frames)), longest);
    let mut all = Vec::new();
    loop {
        let next = reader.next().now_or_never().expect("everything is there");
        match next {
            NextLine::Line(line) => all.push((line, false)),
            NextLine::TooLong(beginning) => all.push((beginning, true)),
            NextLine::End => return all,
            NextLine::Broken(error) => panic!("{error}"),
        }
    }
}

/// The parts of a page, as words, and how it ended.
fn page(pieces: Vec<Bytes>) -> (Vec<String>, Result<(), String>) {
    let frames = pieces
        .into_iter()
        .map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    let body = StreamBody::new(stream::iter(frames));
    let mut page = Page::<_, _, Widget>::new(body, widgets(), &WIDGETS, "GET /".to_owned());
    let read = async {
        let mut words = Vec::new();
        loop {
            match page.next().await {
                Ok(Some(Part::Meta(meta))) => words.push(format!("{meta:?}")),
                Ok(Some(Part::Item(item))) => words.push(told(item)),
                Ok(None) => return (words, Ok(())),
                // Where it is no JSON may show a byte earlier or later.
                Err(error) => return (words, Err(error.to_string())),
            }
        }
    };
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
        .block_on(read)
}

fn widgets() -> Json {
    Json::of(&WIDGETS)
}

fn told(item: Result<Widget, Unreadable>) -> String {
    match item {
        Ok(widget) => widget.key().to_string(),
        Err(bad) => format!("{:?} {}", bad.key, bad.error),
    }
}

/// However a list is cut, the same is found in it, nothing over the limit is kept, and what
/// is a list to others is one here, with the same items.
#[test]
fn lists() {
    bolero::check!()
        .with_type::<(Vec<Word>, Vec<u8>)>()
        .with_test_time(second())
        .for_each(|(words, cuts)| {
            let text = text(words);
            let whole = found(pieces(&text, &[]), SHORT);
            assert_eq!(found(pieces(&text, cuts), SHORT), whole);
            assert_eq!(found(pieces(&text, &[0]), SHORT), whole);
            assert_eq!(page(pieces(&text, cuts)), page(pieces(&text, &[])));
            as_serde_reads_it(&text);
        });
}

#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "kind")]
    _kind: Option<IgnoredAny>,
    #[serde(rename = "metadata")]
    _metadata: Option<IgnoredAny>,
    #[serde(default)]
    items: Option<Vec<Value>>,
}

fn as_serde_reads_it(text: &[u8]) {
    let Ok(reference) = serde_json::from_slice::<Reference>(text) else {
        return;
    };
    let (found, is_whole) = found(pieces(text, &[]), usize::MAX);
    assert!(is_whole, "a list was not read to its end");
    let items = found.into_iter().filter_map(|found| match found {
        Some(Found::Item(item)) => Some(serde_json::from_slice::<Value>(&item).expect("JSON")),
        _ => None,
    });
    assert_eq!(
        items.collect::<Vec<_>>(),
        reference.items.unwrap_or_default()
    );
}

/// However a watch is cut, its lines are those that splitting the whole of it gives.
#[test]
fn watches() {
    bolero::check!()
        .with_type::<(Vec<Word>, Vec<u8>)>()
        .with_test_time(second())
        .for_each(|(words, cuts)| {
            let text = text(words);
            let read = lines(pieces(&text, cuts), SHORT);
            let ended = text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            let mut expected: Vec<_> = text[..ended]
                .split(|byte| *byte == b'\n')
                .filter(|line| line.len() > SHORT || !line.trim_ascii().is_empty())
                .map(|line| (&line[..line.len().min(SHORT)], line.len() > SHORT))
                .collect();
            // What has no end is a line only once it is too long to be one.
            let rest = text[ended..].strip_prefix(b"\n").unwrap_or(&text[ended..]);
            if rest.len() > SHORT {
                expected.push((&rest[..SHORT], true));
            }
            let read: Vec<_> = read.iter().map(|(line, long)| (&line[..], *long)).collect();
            assert_eq!(read, expected);
        });
}

/// No bytes make the codec panic, and what it cannot read it says so of.
#[test]
fn pieces_of_any_kind() {
    bolero::check!()
        .with_type::<Vec<Word>>()
        .with_test_time(second())
        .for_each(|words| {
            let text = text(words);
            let codec = widgets();
            let item: Result<Widget, _> = codec.item(&text);
            assert!(item.is_err_and(|bad| !bad.error.is_empty()) || is_whole(&text));
            let line: Line<Widget> = codec.line(&text);
            let is_event = matches!(
                line,
                Line::Event(
                    WatchEvent::Added(_) | WatchEvent::Modified(_) | WatchEvent::Deleted(_)
                )
            );
            assert!(!is_event || is_whole(&text));
            let _ = Codec::<Widget>::long_item(&codec, &text);
            let _ = Codec::<Widget>::long_line(&codec, &text);
            let (length, _) = Span::default().feed(&text);
            assert!(length <= text.len());
            assert!(Members::of(&text).count() <= text.len() + 1);
        });
}

fn is_whole(object: &[u8]) -> bool {
    Members::of(object).all(|member| member.is_ok())
}

/// Whatever one item is made of, as long as it is one at all, its neighbours are read.
#[test]
fn neighbours() {
    bolero::check!()
        .with_type::<(Vec<u8>, Vec<u8>)>()
        .with_test_time(second())
        .for_each(|(junk, cuts)| {
            // In a text, so that its brackets are none.
            let junk = junk.iter().filter(|byte| !matches!(byte, b'"' | b'\\'));
            let good = |name| Widget::json(name, "1", 1).to_string().into_bytes();
            let mut text = br#"{"metadata":{"resourceVersion":"9"},"items":["#.to_vec();
            text.extend(good("a"));
            text.extend(br#",{"metadata":{"name":"bad"},"spec":""#);
            text.extend(junk);
            text.extend(br#""},"#);
            text.extend(good("c"));
            text.extend(b"]}");
            let (words, end) = page(pieces(&text, cuts));
            assert_eq!(end, Ok(()));
            assert_eq!((&*words[1], &*words[3]), ("shop/a", "shop/c"));
            assert!(words[2].contains("bad"), "{}", words[2]);
        });
}
