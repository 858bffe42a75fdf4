use std::time::Duration;

use crate::heard::Heard;
use crate::server::Server;
use crate::time::in_both_ways;
use crate::watch_of::Informed;

/// RF-03: the resync of a handler comes when it is due, for each object, and asks the server for
/// nothing.
#[test]
fn a_resync_comes_in_time_and_asks_for_nothing() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        let asked = server.asked();
        let resynced = Heard::default();
        let informer = &informed.informer;
        let period = Duration::from_millis(1);
        let begun = tokio::time::Instant::now();
        informer.add_handler_with_resync(resynced.handler(), period);
        let heard = resynced.until(4).await;
        assert_eq!(
            heard[..4],
            ["initial a", "resynced a", "resynced a", "resynced a"]
        );
        let taken = begun.elapsed();
        assert!((3 * period..10 * period).contains(&taken), "{taken:?}");
        assert_eq!(server.asked(), asked);
        informed.stop().await;
        server.stop().await;
    });
}
