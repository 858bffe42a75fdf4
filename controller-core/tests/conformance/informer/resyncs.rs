//! Resyncs beside a watch.
use std::time::Duration;

use super::bed::{Bed, Gap, WAYS};
use super::heard::{Heard, sorted};

const OFTEN: Duration = Duration::from_millis(10);

impl Bed {
    fn listen_with_resync(&self) -> Heard {
        let heard = Heard::new(self.informer.lister());
        self.informer
            .add_handler_with_resync(heard.handler(), OFTEN);
        heard
    }
}

/// SI-06: a list that brings what is known tells nobody of it; a resync tells of it who asked
/// for one, and nobody else.
#[tokio::test]
async fn what_a_list_does_not_change_is_told_by_resyncs_only() {
    for way in WAYS {
        let bed = Bed::new(way, &[("pod1", 1), ("pod2", 2)]).await;
        bed.gap(&Gap {
            listed: 2,
            seen: 0,
            missed: 2,
        });
        let (plain, resyncs) = (bed.listen(), bed.listen_with_resync());
        bed.play(async {
            bed.listed(1).await;
            bed.add("pod3", 3);
            bed.change("pod2", 5);
            resyncs.until("resynced pod3 3").await;
            resyncs.until("resynced pod2 5").await;
            resyncs.until("resynced pod1 1").await;
            let all = bed.all(&plain).await;
            let news = sorted(all[2..].to_vec());
            assert_eq!(news, ["added pod3 3", "updated pod2 2 to 5"], "{way:?}");
            let told = sorted(resyncs.until_last().await);
            let told = told.iter().filter(|text| !text.starts_with("resynced"));
            let expected = [
                "added pod3 3",
                "initial pod1 1",
                "initial pod2 2",
                "updated pod2 2 to 5",
            ];
            assert_eq!(told.collect::<Vec<_>>(), expected, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-14, FF-15: an interval tells once of what there is, asks nothing of the server, and never
/// brings back what has ended.
#[tokio::test]
async fn a_resync_tells_of_what_there_is() {
    for way in WAYS {
        let bed = Bed::new(way, &[("bar", 6), ("foo", 5)]).await;
        let heard = bed.listen_with_resync();
        bed.play(async {
            heard.until("resynced foo 5").await;
            bed.status(|now| now.watched).await;
            bed.remove("foo");
            heard.until("deleted foo 5").await;
            let (so_far, requests) = (heard.texts(), bed.server.requests().len());
            heard.until_count(so_far.len() + 3).await;
            let texts = heard.texts();
            let initial = ["initial bar 6", "initial foo 5"];
            assert_eq!(texts[..2], initial, "{way:?}");
            let resyncs = ["resynced bar 6"; 3];
            assert_eq!(texts[so_far.len()..so_far.len() + 3], resyncs, "{way:?}");
            assert_eq!(bed.server.requests().len(), requests, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}

/// FF-16, FF-32: of one object a resync is told only between its changes: it is neither told in
/// place of a change, nor before the addition, nor of an old copy.
#[tokio::test]
async fn resyncs_stand_between_changes() {
    for way in WAYS {
        let bed = Bed::new(way, &[("foo", 0)]).await;
        let heard = bed.listen_with_resync();
        bed.play(async {
            bed.listed(1).await;
            for change in 1..=50_u32 {
                bed.change("foo", change);
                heard
                    .until(&format!("updated foo {} to {change}", change - 1))
                    .await;
                if change % 10 == 0 {
                    heard.until(&format!("resynced foo {change}")).await;
                }
            }
            let mut now = 0;
            for text in heard.texts() {
                match text.split_once(' ').unwrap() {
                    ("initial", object) => assert_eq!(object, "foo 0"),
                    ("resynced", object) => assert_eq!(object, format!("foo {now}")),
                    (_, object) => {
                        now += 1;
                        assert_eq!(object, format!("foo {} to {now}", now - 1));
                    }
                }
            }
            assert_eq!(now, 50, "{way:?}");
        })
        .await;
        bed.close().await;
    }
}
