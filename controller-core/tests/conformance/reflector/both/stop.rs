use std::time::Duration;

use controller_core::watch::{Reflector, Streaming, WatchEvent};
use k8s_openapi::api::core::v1::ConfigMap;
use sim_apiserver::faults::{Action, Rule};
use tokio_util::sync::CancellationToken;

use crate::server::{CONFIG_MAPS, Server, lists, watches};
use crate::time::anywhere;
use crate::watch_of::Reflected;

/// RF-04: who is told to end before it begins asks for nothing.
#[test]
fn a_reflector_that_is_stopped_before_it_runs_sends_nothing() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        let options = server.options(streaming);
        let reflector = Reflector::<ConfigMap>::new(server.client(), CONFIG_MAPS, options);
        let stopped = CancellationToken::new();
        stopped.cancel();
        let sink = |event: WatchEvent<ConfigMap>| panic!("{event:?}");
        reflector.run(sink, stopped).await;
        assert_eq!(server.asked(), [""; 0]);
        server.stop().await;
    });
}

/// RF-02, RF-05, RF-11: the end comes in a quiet watch: the run returns, the one watch that there
/// was is closed, and nothing more is asked.
#[test]
fn a_reflector_that_is_stopped_in_a_quiet_watch_closes_it() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        let reflected = Reflected::start(&server, server.options(streaming));
        reflected.status_until(|now| now.watched).await;
        let asked = server.asked();
        let watch = asked.len() - 1;
        assert!(server.faults().requests()[watch].ended.is_none());
        reflected.stop().await;
        server.ended(watch).await;
        assert_eq!(server.asked(), asked);
        server.stop().await;
    });
}

/// RF-06, RF-07: the end comes while the answer to the watch is awaited, at once or later.
#[test]
fn a_reflector_that_is_stopped_before_its_watch_is_open_gives_it_up() {
    anywhere(async |streaming| {
        for later in [Duration::ZERO, Duration::from_millis(10)] {
            let server = Server::start().await;
            let hang = Rule::new(Action::Hang);
            let (hang, count) = match streaming {
                Streaming::Auto => (lists(streaming, hang), 1),
                Streaming::Never => (watches(hang), 2),
            };
            server.faults().add(hang);
            let reflected = Reflected::start(&server, server.options(streaming));
            let asked = server.asked_until(count).await;
            tokio::time::sleep(later).await;
            reflected.stop().await;
            server.ended(count - 1).await;
            assert_eq!(server.asked(), asked);
            server.stop().await;
        }
    });
}
