//! What the lines of one watch become.
use std::time::Duration;

use controller_core::store::CaughtUp;
use serde_json::json;
use sim_apiserver::SimApiServer;

use super::bed::{Bed, WAYS};

/// FF-09, FF-17: one call a change. A handler that keeps up hears of each.
#[tokio::test]
async fn what_fits_is_heard_one_by_one() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("foo", 10);
            bed.change("foo", 12);
            bed.remove("foo");
            let expected = ["added foo 10", "updated foo 10 to 12", "deleted foo 12"];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-28: a burst is told like single changes: what the list brought is initial and nothing
/// after it, and of one key each change comes in its turn.
#[tokio::test]
async fn a_burst_is_told_change_by_change() {
    for way in WAYS {
        let bed = Bed::new(way, &[("a", 1), ("b", 2)]).await;
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("c", 3);
            bed.change("a", 4);
            bed.change("a", 5);
            bed.change("c", 6);
            bed.remove("b");
            bed.change("a", 7);
            let expected = [
                "initial a 1",
                "initial b 2",
                "added c 3",
                "updated a 1 to 4",
                "updated a 4 to 5",
                "updated c 3 to 6",
                "deleted b 2",
                "updated a 5 to 7",
            ];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-24: what changes often does not come before what changed earlier.
#[tokio::test]
async fn nobody_jumps_the_line() {
    for way in WAYS {
        let known = [("bar", 0), ("foo", 0), ("zab", 0)];
        let bed = Bed::new(way, &known).await;
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            for (name, number) in [
                ("foo", 10),
                ("bar", 1),
                ("foo", 11),
                ("foo", 13),
                ("zab", 30),
            ] {
                bed.change(name, number);
            }
            heard.until("updated foo 0 to 10").await;
            bed.change("foo", 14);
            let all = bed.all(&heard).await;
            let expected = [
                "updated foo 0 to 10",
                "updated bar 0 to 1",
                "updated foo 10 to 11",
                "updated foo 11 to 13",
                "updated zab 0 to 30",
                "updated foo 13 to 14",
            ];
            assert_eq!(all[3..], expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-11, without known objects. Mended: the end of what nobody has heard of is no news, and a
/// change of it is the first that is heard.
#[tokio::test]
async fn lines_about_unknown_objects_tell_what_is_new_to_the_cache() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        let lines = [
            (1, bed.line("MODIFIED", "bar", 15, 1)),
            (4, bed.line("DELETED", "baz", 20, 4)),
        ];
        bed.lines_instead(0, &lines);
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("foo", 10);
            bed.change("foo", 10);
            bed.add("qux", 17);
            bed.remove("qux");
            bed.change("foo", 10);
            let expected = [
                "added foo 10",
                "added bar 15",
                "added qux 17",
                "deleted qux 17",
            ];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-12: a line may say `ADDED` of what is known, as after a reconnect.
#[tokio::test]
async fn lines_about_known_objects_are_updates_and_an_end() {
    for way in WAYS {
        let bed = Bed::new(way, &[("foo", 5), ("bar", 6), ("baz", 7)]).await;
        bed.lines_instead(3, &[(0, bed.line("ADDED", "foo", 10, 0))]);
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.change("foo", 10);
            bed.change("bar", 15);
            bed.remove("baz");
            let all = bed.all(&heard).await;
            let expected = [
                "updated foo 5 to 10",
                "updated bar 6 to 15",
                "deleted baz 7",
            ];
            assert_eq!(all[3..], expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-08: a bookmark moves the cache on, and nobody hears of it.
#[tokio::test]
async fn a_bookmark_is_no_news() {
    for way in WAYS {
        let builder = SimApiServer::builder().bookmark_interval(Duration::from_millis(10));
        let bed = Bed::at(builder.start().await.unwrap(), way, &[("foo", 5)], |it| it);
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            let elsewhere = bed
                .server
                .seed(json!({"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": "elsewhere"}}));
            let version = elsewhere["metadata"]["resourceVersion"].as_str().unwrap();
            let lister = bed.informer.lister();
            let within = Duration::from_secs(30);
            assert_eq!(
                lister.wait_for_version(version, within).await,
                CaughtUp::Yes
            );
            assert_eq!(bed.all(&heard).await, ["initial foo 5"], "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// CT-14: during a call the cache stands where the told change was made.
#[tokio::test]
async fn the_version_of_the_cache_follows_each_line() {
    for way in WAYS {
        let bed = Bed::new(way, &[("foo", 5)]).await;
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            heard.until("initial foo 5").await;
            let mut versions = vec![bed.server.revision().to_string()];
            bed.change("foo", 6);
            versions.push(bed.server.revision().to_string());
            heard.until("updated foo 5 to 6").await;
            bed.remove("foo");
            versions.push(bed.server.revision().to_string());
            heard.until("deleted foo 6").await;
            let calls = heard.calls();
            let during: Vec<_> = calls.iter().map(|call| call.version.as_str()).collect();
            assert_eq!(during, versions, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}
