use controller_core::watch::{State, Streaming};
use sim_apiserver::faults::{Action, Rule};

use super::named::server;
use crate::requests::{assert_waits, first_list, later_list, of_list_and_watch, plain_watch};
use crate::server::{first_watch, lists, nth_watch, watches};
use crate::time::anywhere;
use crate::watch_of::{Informed, Reflected};

/// WL-04: before a list is complete there is no version. One that breaks is begun again, from
/// the start, and what it had brought is void.
#[test]
fn a_list_that_breaks_leaves_no_version_behind() {
    anywhere(async |streaming| {
        let server = server(&["p1", "p2"]).await;
        let broken = match streaming {
            Streaming::Auto => Action::cut_after_events(2),
            // All of it is one line.
            Streaming::Never => Action::cut_after_events(0),
        };
        let broken = lists(streaming, Rule::new(broken)).attempts(1);
        server.faults().add(broken);
        let reflected = Reflected::start(&server, server.options(streaming));
        let failed = reflected.status_until(|now| now.failures == 1).await;
        assert_eq!(failed.resource_version(), None);
        assert!(!failed.synced);
        let version = reflected.until_lists(1).await.remove(0);
        let asked = server.asked_until(2).await;
        assert_eq!(asked[..2], [first_list(streaming), first_list(streaming)]);
        assert_waits(&server.pauses()[..1], &[0.8]);
        let events = reflected.events();
        let list = events.iter().rposition(|it| it == "list").unwrap();
        assert_eq!(events.len() - list, 4, "{events:?}");
        assert_eq!(list == 0, streaming == Streaming::Never, "{events:?}");
        let now = reflected.status_until(|now| now.synced).await;
        assert_eq!(now.resource_version().as_deref(), Some(&*version));
        reflected.stop().await;
        server.stop().await;
    });
}

/// WL-13: a watch that ends is opened again where it ended, as a plain one.
#[test]
fn a_watch_that_ends_goes_on_where_it_ended_without_another_list() {
    anywhere(async |streaming| {
        let server = server(&["p1", "p2"]).await;
        server
            .faults()
            .add(first_watch(streaming, 2, 1, Action::cut_after_events));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        let p3 = server.put("p3", "1").await;
        let asked = server.asked_until(of_list_and_watch(streaming) + 1).await;
        assert_eq!(asked.last(), Some(&plain_watch(&p3)));
        server.put("p4", "1").await;
        let all = [("p1", "1"), ("p2", "1"), ("p3", "1"), ("p4", "1")];
        informed.holds(&all).await;
        assert_eq!(server.asked(), asked, "one list, two watches");
        informed.stop().await;
        server.stop().await;
    });
}

/// WL-14: the version that a list brought has expired. The next one is read in the same way,
/// and until it is there the cache stays as it is.
#[test]
fn a_version_that_expires_after_the_list_costs_a_list_and_no_object() {
    anywhere(async |streaming| {
        let server = server(&["p1", "p2"]).await;
        server
            .faults()
            .add(first_watch(streaming, 2, 1, Action::cut_after_events));
        let expired = Rule::new(Action::Expired);
        server.faults().add(nth_watch(streaming, 2, expired));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        let p3 = server.put("p3", "1").await;
        let backs_off = |state: &State| matches!(state, State::BackingOff { .. });
        informed.status_until(|now| backs_off(&now.state)).await;
        assert_eq!(informed.cached().len(), 3);
        informed.status_until(|now| now.lists == 2).await;
        let at = of_list_and_watch(streaming);
        let asked = server.asked();
        let expected = [plain_watch(&p3), later_list(streaming, &p3)];
        assert_eq!(asked[at..at + 2], expected);
        assert_waits(&server.pauses()[at..=at], &[0.8]);
        assert_eq!(
            informed.heard.words(),
            ["initial p1", "initial p2", "added p3"]
        );
        informed.stop().await;
        server.stop().await;
    });
}

/// WL-02, BX-11: the end of a streamed list does not come. After ten seconds without a new
/// object it is read page by page, and nobody streams it again. Who does not stream meets
/// none of it.
#[test]
fn a_list_whose_end_does_not_come_is_read_page_by_page() {
    anywhere(async |streaming| {
        let server = server(&["p1", "p2"]).await;
        let half_open = Rule::new(Action::half_open_after_events(1));
        server.faults().add(lists(Streaming::Auto, half_open));
        let expired = Rule::new(Action::expired_in_stream(0));
        server.faults().add(watches(expired).attempts(1));
        let reflected = Reflected::start(&server, server.options(streaming));
        let version = &reflected.until_lists(2).await[0];
        let pages = [
            first_list(Streaming::Never),
            plain_watch(version),
            later_list(Streaming::Never, version),
        ];
        let asked = server.asked();
        match streaming {
            Streaming::Auto => {
                assert_eq!(asked[..1], [first_list(streaming)]);
                assert_eq!(asked[1..4], pages);
                let patience = server.pauses()[0];
                assert!((9.9..10.9).contains(&patience), "{patience}");
            }
            Streaming::Never => assert_eq!(asked[..3], pages),
        }
        reflected.stop().await;
        server.stop().await;
    });
}
