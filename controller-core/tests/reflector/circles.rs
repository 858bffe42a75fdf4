//! Pages without an end.
use serde_json::{Value, json};

use crate::script::{Answer, list, object, page, play, quiet_watch};

/// Plays these pages, which go in a circle, and then a server that can send all of it in one
/// piece: it is asked to right after the last of them.
async fn ends_in_one_piece(mut pages: Vec<Answer>) {
    let count = pages.len();
    pages.extend([list("10", &[("a", "1"), ("b", "2")]), quiet_watch()]);
    let record = play(pages).await;
    assert_eq!(record.requests[count..], ["list rv=0", "watch rv=10"]);
    let told = &record.events[record.events.len() - 4..];
    assert_eq!(told, ["list", "listed a@1", "listed b@2", "done 10"]);
    assert!(record.status.error.is_none() && record.waits.is_empty());
}

/// A page of these items, with another one behind it.
fn page_of(items: &[Value], next: usize) -> Answer {
    let meta = json!({"resourceVersion": "10", "continue": format!("t{next}")});
    Answer::Json(200, json!({"metadata": meta, "items": items}))
}

/// A page that names itself as the next one, or an earlier one, would be read for ever.
#[tokio::test(start_paused = true)]
async fn a_page_that_was_read_already_ends_in_a_list_in_one_piece() {
    for circle in [&["t1", "t1"][..], &["t1", "t2", "t1"], &["t1", "t2", "t2"]] {
        let names = ["a", "b", "c"];
        let pages = circle.iter().zip(names);
        let pages = pages.map(|(next, name)| page("10", &[(name, "1")], next));
        ends_in_one_piece(pages.collect()).await;
    }
}

/// So would one under a new name each time, whether it can be read or not; also if its first
/// item is one whose object nobody knows.
#[tokio::test(start_paused = true)]
async fn a_page_that_comes_again_under_a_new_name_ends_in_a_list_in_one_piece() {
    let nameless = json!({"metadata": {"name": ""}});
    let foreign = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}});
    for first in [&[][..], &[nameless], &[foreign]] {
        for circle in [&["a", "a"][..], &["a", "b", "a"], &["a", "b", "b"]] {
            let pages = circle.iter().enumerate().map(|(n, name)| {
                let items = [object(name, "1"), object("z", "2")];
                page_of(&[first, &items].concat(), n)
            });
            ends_in_one_piece(pages.collect()).await;
        }
    }
}

/// A server that cannot send it in one piece either.
#[tokio::test(start_paused = true)]
async fn a_list_in_one_piece_that_goes_in_a_circle_is_a_failure() {
    let circle = ["t1", "t2", "t3", "t4"].map(|next| page("10", &[("a", "1")], next));
    let record = play(circle.into()).await;
    assert_eq!(
        record.requests,
        [
            "list rv=0 limit=500",
            "list limit=500 next=t1",
            "list rv=0",
            "list next=t3"
        ]
    );
    assert!(!record.status.synced);
    let error = record.status.error.expect("a failure").to_string();
    assert_eq!(error, "the pages of the list go in a circle");
}

#[tokio::test(start_paused = true)]
async fn a_few_pages_without_a_name_are_read_and_not_an_endless_row_of_them() {
    let nameless = json!({"metadata": {"name": ""}});
    for items in [&[][..], &[nameless]] {
        let empty = |n: usize| page_of(items, n);
        ends_in_one_piece((0..101).map(empty).collect()).await;

        let mut pages: Vec<_> = (0..100).map(empty).collect();
        pages.push(page("10", &[("a", "1")], "more"));
        pages.extend((100..200).map(empty));
        pages.push(list("10", &[("b", "2")]));
        pages.push(quiet_watch());
        let mut record = play(pages).await;
        record.events.retain(|event| event != "unreadable");
        assert_eq!(
            record.events,
            ["list", "listed a@1", "listed b@2", "done 10"]
        );
    }
}
