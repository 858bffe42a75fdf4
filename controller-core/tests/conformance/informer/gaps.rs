//! What a list makes of the changes that a watch has lost.
use super::bed::{Bed, Gap, WAYS};
use super::heard::sorted;

/// FF-02: the end was seen, and the list has another one in its place.
#[tokio::test]
async fn an_end_that_was_seen_is_not_told_again_by_the_list() {
    for way in WAYS {
        let bed = Bed::new(way, &[("foo1", 5)]).await;
        bed.gap(&Gap {
            listed: 1,
            seen: 1,
            missed: 1,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.remove("foo1");
            bed.add("foo2", 6);
            bed.listed(2).await;
            let expected = ["initial foo1 5", "deleted foo1 5", "added foo2 6"];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-03, FF-04, FF-22: what only a line has told of vanishes; what a line has ended does not
/// end twice.
#[tokio::test]
async fn what_only_a_line_has_told_of_vanishes_once() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        bed.gap(&Gap {
            listed: 0,
            seen: 3,
            missed: 2,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("baz", 7);
            bed.add("qux", 8);
            bed.remove("qux");
            bed.remove("baz");
            bed.add("foo", 5);
            bed.listed(2).await;
            let expected = [
                "added baz 7",
                "added qux 8",
                "deleted qux 8",
                "vanished baz 7",
                "added foo 5",
            ];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-05, FF-06: lists that bring what is known say nothing, one that does not bring it says
/// so once, and so does the next one. In client-go each list is told.
#[tokio::test]
async fn lists_that_bring_nothing_new_are_not_heard() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        // Two lists with `foo`, after a change that is none; then two without it.
        bed.gap(&Gap {
            listed: 0,
            seen: 1,
            missed: 0,
        });
        bed.gap(&Gap {
            listed: 1,
            seen: 0,
            missed: 0,
        });
        bed.gap(&Gap {
            listed: 1,
            seen: 0,
            missed: 1,
        });
        bed.gap(&Gap {
            listed: 0,
            seen: 0,
            missed: 0,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("foo", 5);
            bed.listed(3).await;
            bed.remove("foo");
            bed.listed(5).await;
            let expected = ["added foo 5", "vanished foo 5"];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-07: what vanishes is what came last.
#[tokio::test]
async fn what_came_back_vanishes_in_its_last_state() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        bed.gap(&Gap {
            listed: 0,
            seen: 3,
            missed: 1,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("foo", 2);
            bed.remove("foo");
            bed.add("foo", 3);
            bed.remove("foo");
            bed.listed(2).await;
            let expected = [
                "added foo 2",
                "deleted foo 2",
                "added foo 3",
                "vanished foo 3",
            ];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-13, FF-31: what a line added the list updates, and the cache stands at the list.
#[tokio::test]
async fn a_list_updates_what_a_line_added() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        bed.gap(&Gap {
            listed: 0,
            seen: 1,
            missed: 1,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("foo", 10);
            bed.change("foo", 15);
            bed.listed(2).await;
            heard.until("updated foo 10 to 15").await;
            let version = bed.server.revision().to_string();
            assert_eq!(heard.calls().last().unwrap().version, version);
            let expected = ["added foo 10", "updated foo 10 to 15"];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

const KNOWN: [(&str, u32); 3] = [("bar", 6), ("baz", 7), ("foo", 5)];

/// FF-18: of three one was seen to end, one ends unseen, one stays.
#[tokio::test]
async fn a_list_ends_what_it_does_not_bring_and_not_what_has_ended() {
    for way in WAYS {
        let bed = Bed::new(way, &KNOWN).await;
        bed.gap(&Gap {
            listed: 3,
            seen: 1,
            missed: 1,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.remove("baz");
            bed.remove("bar");
            bed.listed(2).await;
            let all = bed.all(&heard).await;
            assert_eq!(all[3..], ["deleted baz 7", "vanished bar 6"], "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-19: a tombstone holds the newest state that was seen.
#[tokio::test]
async fn a_list_ends_the_newest_known_state() {
    for way in WAYS {
        let bed = Bed::new(way, &KNOWN).await;
        bed.gap(&Gap {
            listed: 3,
            seen: 1,
            missed: 2,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.change("baz", 10);
            bed.remove("baz");
            bed.remove("bar");
            bed.listed(2).await;
            let mut all = bed.all(&heard).await.split_off(3);
            assert_eq!(all.remove(0), "updated baz 7 to 10", "{way:?}");
            assert_eq!(
                sorted(all),
                ["vanished bar 6", "vanished baz 10"],
                "{way:?}"
            );
        })
        .await;
        bed.close().await;
    }
}

/// FF-20: one that ended and came back, and then vanished.
#[tokio::test]
async fn a_list_ends_what_came_back() {
    for way in WAYS {
        let bed = Bed::new(way, &KNOWN).await;
        bed.gap(&Gap {
            listed: 3,
            seen: 2,
            missed: 2,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.remove("bar");
            bed.add("bar", 100);
            bed.remove("bar");
            bed.remove("baz");
            bed.listed(2).await;
            let mut all = bed.all(&heard).await.split_off(3);
            let vanished = all.split_off(2);
            assert_eq!(all, ["deleted bar 6", "added bar 100"], "{way:?}");
            assert_eq!(
                sorted(vanished),
                ["vanished bar 100", "vanished baz 7"],
                "{way:?}"
            );
        })
        .await;
        bed.close().await;
    }
}

/// SI-42: an expired watch and then an empty list are one tombstone.
#[tokio::test]
async fn what_an_empty_list_ends_vanishes_in_its_last_known_state() {
    for way in WAYS {
        let bed = Bed::new(way, &[]).await;
        bed.gap(&Gap {
            listed: 0,
            seen: 1,
            missed: 1,
        });
        let heard = bed.listen();
        bed.play(async {
            bed.listed(1).await;
            bed.add("secret1", 123);
            bed.remove("secret1");
            bed.listed(2).await;
            let expected = ["added secret1 123", "vanished secret1 123"];
            assert_eq!(bed.all(&heard).await, expected, "{way:?}");
            assert!(bed.informer.lister().len() <= 1);
        })
        .await;
        bed.close().await;
    }
}
