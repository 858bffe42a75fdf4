//! The writer: what was sent is awaited, and after the end nothing is sent.

use std::future::Future;
use std::pin::pin;

use controller_core::controllers::min_replicas::Effect;
use futures::poll;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Duration, Instant, sleep};

use crate::bed::Bed;

fn slow_writes(action: impl Into<Action>) -> Rule {
    Rule::new(action).verb(Verb::Patch)
}

/// Polls the future until the server has been asked, then drops it.
async fn drop_after_sending(bed: &Bed, work: impl Future) {
    let mut work = pin!(work);
    while bed.patches().is_empty() {
        assert!(poll!(&mut work).is_pending());
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_reconcile_abandons_no_write() {
    let bed = Bed::with_web().await;
    bed.faults()
        .add(slow_writes(Action::Delay(Duration::from_secs(2))));
    drop_after_sending(&bed, bed.reconcile_web()).await;
    assert_eq!((bed.writer.in_flight(), bed.replicas("web")), (1, Some(1)));
    assert_eq!(bed.writer.flush(Duration::from_secs(5)).await, 0);
    assert_eq!(bed.replicas("web"), Some(2));
}

#[tokio::test(start_paused = true)]
async fn a_flush_waits_no_longer_than_its_deadline() {
    let bed = Bed::with_web().await;
    bed.faults().add(slow_writes(Action::Hang));
    drop_after_sending(&bed, bed.reconcile_web()).await;
    let start = Instant::now();
    assert_eq!(bed.writer.flush(Duration::from_secs(1)).await, 1);
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

#[tokio::test]
async fn after_the_end_nothing_is_sent() {
    let bed = Bed::with_web().await;
    bed.writer.close();
    let verdict = bed.settle("web").await;
    assert!(matches!(verdict.effect, Effect::NotSent), "{verdict:?}");
    assert_eq!(
        verdict.to_string(),
        "not raised from 1 to 2: stopped before it was sent"
    );
    assert!(bed.exchange().is_empty());
}

/// The server asked to come back later, and by then it is too late.
#[tokio::test(start_paused = true)]
async fn after_the_end_nothing_is_sent_again() {
    for code in [429, 503] {
        let bed = Bed::with_web().await;
        bed.faults()
            .add(slow_writes(Action::status(code).retry_after(3)));
        let start = Instant::now();
        let closing = async {
            sleep(Duration::from_secs(5)).await;
            bed.writer.close();
        };
        let (verdict, ()) = futures::join!(bed.settle("web"), closing);
        assert_eq!(
            verdict.to_string(),
            "not raised from 1 to 2: stopped before it was sent"
        );
        assert_eq!(start.elapsed(), Duration::from_secs(5));
        sleep(Duration::from_secs(60)).await;
        let asked = bed.exchange();
        assert_eq!(asked, vec![format!("PATCH web/scale {code}"); asked.len()]);
        assert_eq!(asked.len(), 2);
    }
}

/// Ctrl-C while a write is on its way: it is awaited, and told.
#[tokio::test(start_paused = true)]
async fn a_write_on_its_way_is_not_stopped_by_the_end() {
    let bed = Bed::with_web().await;
    bed.faults()
        .add(slow_writes(Action::Delay(Duration::from_secs(2))));
    let settled = bed.settle("web");
    let closing = async {
        bed.server
            .wait_for_requests(|requests| !requests.is_empty())
            .await;
        bed.writer.close();
    };
    let (verdict, ()) = futures::join!(settled, closing);
    assert_eq!(verdict.to_string(), "scaled from 1 to 2");
}
