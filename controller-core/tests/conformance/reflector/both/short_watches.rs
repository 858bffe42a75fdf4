use std::time::Duration;

use controller_core::watch::Streaming;
use sim_apiserver::faults::{Action, Cut, Rule};

use crate::server::{Server, first_watch, nth_watch, watches};
use crate::time::anywhere;
use crate::watch_of::Informed;

/// RF-08: a watch that the server closes at once is opened again, after a pause. client-go lists;
/// here the two that were cut cost no list and are not told as a failure.
#[test]
fn watches_that_are_closed_at_once_are_opened_again_without_a_list() {
    anywhere(async |streaming| {
        two_short_watches(streaming, Action::cut_after_events(0)).await;
    });
}

/// RF-09: the same for one that ends after 10 ms without a word.
#[test]
fn watches_that_are_closed_after_a_moment_are_opened_again_without_a_list() {
    anywhere(async |streaming| {
        two_short_watches(streaming, Action::cut_after(Duration::from_millis(10))).await;
    });
}

/// RF-08: three in a row are told: the cache would never change again. A list finds out what the
/// watches did not tell.
#[test]
fn the_third_watch_in_a_row_that_is_closed_at_once_is_told_and_followed_by_a_list() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        let faults = server.faults();
        faults.add(first_watch(streaming, 0, 0, Action::cut_after_events));
        faults.add(watches(Rule::new(Action::cut_after_events(0))));
        let informed = Informed::start(&server, server.options(streaming));
        let status = informed.status_until(|now| now.error.is_some()).await;
        let why = status.error.unwrap().to_string();
        assert!(
            why.contains("watches end as soon as they are open"),
            "{why}"
        );
        assert_eq!((status.lists, status.watches, status.failures), (1, 3, 1));
        server.put("a", "1").await;
        informed.holds(&[("a", "1")]).await;
        assert_eq!(informed.status_until(|_| true).await.lists, 2);
        informed.stop().await;
        server.stop().await;
    });
}

async fn two_short_watches(streaming: Streaming, cut: Cut) {
    let server = Server::start().await;
    let faults = server.faults();
    faults.add(first_watch(streaming, 0, 0, Action::cut_after_events));
    faults.add(nth_watch(streaming, 2, Rule::new(cut)));
    let informed = Informed::start(&server, server.options(streaming));
    let status = informed.status_until(|now| now.watches == 3).await;
    assert_eq!((status.lists, status.failures), (1, 0));
    server.put("a", "1").await;
    informed.holds(&[("a", "1")]).await;

    let asked = server.asked();
    let first = asked.len() - 3;
    let opened = asked[first + 1..].iter();
    assert!(
        opened.clone().all(|it| it.starts_with("watch rv=")),
        "{asked:?}"
    );
    let pauses = server.pauses().split_off(first);
    assert!((0.7..1.8).contains(&pauses[0]), "{pauses:?}");
    assert!((1.5..3.5).contains(&pauses[1]), "{pauses:?}");
    informed.stop().await;
    server.stop().await;
}
