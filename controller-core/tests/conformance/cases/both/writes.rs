use std::time::Duration;

use controller_core::client::ObjectKey;
use controller_core::store::{CaughtUp, OwnWrites};
use sim_apiserver::faults::{Action, Rule};

use crate::heard::value;
use crate::requests::of_list_and_watch;
use crate::server::{Server, first_watch, nth_watch};
use crate::time::anywhere;
use crate::watch_of::Informed;

/// BX-27: whether a cache shows what was just written can be asked, and waited for. While its
/// watch is late it does not.
#[test]
fn a_cache_tells_whether_it_shows_what_was_written() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        server
            .faults()
            .add(first_watch(streaming, 1, 1, Action::cut_after_events));
        let second = of_list_and_watch(streaming);
        let late = Rule::new(Action::DelayAnswer(Duration::from_secs(3)));
        server.faults().add(nth_watch(streaming, 2, late));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        let before = server.put("b", "1").await;
        server.asked_until(second + 1).await;
        let lister = informed.informer.lister();
        let writes = OwnWrites::new(lister.clone(), Duration::from_secs(30));
        let key = ObjectKey::namespaced(server.namespace(), "a");

        let written = server.put("a", "2").await;
        writes.record(&key, &written);
        assert_eq!(lister.caught_up(&before), CaughtUp::Yes);
        assert_eq!(lister.caught_up(&written), CaughtUp::Behind);
        assert_eq!(writes.check(&key), CaughtUp::Behind);
        let soon = Duration::from_millis(100);
        let waited = lister.wait_for_version(&written, soon).await;
        assert_eq!(waited, CaughtUp::Behind, "it does not wait for ever");

        let long = Duration::from_secs(15);
        assert_eq!(writes.caught_up(&key, long).await, CaughtUp::Yes);
        assert_eq!(value(&lister.get(&key).unwrap()), "2");
        assert_eq!(lister.caught_up(&written), CaughtUp::Yes);
        assert!(writes.is_empty());
        informed.stop().await;
        server.stop().await;
    });
}
