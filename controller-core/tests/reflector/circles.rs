//! Pages without an end.
use crate::script::{Answer, list, page, play, quiet_watch};

async fn failure(pages: Vec<Answer>) -> String {
    let count = pages.len();
    let record = play(pages).await;
    assert_eq!(record.requests.len(), count);
    assert!(!record.status.synced);
    record.status.error.expect("a failure").to_string()
}

/// A page that names itself as the next one, or an earlier one, would be read for ever.
#[tokio::test(start_paused = true)]
async fn a_page_that_was_read_already_is_a_failure() {
    for circle in [&["t1", "t1"][..], &["t1", "t2", "t1"], &["t1", "t2", "t2"]] {
        let names = ["a", "b", "c"];
        let pages = circle.iter().zip(names);
        let pages = pages.map(|(next, name)| page("10", &[(name, "1")], next));
        let error = failure(pages.collect()).await;
        assert_eq!(error, "the pages of the list go in a circle");
    }
}

/// So would one under a new name each time, whether it can be read or not.
#[tokio::test(start_paused = true)]
async fn a_page_that_comes_again_under_a_new_name_is_a_failure() {
    for circle in [&["a", "a"][..], &["a", "b", "a"], &["a", "b", "b"]] {
        let pages = circle.iter().enumerate();
        let pages = pages.map(|(n, name)| page("10", &[(name, "1"), ("z", "2")], &format!("t{n}")));
        let error = failure(pages.collect()).await;
        assert_eq!(error, "the pages of the list go in a circle");
    }
}

#[tokio::test(start_paused = true)]
async fn a_few_empty_pages_are_read_and_not_an_endless_row_of_them() {
    let empty = |n: usize| page("10", &[], &format!("t{n}"));
    let error = failure((0..101).map(empty).collect()).await;
    assert_eq!(error, "the pages of the list go in a circle");

    let mut pages: Vec<_> = (0..100).map(empty).collect();
    pages.push(page("10", &[("a", "1")], "more"));
    pages.extend((100..200).map(empty));
    pages.push(list("10", &[("b", "2")]));
    pages.push(quiet_watch());
    let record = play(pages).await;
    assert_eq!(
        record.events,
        ["list", "listed a@1", "listed b@2", "done 10"]
    );
}
