use std::net::Ipv4Addr;
use std::time::Duration;

use controller_core::client::Scope;
use controller_core::watch::{Reflector, State, Streaming, WatchEvent, WatchOptions};
use k8s_openapi::api::core::v1::ConfigMap;
use sim_apiserver::SimApiServer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::{CONFIG_MAPS, client_of, kubeconfig};
use crate::time::in_both_ways;

/// RF-15: a server that is not there is asked ever less often: of two waits the second has twice
/// the floor of the first, and each is drawn between its floor and twice that.
#[test]
fn the_waits_for_a_server_that_is_away_double() {
    in_both_ways(async |streaming| {
        let waits = waits(streaming, |options| options, 5).await;
        for (wait, floor) in waits.iter().zip([0.8, 1.6, 3.2, 6.4, 12.8]) {
            assert!((floor..floor * 2.0).contains(wait), "{waits:?}");
        }
    });
}

/// RF-16: and no less often than that, however long it is away: client-go's ramp starts over
/// every two minutes.
#[test]
fn the_waits_for_a_server_that_stays_away_are_flat() {
    in_both_ways(async |streaming| {
        let waits = waits(streaming, |options| options, 40).await;
        let flat = &waits[5..];
        assert!(flat.iter().all(|it| (15.0..30.0).contains(it)), "{waits:?}");
        let spread =
            |it: f64| flat.iter().any(|wait| *wait < it) && flat.iter().any(|wait| *wait > it);
        assert!(spread(22.5), "{waits:?}");
    });
}

/// RF-17: whoever knows better sets the waits.
#[test]
fn the_waits_can_be_set() {
    in_both_ways(async |streaming| {
        let shorter = |options: WatchOptions| {
            options.backoff(Duration::from_millis(10), Duration::from_millis(100))
        };
        let waits = waits(streaming, shorter, 7).await;
        for (wait, floor) in waits.iter().zip([0.01, 0.02, 0.04, 0.08, 0.1, 0.1, 0.1]) {
            assert!((floor..floor * 2.0).contains(wait), "{waits:?}");
        }
    });
}

/// The first waits of a reflector, in seconds, whose server refuses connections. It is there
/// afterwards, and is found.
async fn waits(
    streaming: Streaming,
    set: impl Fn(WatchOptions) -> WatchOptions,
    count: usize,
) -> Vec<f64> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let (client, _directory) = client_of(&kubeconfig(&format!("http://127.0.0.1:{port}")));
    let options = set(WatchOptions::new(Scope::All).streaming(streaming));
    let reflector = Reflector::<ConfigMap>::new(client, CONFIG_MAPS, options);
    let mut status = reflector.status();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(reflector.run(|_: WatchEvent<ConfigMap>| {}, stop.clone()));
    let mut waits = Vec::new();
    while waits.len() < count {
        let failures = waits.len() as u64;
        let now = status.wait_for(|now| now.failures > failures).await;
        let now = now.unwrap().clone();
        let State::BackingOff { until, why } = &now.state else {
            panic!("{:?}", now.state);
        };
        assert!(why.to_string().contains("was refused"), "{why}");
        waits.push((*until - tokio::time::Instant::now()).as_secs_f64());
    }
    let server = SimApiServer::builder().port(port).start().await.unwrap();
    status.wait_for(|now| now.synced).await.unwrap();
    stop.cancel();
    tasks.join_all().await;
    server.shutdown().await;
    waits
}
