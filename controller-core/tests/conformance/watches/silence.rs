use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::watch::{ReflectorStatus, State, Streaming};
use sim_apiserver::faults::{Action, Place, Rule};
use sim_apiserver::{SimApiServer, Tls};
use tokio::time::{Instant, sleep};
use tracing::Level;

use crate::forwarder::Forwarder;
use crate::requests::{assert_waits, later_list, of_list_and_watch, plain_watch};
use crate::server::{Server, first_watch, watches};
use crate::time::{in_both_ways, simulated};
use crate::watch_of::{Informed, Reflected};

/// BX-10: the connection is dead and nobody says so. Bookmarks came once a minute, so two and a
/// half minutes without one are enough to know; what was missed is heard then.
#[test]
fn a_half_open_watch_is_given_up_after_two_and_a_half_minutes() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        // One line more than the list, whatever it is: here it is a bookmark.
        let half_open = |list: Place| {
            Action::half_open_after_events(Place {
                after: list.after + 1,
                ..list
            })
        };
        server.faults().add(first_watch(streaming, 1, 0, half_open));
        let reflected = Reflected::start(&server, server.options(streaming));
        let watching = |now: &ReflectorStatus| matches!(now.state, State::Watching);
        let opened = reflected.status_until(watching).await;
        let opened = opened.last_contact().unwrap();
        // The bookmark of the first minute is the last word.
        sleep(Duration::from_secs(100)).await;
        let bookmark = reflected.status.borrow().last_contact().unwrap();
        assert_eq!((bookmark - opened).as_secs(), 60);
        let missed = format!("modified a@{}", server.put("a", "2").await);
        sleep(Duration::from_secs(100)).await;
        assert!(!reflected.events().contains(&missed));
        reflected.until_event(&missed).await;
        let waited = (Instant::now() - bookmark).as_secs_f64();
        assert!((149.9..150.1).contains(&waited), "{waited}");
        let now = reflected.status_until(watching).await;
        assert_eq!((now.lists, now.watches, now.failures), (1, 2, 0));
        reflected.stop().await;
        server.stop().await;
    });
}

/// BX-10: the end of a streamed list is a bookmark, too: a server that sends that one owes the
/// others from the first minute on.
#[test]
fn a_stream_that_dies_right_after_its_list_is_given_up_as_soon() {
    simulated(async {
        let server = Server::start().await;
        server.put("a", "1").await;
        let half_open = first_watch(Streaming::Auto, 1, 0, Action::half_open_after_events);
        server.faults().add(half_open);
        let reflected = Reflected::start(&server, server.options(Streaming::Auto));
        reflected.until_lists(1).await;
        let missed = server.put("a", "2").await;
        let missed = format!("modified a@{missed}");
        reflected.until_event(&missed).await;
        let waited = server.pauses()[0];
        assert!((149.9..150.1).contains(&waited), "{waited}");
        reflected.stop().await;
        server.stop().await;
    });
}

/// BX-10: a server that has never sent a bookmark may be silent for as long as the watch may
/// last, and half a minute; not for ever.
#[test]
fn a_silent_watch_without_bookmarks_is_given_up_when_its_time_is_over() {
    simulated(async {
        let server = Server::start().await;
        server.put("a", "1").await;
        let half_open = Rule::new(Action::half_open_after_events(0));
        server.faults().add(watches(half_open).attempts(1));
        let reflected = Reflected::start(&server, server.options(Streaming::Never));
        server.asked_until(2).await;
        let asked = server.faults().requests().remove(1).info;
        let seconds: f64 = asked.query("timeoutSeconds").unwrap().parse().unwrap();
        let missed = server.put("a", "2").await;
        reflected.until_event(&format!("modified a@{missed}")).await;
        let waited = server.pauses()[1];
        assert!(
            (waited - seconds - 30.0).abs() < 0.01,
            "{waited}, {seconds}"
        );
        reflected.stop().await;
        server.stop().await;
    });
}

/// kube-rs 13: a watch that is accepted and never answered is given up after half a minute. The
/// third in a row leads to a list, so that the cache does not grow old.
#[test]
fn a_watch_that_is_never_answered_is_given_up_after_half_a_minute() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        let first = server.put("a", "1").await;
        server
            .faults()
            .add(first_watch(streaming, 1, 1, Action::cut_after_events));
        let second = of_list_and_watch(streaming) as u64;
        let never = watches(Rule::new(Action::Hang));
        server.faults().add(never.attempts(second..));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        let version = server.put("a", "2").await;
        assert!(first < version);
        let asked = server.asked_until(of_list_and_watch(streaming) + 3).await;
        server.put("a", "3").await;
        informed.holds(&[("a", "3")]).await;
        let at = of_list_and_watch(streaming);
        assert_eq!(asked[at..], vec![plain_watch(&version); 3]);
        assert_eq!(server.asked()[at + 3], later_list(streaming, &version));
        let pauses = server.pauses();
        let waits: Vec<_> = pauses[at..at + 3].iter().map(|it| it - 30.0).collect();
        assert_waits(&waits, &[0.8, 1.6, 3.2]);
        informed.stop().await;
        server.stop().await;
    });
}

/// kube-rs 11: a TLS connection that ends without the farewell which TLS demands ends a watch
/// as any other end does.
#[test]
fn a_tls_connection_that_ends_without_a_farewell_is_a_normal_end() {
    in_both_ways(async |streaming| {
        let (log, _guard) = CapturedLog::start(Level::INFO);
        let builder = SimApiServer::builder().tls(Tls::generated().unwrap());
        let server = Server::of(builder).await;
        let forwarder = Forwarder::start(server.sim().address()).await;
        let server = server.reached_by(forwarder.address());
        let version = server.put("a", "1").await;
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        for round in 1..5 {
            sleep(Duration::from_secs(2)).await;
            let cut_at = Instant::now();
            forwarder.cut();
            let count = of_list_and_watch(streaming) + round;
            let asked = server.asked_until(count).await;
            assert_eq!(asked[count - 1], plain_watch(&version));
            assert!(cut_at.elapsed() < Duration::from_millis(5));
        }
        server.put("a", "2").await;
        informed.holds(&[("a", "2")]).await;
        let now = informed.watching().await;
        assert_eq!((now.lists, now.failures), (1, 0));
        assert_eq!(log.text(), "");
        informed.stop().await;
        server.stop().await;
    });
}
