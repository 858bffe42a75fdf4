use std::time::Duration;

use controller_core::watch::Streaming;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::Instant;

use crate::requests::of_list_and_watch;
use crate::server::Server;
use crate::time::anywhere;
use crate::watch_of::Informed;

/// Informers on one client, each with a watch that is open.
async fn crowd(server: &Server, streaming: Streaming, size: u64) -> Vec<Informed> {
    let start = |_| Informed::start(server, server.options(streaming));
    let crowd: Vec<_> = (0..size).map(start).collect();
    for informed in &crowd {
        informed.watching().await;
    }
    crowd
}

/// Resets each of the first watches after a while, and lets those that follow wait.
fn cut(server: &Server, size: u64, after: Duration, wait: Duration) {
    let rule = |action| Rule::new(action).verb(Verb::Watch);
    let cut = Action::cut_after(after).with_reset();
    let faults = server.faults();
    faults.add(rule(Action::from(cut)).attempts(1..=size));
    faults.add(rule(Action::Delay(wait)).attempts(size + 1..=2 * size));
}

/// kube-rs 16: seven watches are reset at once, and what comes after them is served only after
/// five seconds. Each comes back by itself, none waits for another, none looks dead or fails.
#[test]
fn seven_watches_that_are_cut_at_once_all_come_back() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        let wait = Duration::from_secs(5);
        cut(&server, 7, Duration::from_secs(2), wait);
        let seven = crowd(&server, streaming, 7).await;
        let second = 7 * (of_list_and_watch(streaming) + 1);
        server.asked_until(second).await;
        let cut_at = Instant::now();
        server.put("a", "2").await;
        for informed in &seven {
            informed.holds(&[("a", "2")]).await;
            let now = informed.watching().await;
            assert!(now.last_contact().unwrap() > cut_at);
            assert_eq!((now.lists, now.restarts(), now.failures), (1, 1, 0));
        }
        let back = cut_at.elapsed().as_secs_f64();
        assert!((4.0..7.0).contains(&back), "{back}");
        for informed in seven {
            informed.stop().await;
        }
        server.stop().await;
    });
}

/// kube-rs 18: two hundred informers on one client of HTTP/1.1, each with a connection of its
/// own for its watch: none starves, before a change or after a cut.
#[test]
fn two_hundred_informers_on_one_client_all_hear_of_each_change() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        cut(&server, 200, Duration::from_secs(4), Duration::ZERO);
        let crowd = crowd(&server, streaming, 200).await;
        server.put("a", "2").await;
        for informed in &crowd {
            informed.holds(&[("a", "2")]).await;
        }
        for informed in &crowd {
            informed.status_until(|now| now.restarts() == 1).await;
        }
        server.put("a", "3").await;
        for informed in crowd {
            informed.holds(&[("a", "3")]).await;
            let now = informed.watching().await;
            assert_eq!((now.lists, now.restarts(), now.failures), (1, 1, 0));
            informed.stop().await;
        }
        server.stop().await;
    });
}
