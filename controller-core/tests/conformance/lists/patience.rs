use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::watch::{State, Streaming};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Place, Rule, Verb};
use tokio::time::{Instant, sleep};
use tracing::Level;

use crate::requests::{assert_at_once, assert_waits, first_list, plain_watch};
use crate::server::{Server, lists, watches};
use crate::time::simulated;
use crate::watch_of::{Informed, Reflected};

/// Streams whose last bookmark is lost on the way.
fn endless() -> Rule {
    lists(
        Streaming::Auto,
        Rule::new(Action::dropped(Place::bookmarks(0))),
    )
}

fn is_about(seconds: Duration, expected: f64) -> bool {
    (seconds.as_secs_f64() - expected).abs() < 0.01
}

/// WL-02: a stream without a word is waited for, visibly and without a line in the log; after
/// ten seconds a list in pages comes.
#[test]
fn a_stream_without_a_word_is_waited_for_visibly_and_then_given_up() {
    simulated(async {
        let (log, _guard) = CapturedLog::start(Level::INFO);
        let server = Server::start().await;
        server.put("p1", "1").await;
        let silent = Rule::new(Action::half_open_after_events(0));
        server.faults().add(lists(Streaming::Auto, silent));
        let informed = Informed::start(&server, server.options(Streaming::Auto));
        sleep(Duration::from_secs(9)).await;
        let health = informed.informer.health();
        assert!(matches!(health.status.state, State::Listing));
        assert!(!health.status.synced);
        let line = health.to_string();
        assert!(line.contains("listing for 9s"), "{line}");
        assert!(line.contains("last contact 9s ago"), "{line}");
        assert_eq!(log.text(), "");
        informed.holds(&[("p1", "1")]).await;
        assert!(is_about(server.asked_at()[1] - server.asked_at()[0], 10.0));
        assert!(!log.text().contains("WARN"), "{}", log.text());
        informed.stop().await;
        server.stop().await;
    });
}

/// WL-03, BX-11: the ten seconds count from the last object that was new to the list, however
/// slowly the list comes, and whatever is told of the objects that it has brought.
#[test]
fn a_slow_stream_has_ten_seconds_from_each_new_object() {
    simulated(async {
        let server = Server::start().await;
        server.put("p1", "1").await;
        server.put("p2", "1").await;
        let last = server.put("p3", "1").await;
        let slow = Action::slow(50, Duration::from_secs(1));
        server.faults().add(endless().then(slow));
        let reflected = Reflected::start(&server, server.options(Streaming::Auto));
        reflected.until_event(&format!("listed p3@{last}")).await;
        let newest = Instant::now();
        let start = server.asked_at()[0];
        assert!(newest - start > Duration::from_secs(12), "it is slow");
        for value in ["2", "3", "4"] {
            sleep(Duration::from_secs(1)).await;
            server.put("p1", value).await;
        }
        let asked = server.asked_until(2).await;
        assert_eq!(asked[1], first_list(Streaming::Never));
        let waited = server.asked_at()[1] - newest;
        assert!(is_about(waited, 10.0), "{waited:?}");
        // The news had come: they were not what it waited for.
        let events = reflected.events();
        let news = events.iter().filter(|it| it.starts_with("listed p1@"));
        assert!(news.count() > 1, "{events:?}");
        reflected.stop().await;
        server.stop().await;
    });
}

/// BX-11: what a slow list brought before it was given up is void; the list in pages counts,
/// and the kind is streamed no more.
#[test]
fn a_kind_whose_streams_do_not_end_is_listed_in_pages_from_then_on() {
    simulated(async {
        let server = Server::start().await;
        server.put("gone", "1").await;
        let faults = server.faults();
        faults.add(endless());
        let expired = Rule::new(Action::expired_in_stream(0));
        faults.add(watches(expired).attempts(1));
        let informed = Informed::start(&server, server.options(Streaming::Auto));
        sleep(Duration::from_secs(5)).await;
        server.delete("gone").await;
        server.put("p1", "1").await;
        informed.holds(&[("p1", "1")]).await;
        assert_eq!(informed.heard.words(), ["initial p1"]);
        informed.status_until(|now| now.lists == 2).await;
        let version = informed.informer.lister().resource_version().unwrap();
        let watch = plain_watch(&version);
        assert_eq!(server.asked()[2..4], [watch, format!("list rv={version}")]);
        informed.stop().await;
        server.stop().await;
    });
}

/// BX-11: a server that has never heard of the parameter answers with a plain watch: its objects,
/// its news, and no end of the list.
#[test]
fn a_server_that_takes_no_notice_of_the_parameter_is_listed_in_pages() {
    simulated(async {
        let builder = SimApiServer::builder().streaming_lists_ignored();
        let server = Server::of(builder).await;
        server.put("p1", "1").await;
        let informed = Informed::start(&server, server.options(Streaming::Auto));
        for value in ["2", "3"] {
            sleep(Duration::from_secs(4)).await;
            server.put("p1", value).await;
        }
        informed.holds(&[("p1", "3")]).await;
        let version = informed.informer.lister().resource_version().unwrap();
        let asked = server.asked_until(3).await;
        let pages = [first_list(Streaming::Never), plain_watch(&version)];
        assert_eq!(asked[1..], pages);
        let waited = server.asked_at()[1] - server.asked_at()[0];
        assert!(is_about(waited, 10.0), "{waited:?}");
        informed.stop().await;
        server.stop().await;
    });
}

/// kube-rs 13: a list that is accepted and never answered, or whose head is all that comes, is
/// given up after a minute and asked for again.
#[test]
fn a_list_that_stalls_is_given_up_after_a_minute() {
    for stall in [Action::Hang, Action::half_open_after_events(0)] {
        simulated(async {
            let server = Server::start().await;
            server.put("p1", "1").await;
            let stall = Rule::new(stall).verb(Verb::List).attempts(1);
            server.faults().add(stall);
            let informed = Informed::start(&server, server.options(Streaming::Never));
            let failed = informed.status_until(|now| now.error.is_some()).await;
            let waited = Instant::now() - server.asked_at()[0];
            assert!(is_about(waited, 60.0), "{waited:?}: {:?}", failed.error);
            informed.holds(&[("p1", "1")]).await;
            assert_waits(&[server.pauses()[0] - 60.0], &[0.8]);
            informed.stop().await;
            server.stop().await;
        });
    }
}

/// kube-rs 13: a stream that is never answered leads to pages after half a minute.
#[test]
fn a_stream_that_is_never_answered_leads_to_pages() {
    simulated(async {
        let server = Server::start().await;
        server.put("p1", "1").await;
        let never = Rule::new(Action::Hang);
        server.faults().add(lists(Streaming::Auto, never));
        let informed = Informed::start(&server, server.options(Streaming::Auto));
        informed.holds(&[("p1", "1")]).await;
        assert_eq!(server.asked()[1], first_list(Streaming::Never));
        assert_at_once(server.pauses()[0] - 30.0);
        informed.stop().await;
        server.stop().await;
    });
}
