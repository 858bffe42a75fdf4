use std::time::Duration;

use captured_log::CapturedLog;
use controller_core::watch::Streaming;
use sim_apiserver::faults::{Action, Rule, Verb};
use tracing::Level;

use crate::real;
use crate::requests::{assert_at_once, of_list_and_watch, plain_watch};
use crate::server::{Server, lists, watches};
use crate::time::anywhere;
use crate::watch_of::Informed;

/// C-05: a balancer resets every connection that is quiet for five seconds. That is no failure:
/// no list, no wait, no word, and what happens between two watches is heard by the second.
#[test]
fn a_balancer_that_cuts_every_quiet_watch_costs_nothing() {
    let (quiet, times) = if will_be_real() {
        (Duration::from_millis(1200), 8)
    } else {
        (Duration::from_secs(5), 20)
    };
    anywhere(async |streaming| {
        let (log, _guard) = CapturedLog::start(Level::INFO);
        let server = Server::start().await;
        let version = server.put("web", "1").await;
        let cut = || Action::cut_after(quiet).with_reset();
        let middle = times / 2 + 1;
        let between = Duration::from_millis(500);
        let late = Rule::new(Action::Delay(between)).then(cut());
        server
            .faults()
            .add(late.verb(Verb::Watch).attempts(middle as u64));
        server.faults().add(Rule::new(cut()).verb(Verb::Watch));
        let informed = Informed::start(&server, server.options(streaming));
        let before = of_list_and_watch(streaming) - 1;
        server.asked_until(before + middle).await;
        let changed = server.put("web", "2").await;
        informed.holds(&[("web", "2")]).await;
        let asked = server.asked_until(before + times).await;
        // Others write to a real server: bookmarks move the version on there.
        let versions = asked[before + 1..].iter().map(|it| number(&it[9..]));
        let versions: Vec<_> = versions.collect();
        assert!(versions.is_sorted(), "{asked:?}");
        assert!(versions[0] >= number(&version), "{asked:?}");
        assert!(versions[middle - 1] >= number(&changed), "{asked:?}");
        for (n, pause) in server.pauses()[before..].iter().enumerate() {
            let delay = if n + 1 == middle {
                between
            } else {
                Duration::ZERO
            };
            assert_at_once(pause - (quiet + delay).as_secs_f64());
        }
        let status = informed.informer.status().borrow().clone();
        assert_eq!((status.lists, status.failures), (1, 0));
        assert!(status.error.is_none() && informed.informer.has_synced());
        assert_eq!(log.text(), "");
        informed.stop().await;
        server.stop().await;
    });
}

/// C-25: a change of half a megabyte, as much as a ConfigMap may well hold, in pieces of a
/// thousand bytes, and another one right behind it: both arrive, in the one watch that there is.
#[test]
fn a_large_change_in_small_pieces_cuts_no_watch() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        for name in ["big", "web"] {
            server.put(name, "1").await;
        }
        let slow = Rule::new(Action::slow(1000, Duration::from_millis(1)));
        server.faults().add(slow.verb(Verb::Watch));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        let text = "あ".repeat(170_000);
        server.put("big", &text).await;
        server.put("web", "2").await;
        informed.holds(&[("big", &*text), ("web", "2")]).await;
        let mut words = informed.heard.until(4).await;
        words[..2].sort();
        let expected = ["initial big", "initial web", "updated big", "updated web"];
        assert_eq!(words, expected);
        let now = informed.watching().await;
        assert_eq!((now.lists, now.watches, now.failures), (1, 1, 0));
        informed.stop().await;
        server.stop().await;
    });
}

/// C-34: a server without streaming lists says 422. It is asked once, lists once, and is well
/// for as long as watches come and go; there is nothing to warn of.
#[test]
fn a_server_that_refuses_to_stream_is_asked_once() {
    let life = Duration::from_millis(if will_be_real() { 1100 } else { 3000 });
    let message = "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: \
                   sendInitialEvents is forbidden for watch unless the WatchList feature gate \
                   is enabled";
    anywhere(async |streaming| {
        let (log, _guard) = CapturedLog::start(Level::WARN);
        let server = Server::start().await;
        server.put("web", "1").await;
        let refused = Rule::new(Action::status(422).message(message));
        server.faults().add(lists(Streaming::Auto, refused));
        let ends = Rule::new(Action::cut_after(life));
        server.faults().add(watches(ends));
        let informed = Informed::start(&server, server.options(streaming));
        informed.holds(&[("web", "1")]).await;
        let version = informed.informer.lister().resource_version().unwrap();
        let synced: f64 = server.pauses().iter().sum();
        assert!(synced < 2.0, "{synced}");
        let mut expected = vec!["list rv=0 limit=500".to_owned()];
        expected.extend(vec![plain_watch(&version); 11]);
        if streaming == Streaming::Auto {
            expected.insert(0, "stream rv=".to_owned());
        }
        assert_eq!(server.asked_until(expected.len()).await, expected);
        assert_eq!(log.text(), "");
        informed.stop().await;
        server.stop().await;
    });
}

fn number(version: &str) -> u64 {
    version.parse().unwrap()
}

/// Before it runs.
fn will_be_real() -> bool {
    real::way().is_some()
}
