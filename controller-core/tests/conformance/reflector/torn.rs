use std::time::Duration;

use controller_core::watch::Streaming;
use sim_apiserver::faults::{Action, Place, Rule};
use sim_apiserver::{SimApiServer, Tls};

use crate::server::{Server, first_watch, lists};
use crate::time::in_both_ways;
use crate::watch_of::Informed;

const SECOND: Duration = Duration::from_secs(1);

/// RF-32: a connection that is closed in the middle of a watch, over TLS without a
/// `close_notify`, ends that watch and no more: the next one goes on from the last event.
#[test]
fn a_watch_whose_connection_is_torn_goes_on_without_a_list() {
    in_both_ways(async |streaming| {
        for tls in [false, true] {
            let server = server(tls).await;
            server.put("a", "1").await;
            let torn = |at: Place| Action::cut_after_events(at).torn();
            server.faults().add(first_watch(streaming, 1, 1, torn));
            let informed = Informed::start(&server, server.options(streaming));
            informed.watching().await;
            let seen = server.put("b", "1").await;
            let status = informed.status_until(|now| now.watches == 2).await;
            assert_eq!((status.lists, status.failures), (1, 0));
            assert_eq!(server.asked().last(), Some(&format!("watch rv={seen}")));
            server.put("c", "1").await;
            informed.holds(&[("a", "1"), ("b", "1"), ("c", "1")]).await;
            informed.stop().await;
            server.stop().await;
        }
    });
}

/// A list that is torn is no list, however much of it has come: what it did not bring stays.
#[test]
fn a_list_whose_connection_is_torn_takes_nothing_away() {
    in_both_ways(async |streaming| {
        for tls in [false, true] {
            let server = server(tls).await;
            for name in ["a", "b", "c"] {
                server.put(name, "1").await;
            }
            let faults = server.faults();
            faults.add(first_watch(streaming, 3, 0, Action::expired_in_stream));
            let torn = match streaming {
                Streaming::Auto => Rule::new(Action::cut_after_events(1).torn()),
                // One line, of which the beginning has come by then.
                Streaming::Never => {
                    Rule::new(Action::slow(400, SECOND)).then(Action::cut_after(SECOND / 2).torn())
                }
            };
            faults.add(lists(streaming, torn).attempts(2));
            let informed = Informed::start(&server, server.options(streaming));
            informed.status_until(|now| now.failures == 1).await;
            assert_eq!(informed.cached().len(), 3);
            informed.status_until(|now| now.lists == 2).await;
            server.put("d", "1").await;
            let names = ["a", "b", "c", "d"];
            informed.holds(&names.map(|name| (name, "1"))).await;
            assert_eq!(informed.heard.words().len(), 4, "nothing vanished");
            informed.stop().await;
            server.stop().await;
        }
    });
}

async fn server(tls: bool) -> Server {
    let builder = SimApiServer::builder();
    Server::of(match tls {
        true => builder.tls(Tls::generated().unwrap()),
        false => builder,
    })
    .await
}
