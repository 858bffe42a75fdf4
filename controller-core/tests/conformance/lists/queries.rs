use std::time::Duration;

use http::header;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::server::Server;
use crate::time::in_both_ways;
use crate::watch_of::Reflected;

/// kube-rs 10: servers compress a watch event by event, which no decoder of whole bodies
/// reads. Only a list in pages may be compressed.
#[test]
fn nothing_that_stays_open_is_asked_for_compressed() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        let cut = Rule::new(Action::cut_after(Duration::from_secs(2)));
        server.faults().add(cut.verb(Verb::Watch).attempts(1));
        let reflected = Reflected::start(&server, server.options(streaming));
        server.asked_until(3).await;
        reflected.stop().await;
        let requests = server.sim().requests();
        for request in &requests {
            let encoding = request.headers.get(header::ACCEPT_ENCODING);
            let encoding = encoding.map(|it| it.to_str().unwrap());
            match request.verb() {
                Verb::Watch => assert_eq!(encoding, Some("identity")),
                Verb::List => assert!(encoding.is_some_and(|it| it.contains("gzip"))),
                other => panic!("{other}"),
            }
        }
        server.stop().await;
    });
}

/// kube-rs 14: the server is asked to end each watch after five to ten minutes, evenly spread,
/// so that a thousand that began together do not begin again together.
#[test]
fn watches_end_at_random_between_five_and_ten_minutes() {
    in_both_ways(async |streaming| {
        let server = Server::start().await;
        let cut = Rule::new(Action::cut_after(Duration::from_secs(1)));
        server.faults().add(cut.verb(Verb::Watch));
        let reflected = Reflected::start(&server, server.options(streaming));
        server.asked_until(101).await;
        reflected.stop().await;
        let requests = server.faults().requests();
        let watches = requests.iter().filter(|it| it.info.verb == Verb::Watch);
        let seconds = watches.map(|it| it.info.query("timeoutSeconds").unwrap().parse().unwrap());
        let seconds: Vec<u32> = seconds.collect();
        assert!(seconds.iter().all(|it| (300..600).contains(it)));
        let below = |limit: u32| seconds.iter().filter(|it| **it < limit).count();
        for limit in [375, 450, 525] {
            let share = below(limit) as f64 / seconds.len() as f64;
            let expected = f64::from(limit - 300) / 300.0;
            // Five standard deviations.
            assert!((share - expected).abs() < 0.25, "{share} below {limit}");
        }
        server.stop().await;
    });
}
