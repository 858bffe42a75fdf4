use std::time::Duration;

use controller_core::watch::Streaming;

use crate::server::Server;
use crate::time::anywhere;
use crate::watch_of::Reflected;

/// RF-13: the first list takes any version, the watch goes on from what it brought and asks for
/// bookmarks. A streamed list is one watch that asks for all of that, and as new as etcd.
#[test]
fn a_list_and_the_watch_that_goes_on_from_it() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        let at = server.put("a", "1").await;
        let reflected = Reflected::start(&server, server.options(streaming));
        let version = reflected.until_lists(1).await.remove(0);
        let events = reflected.until_event(&format!("done {version}")).await;
        assert_eq!(
            events[..3],
            [
                "list".to_owned(),
                format!("listed a@{at}"),
                format!("done {version}")
            ]
        );
        match streaming {
            Streaming::Never => {
                let asked = server.asked_until(2).await;
                assert_eq!(
                    asked,
                    [
                        "list rv=0 limit=500".to_owned(),
                        format!("watch rv={version}")
                    ]
                );
                for (key, value) in [("watch", None), ("allowWatchBookmarks", None)] {
                    assert_eq!(server.query(0, key).as_deref(), value, "{key}");
                }
                for key in ["watch", "allowWatchBookmarks"] {
                    assert_eq!(server.query(1, key).as_deref(), Some("true"), "{key}");
                }
            }
            Streaming::Auto => {
                reflected.status_until(|now| now.watched).await;
                assert_eq!(server.asked(), ["stream rv="]);
                for (key, value) in [
                    ("watch", "true"),
                    ("allowWatchBookmarks", "true"),
                    ("sendInitialEvents", "true"),
                    ("resourceVersionMatch", "NotOlderThan"),
                ] {
                    assert_eq!(server.query(0, key).as_deref(), Some(value), "{key}");
                }
            }
        }
        reflected.stop().await;
        server.stop().await;
    });
}

/// RF-31: the server is told when to end a watch: at a time drawn between the least and twice
/// that. Less than five minutes is five minutes.
#[test]
fn the_time_of_a_watch_is_drawn_between_the_least_and_twice_that() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        for (least, range) in [
            (None, 300..600),
            (Some(1), 300..600),
            (Some(1800), 1800..3600),
        ] {
            let mut drawn = Vec::new();
            for _ in 0..4 {
                let mut options = server.options(streaming);
                if let Some(least) = least {
                    options = options.min_watch_timeout(Duration::from_secs(least));
                }
                let reflected = Reflected::start(&server, options);
                reflected.status_until(|now| now.watched).await;
                let last = server.asked().len() - 1;
                let seconds = server.query(last, "timeoutSeconds").unwrap();
                drawn.push(seconds.parse::<u64>().unwrap());
                reflected.stop().await;
            }
            assert!(drawn.iter().all(|it| range.contains(it)), "{drawn:?}");
            assert!(drawn.iter().any(|it| *it != drawn[0]), "{drawn:?}");
        }
        server.stop().await;
    });
}
