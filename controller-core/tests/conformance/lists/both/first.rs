use controller_core::watch::Streaming;
use sim_apiserver::faults::{Action, Rule};

use super::named::server;
use crate::requests::{assert_at_once, assert_waits, first_list, of_list_and_watch, plain_watch};
use crate::server::lists;
use crate::time::anywhere;
use crate::watch_of::{Informed, Reflected};

/// WL-06, WL-09: a streamed list is one request, which goes on as its watch; who does not stream
/// lists any version, in pages, and watches from there.
#[test]
fn a_list_and_its_watch_are_one_request_if_streamed_and_two_if_not() {
    anywhere(async |streaming| {
        let server = server(&["p1", "p2"]).await;
        let informed = Informed::start(&server, server.options(streaming));
        assert!(informed.registration.synced().await);
        let listed = informed.informer.lister().resource_version().unwrap();
        informed.watching().await;
        server.put("p3", "1").await;
        let words = informed.heard.until(3).await;
        assert_eq!(words, ["initial p1", "initial p2", "added p3"]);
        let mut expected = vec![first_list(streaming)];
        if streaming == Streaming::Never {
            expected.push(plain_watch(&listed));
        }
        assert_eq!(server.asked(), expected);
        let is_streamed = (streaming == Streaming::Auto).then_some("true");
        let parameter = server.query(0, "sendInitialEvents");
        assert_eq!(parameter.as_deref(), is_streamed);
        informed.stop().await;
        server.stop().await;
    });
}

/// WL-07: a refusal that says nothing about streaming leads to pages at once, this time; a
/// list in pages that is refused is asked for again.
#[test]
fn a_list_that_is_refused_is_asked_for_in_pages() {
    anywhere(async |streaming| {
        let server = server(&["p1", "p2"]).await;
        let refused = Rule::new(Action::status(500));
        server.faults().add(lists(streaming, refused).attempts(1));
        let reflected = Reflected::start(&server, server.options(streaming));
        let versions = reflected.until_lists(1).await;
        let asked = server.asked_until(3).await;
        let pages = first_list(Streaming::Never);
        let expected = [first_list(streaming), pages, plain_watch(&versions[0])];
        assert_eq!(asked, expected);
        match streaming {
            Streaming::Auto => assert_at_once(server.pauses()[0]),
            Streaming::Never => assert_waits(&server.pauses()[..1], &[0.8]),
        }
        let events = reflected.events();
        let listed = events.iter().filter(|it| it.starts_with("listed p"));
        assert_eq!(listed.count(), 2, "{events:?}");
        reflected.stop().await;
        server.stop().await;
    });
}

/// WL-11: a server that is busy is asked for the same list again, and not for another one.
#[test]
fn a_busy_server_is_asked_for_the_same_list_again() {
    anywhere(async |streaming| {
        let server = server(&["p1"]).await;
        let busy = Rule::new(Action::status(429));
        server.faults().add(lists(streaming, busy).attempts(1..=2));
        let informed = Informed::start(&server, server.options(streaming));
        informed.holds(&[("p1", "1")]).await;
        informed.watching().await;
        let asked = server.asked();
        assert_eq!(asked[..3], vec![first_list(streaming); 3]);
        assert_eq!(asked.len(), 2 + of_list_and_watch(streaming));
        assert_waits(&server.pauses()[..2], &[0.8, 1.6]);
        informed.stop().await;
        server.stop().await;
    });
}
