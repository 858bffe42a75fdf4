//! Each fault on a body of a few lines, and how long it takes.

mod splits;

use std::{convert::Infallible, io, time::Duration};

use futures::{Stream, StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};

use super::*;
use crate::{Action, Counted, Cut, Place};

const FOUR: &str = "one\ntwo\nthree\nfour\n";
const BOOKMARK: &str = "{\"type\":\"BOOKMARK\",\"object\":{}}\n";
const HOUR: Duration = Duration::from_secs(3600);

fn spoilt(
    faults: impl IntoIterator<Item = Action>,
    pieces: impl Stream<Item = String> + Send + Unpin,
) -> FaultBody<impl Body<Data = Bytes, Error = Infallible> + Send> {
    let faults = faults.into_iter().map(|action| match action {
        Action::Stream(fault) => fault,
        other => panic!("{other:?} spoils no body"),
    });
    let frames = pieces.map(|piece| Ok(Frame::data(Bytes::from(piece))));
    FaultBody::spoilt(StreamBody::new(frames), false, faults.collect(), None)
}

/// The whole body, and how it ended if not well.
async fn read<B>(mut body: FaultBody<B>) -> (String, Option<io::ErrorKind>)
where
    B: Body<Data = Bytes, Error = Infallible>,
{
    let mut text = String::new();
    loop {
        match body.frame().await {
            None => return (text, None),
            Some(Ok(frame)) => {
                text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
            }
            Some(Err(error)) => {
                let error = error.downcast::<io::Error>().expect("an I/O error");
                return (text, Some(error.kind()));
            }
        }
    }
}

async fn of(faults: impl IntoIterator<Item = Action>, text: &str) -> String {
    let (out, error) = read(spoilt(faults, stream::iter([text.to_owned()]))).await;
    assert_eq!(error, None);
    out
}

#[tokio::test]
async fn a_line_comes_twice() {
    assert_eq!(
        of([Action::duplicated(1)], FOUR).await,
        "one\ntwo\ntwo\nthree\nfour\n"
    );
    assert_eq!(
        of([Action::duplicated(0)], "{}").await,
        "{}\n{}",
        "a list without a newline"
    );
    assert_eq!(of([Action::duplicated(4)], FOUR).await, FOUR);
}

#[tokio::test]
async fn two_lines_change_places() {
    assert_eq!(
        of([Action::reordered(1)], FOUR).await,
        "one\nthree\ntwo\nfour\n"
    );
    assert_eq!(of([Action::reordered(0)], "a\nb").await, "b\na\n");
}

#[tokio::test]
async fn the_last_line_has_none_to_change_places_with() {
    assert_eq!(of([Action::reordered(3)], FOUR).await, FOUR);
}

#[tokio::test(start_paused = true)]
async fn a_line_waits_only_so_long_for_the_one_that_it_should_change_places_with() {
    let (sender, receiver) = mpsc::channel::<String>(8);
    let lines = stream::unfold(receiver, async |mut receiver| {
        Some((receiver.recv().await?, receiver))
    });
    let started = Instant::now();
    let mut body = spoilt(
        [Action::reordered(0), Action::duplicated(2)],
        Box::pin(lines),
    );
    let mut next = async || {
        let frame = timeout(HOUR, body.frame())
            .await
            .expect("in time")
            .expect("a frame");
        let data = frame.unwrap().into_data().unwrap();
        (String::from_utf8(data.to_vec()).unwrap(), started.elapsed())
    };
    sender.send("one\nt".to_owned()).await.unwrap();
    assert_eq!(next().await, ("one\n".to_owned(), Duration::from_secs(1)));
    sender.send("wo\nthree\n".to_owned()).await.unwrap();
    assert_eq!(next().await.0, "two\nthree\nthree\n", "the next fault acts");
}

/// The line that waited was the first: what comes after one line has been due since.
#[tokio::test(start_paused = true)]
async fn a_line_that_has_waited_lets_the_next_fault_act_at_once() {
    let lines = stream::iter(["one\n".to_owned()]).chain(stream::pending());
    let cut = Action::cut_after_events(1).with_reset();
    let started = Instant::now();
    let body = spoilt([Action::reordered(0), cut.into()], lines);
    let reset = Some(io::ErrorKind::ConnectionReset);
    let seen = timeout(HOUR, read(body)).await.expect("an end");
    assert_eq!(seen, ("one\n".to_owned(), reset));
    assert_eq!(started.elapsed(), StreamFault::WITHIN);
}

#[tokio::test]
async fn a_line_is_made_long_and_says_the_same() {
    let long = of(
        [Action::oversized(1, 1000)],
        "{}\n{\"type\":\"ADDED\"}\n{}\n",
    )
    .await;
    let lines: Vec<&str> = long.lines().collect();
    assert_eq!((lines[0], lines[2]), ("{}", "{}"));
    assert_eq!(lines[1].len(), 1000);
    let value: serde_json::Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!(value, serde_json::json!({"type": "ADDED"}));

    let longer = format!("{{\"a\":\"{}\"}}\n", "x".repeat(100));
    assert_eq!(of([Action::oversized(0, 50)], &longer).await, longer);
    assert_eq!(
        of([Action::oversized(0, 50)], FOUR).await,
        FOUR,
        "no objects"
    );
}

#[tokio::test]
async fn one_item_of_a_list_is_replaced() {
    let list =
        "{\"metadata\": {}, \"items\": [{\"a\": [1]}, {\"a\": \"},\"}, {}], \"kind\": \"L\"}\n";
    for (after, replaced) in [
        (0, list.replace("{\"a\": [1]}", "?")),
        (1, list.replace("{\"a\": \"},\"}", "?")),
        (2, list.replace("{}]", "?]")),
        (3, list.to_owned()),
    ] {
        assert_eq!(of([Action::spoilt_item(after, "?")], list).await, replaced);
    }
    assert_eq!(of([Action::spoilt_item(0, "?")], FOUR).await, FOUR);
}

#[tokio::test]
async fn lines_are_left_out() {
    assert_eq!(of([Action::dropped(1)], FOUR).await, "one\nthree\nfour\n");
    let two = StreamFault::Dropped {
        at: 1.into(),
        lines: 2,
    };
    assert_eq!(of([two.into()], FOUR).await, "one\nfour\n");
}

#[tokio::test]
async fn a_fault_can_be_about_events_or_about_bookmarks() {
    let text = format!("one\n{BOOKMARK}two\n{BOOKMARK}three\n");
    let no_two = format!("one\n{BOOKMARK}{BOOKMARK}three\n");
    assert_eq!(of([Action::dropped(Place::events(1))], &text).await, no_two);
    let no_bookmark = format!("one\n{BOOKMARK}two\nthree\n");
    assert_eq!(
        of([Action::dropped(Place::bookmarks(1))], &text).await,
        no_bookmark
    );
    assert_eq!(
        of([Action::dropped(1)], &text).await,
        text.replacen(BOOKMARK, "", 1)
    );

    let swapped = format!("{BOOKMARK}two\none\n{BOOKMARK}three\n");
    assert_eq!(
        of([Action::reordered(Place::events(0))], &text).await,
        swapped
    );
    let cut = Cut {
        of: Counted::Bookmarks,
        ..Action::cut_after_events(2)
    };
    let until_second = format!("one\n{BOOKMARK}two\n{BOOKMARK}");
    assert_eq!(of([cut.into()], &text).await, until_second);
}

#[tokio::test]
async fn faults_act_in_turn_and_count_what_the_server_sent() {
    let faults = [
        Action::duplicated(0),
        Action::dropped(1),
        Action::reordered(2),
        Action::malformed(4, "???"),
        Action::cut_after_events(5).with_reset().into(),
    ];
    let text = stream::iter(["1\n2\n3\n4\n5\n6\n".to_owned()]);
    let reset = Some(io::ErrorKind::ConnectionReset);
    assert_eq!(
        read(spoilt(faults, text)).await,
        ("1\n1\n4\n3\n???\n".to_owned(), reset)
    );
}

#[tokio::test(start_paused = true)]
async fn a_last_line_without_a_newline_is_a_line() {
    let reset = Action::cut_after_events(1).with_reset();
    let list = || stream::iter(["{}".to_owned()]);
    let (text, error) = read(spoilt([reset.into()], list())).await;
    assert_eq!(
        (text.as_str(), error),
        ("{}", Some(io::ErrorKind::ConnectionReset))
    );
    let mut silent = spoilt([Action::half_open_after_events(1)], list());
    silent.frame().await.expect("the list").unwrap();
    assert!(timeout(HOUR, silent.frame()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn slow_bytes_come_in_time() {
    let every = Duration::from_millis(100);
    for size in [1, 3, 10] {
        let pieces: Vec<String> = FOUR.as_bytes().chunks(size).map(text).collect();
        let mut body = spoilt([Action::slow(8, every)], stream::iter(pieces));
        let started = Instant::now();
        let mut seen = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            seen.push((text(&data), started.elapsed().as_millis()));
        }
        let expected = [("one\ntwo\n", 0), ("three\nfo", 100), ("ur\n", 200)];
        assert_eq!(seen, expected.map(|(text, at)| (text.to_owned(), at)));
    }
}

#[tokio::test(start_paused = true)]
async fn slow_bytes_are_cut_by_the_clock_and_spoilt_before_they_are_slow() {
    let slow = || Action::slow(4, Duration::from_millis(100));
    let cut = Action::cut_after(Duration::from_millis(150));
    assert_eq!(of([slow(), cut.into()], FOUR).await, "one\ntwo\n");
    assert_eq!(
        of([slow(), Action::dropped(0)], FOUR).await,
        "two\nthree\nfour\n"
    );
}

fn text(bytes: impl AsRef<[u8]>) -> String {
    String::from_utf8(bytes.as_ref().to_vec()).unwrap()
}
