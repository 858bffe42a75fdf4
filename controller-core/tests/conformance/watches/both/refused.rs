use controller_core::watch::State;
use sim_apiserver::faults::Action;

use super::waits::then_refuse;
use crate::requests::{assert_waits, later_list, of_list_and_watch, plain_watch};
use crate::server::Server;
use crate::time::anywhere;
use crate::watch_of::Informed;

/// RW-02: a watch that cannot be opened is opened later where the one before ended; only where
/// its version has expired does a list come first. What happens meanwhile is heard.
#[test]
fn a_watch_that_cannot_be_opened_is_opened_later_and_misses_nothing() {
    for (refused, expired) in [
        (Action::status(500).into(), false),
        (Action::Expired, true),
        (Action::Reset, false),
    ] {
        anywhere(async |streaming| {
            let server = Server::start().await;
            then_refuse(&server, streaming, refused.clone(), 1);
            let informed = Informed::start(&server, server.options(streaming));
            informed.watching().await;
            let version = server.put("one", "1").await;
            let backs_off = |state: &State| matches!(state, State::BackingOff { .. });
            informed.status_until(|now| backs_off(&now.state)).await;
            server.put("two", "1").await;
            informed.holds(&[("one", "1"), ("two", "1")]).await;
            assert_eq!(informed.heard.words(), ["added one", "added two"]);
            let at = of_list_and_watch(streaming);
            let again = match expired {
                true => later_list(streaming, &version),
                false => plain_watch(&version),
            };
            assert_eq!(server.asked()[at..at + 2], [plain_watch(&version), again]);
            assert_waits(&server.pauses()[at..=at], &[0.8]);
            informed.stop().await;
            server.stop().await;
        });
    }
}
