use std::time::Duration;

use controller_core::watch::{Object, Streaming};
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::server::Server;
use crate::time::anywhere;
use crate::watch_of::Informed;

/// RF-39: a cache that was filled by a stream and one that was filled by pages hold the same, at
/// the same versions, while objects come, change and go.
#[test]
fn a_streamed_cache_equals_a_listed_one() {
    anywhere(async |_| {
        let server = Server::start().await;
        for index in 0..30 {
            server.put(&format!("object-{index:02}"), "0").await;
        }
        // Slow enough that the list and the changes are under way together.
        let slow = Action::slow(4096, Duration::from_millis(50));
        server
            .faults()
            .add(Rule::new(slow).verb(Verb::Watch).verb(Verb::List));
        let streamed = Informed::start(&server, server.options(Streaming::Auto));
        let listed = Informed::start(&server, server.options(Streaming::Never));
        for index in 0..30 {
            let name = format!("object-{index:02}");
            match index % 3 {
                0 => server.delete(&name).await,
                1 => drop(server.put(&name, "1").await),
                _ => drop(server.put(&format!("late-{index}"), "1").await),
            }
        }
        let last = server.put("last", "1").await;
        let mut caches = Vec::new();
        for informed in [&streamed, &listed] {
            let came = |notes: &[crate::heard::Note]| notes.iter().any(|it| it.version == last);
            informed.heard.until_notes(came).await;
            let objects = informed.informer.lister().list();
            let mut objects: Vec<_> = objects
                .iter()
                .map(|it| (it.key().name().to_owned(), it.resource_version().to_owned()))
                .collect();
            objects.sort();
            caches.push(objects);
        }
        assert_eq!(caches[0].len(), 31);
        assert_eq!(caches[0], caches[1]);
        streamed.stop().await;
        listed.stop().await;
        server.stop().await;
    });
}
