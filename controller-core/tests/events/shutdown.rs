//! The end: what is flushed, what is counted, and that nothing stays behind.

use std::sync::Arc;

use controller_core::write::events::{DropReason, EventWriter};
use sim_apiserver::faults::{Action, Rule};
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant};

use crate::bed::{Bed, about, creates, raised};

/// BX-25.
#[tokio::test(start_paused = true)]
async fn queued_events_are_flushed() {
    let mut bed = Bed::new().await;
    for pod in 0..100 {
        bed.recorder.record(about(&format!("pod-{pod}")));
    }
    for _ in 0..5 {
        bed.recorder.record(raised("counted"));
    }
    let counts = bed.stop().await;
    assert_eq!(bed.events().len(), 101);
    assert_eq!((counts.written, counts.unwritten()), (105, 0));
}

/// BX-25: the server takes half a second for each, and eight at a time: four rounds in 2 s.
#[tokio::test(start_paused = true)]
async fn a_flush_ends_at_its_deadline_and_counts_the_rest() {
    let mut bed = Bed::new().await;
    let slow = Action::DelayAnswer(Duration::from_millis(450));
    bed.server.faults().add(creates(Rule::new(slow)));
    for pod in 0..100 {
        bed.recorder.record(about(&format!("pod-{pod}")));
    }
    let start = Instant::now();
    let counts = bed.stop().await;
    assert_eq!(start.elapsed(), EventWriter::FLUSH_DEADLINE);
    assert_eq!(counts.written, 32);
    assert_eq!(counts.dropped(DropReason::ShuttingDown), 68);
}

/// EV-09: what waits for its next try has one more at once.
#[tokio::test(start_paused = true)]
async fn after_the_end_there_is_one_try_and_no_waiting() {
    let mut bed = Bed::new().await;
    bed.server.faults().add(creates(Rule::new(Action::Reset)));
    bed.record(raised("one"), 1).await;
    bed.pass(Duration::from_secs(1)).await;
    let start = Instant::now();
    let counts = bed.stop().await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(bed.exchange(), ["POST -", "POST -"]);
    assert_eq!(counts.dropped(DropReason::ShuttingDown), 1);
}

/// EV-01: a server that hangs holds up nobody for longer than the deadline.
#[tokio::test(start_paused = true)]
async fn a_hanging_server_delays_the_end_by_the_deadline() {
    let mut bed = Bed::idle().await;
    let writer = bed.writer().take().unwrap();
    *bed.writer() = Some(writer.flush_deadline(Duration::from_millis(300)));
    bed.run();
    bed.server.faults().add(creates(Rule::new(Action::Hang)));
    bed.record(raised("one"), 1).await;
    let start = Instant::now();
    let counts = bed.stop().await;
    assert_eq!(start.elapsed(), Duration::from_millis(300));
    assert_eq!(counts.dropped(DropReason::ShuttingDown), 1);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_end_is_counted() {
    let mut bed = Bed::new().await;
    bed.stop().await;
    bed.recorder.record(raised("late"));
    let counts = bed.recorder.counts();
    assert_eq!(counts.dropped(DropReason::ShuttingDown), 1);
    assert_eq!(bed.exchange(), [""; 0]);
}

/// EV-02: no token is needed; the last recorder is the end, and what it recorded is written.
#[tokio::test(start_paused = true)]
async fn the_last_recorder_ends_the_run() {
    let mut bed = Bed::new().await;
    let (last, _) = controller_core::write::events::EventRecorder::fake(1);
    let second = bed.recorder.clone();
    second.record(raised("one"));
    drop(second);
    bed.asked(1).await;
    bed.recorder.record(about("api"));
    bed.recorder = last;
    let counts = bed.ended().await;
    assert_eq!((counts.written, bed.events().len()), (2, 2));
}

/// A writer that nobody runs, and a run that is dropped in the middle.
#[tokio::test(start_paused = true)]
async fn a_writer_that_is_gone_leaves_counts_and_nothing_else() {
    let mut bed = Bed::idle().await;
    bed.recorder.record(raised("one"));
    *bed.writer() = None;
    bed.recorder.record(raised("two"));
    let counts = bed.recorder.counts();
    assert_eq!(counts.dropped(DropReason::ShuttingDown), 2);

    let mut bed = Bed::idle().await;
    bed.server.faults().add(creates(Rule::new(Action::Hang)));
    let run = bed.writer().take().unwrap().run(bed.shutdown.clone());
    bed.recorder.record(raised("one"));
    tokio::select! {
        _ = run => panic!("it hangs"),
        () = bed.asked(1) => {}
    }
    bed.recorder.record(raised("two"));
    let counts = bed.recorder.counts();
    assert_eq!(counts.dropped(DropReason::ShuttingDown), 2);
    assert_eq!(counts.unwritten(), 0);
}

/// EV-03: a hundred recorders on four threads, and the end in the middle of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_end_races_with_a_hundred_recorders() {
    let mut bed = Bed::new().await;
    let barrier = Arc::new(tokio::sync::Barrier::new(101));
    let mut tasks = JoinSet::new();
    for pod in 0..100 {
        let (recorder, barrier) = (bed.recorder.clone(), Arc::clone(&barrier));
        tasks.spawn(async move {
            barrier.wait().await;
            for _ in 0..10 {
                recorder.record(about(&format!("pod-{pod}")));
                tokio::task::yield_now().await;
            }
        });
    }
    barrier.wait().await;
    bed.stop().await;
    tasks.join_all().await;
    let counts = bed.recorder.counts();
    assert_eq!((counts.recorded, counts.unwritten()), (1000, 0));
    let known: u64 = bed
        .events()
        .iter()
        .map(|event| event["series"]["count"].as_u64().unwrap_or(1))
        .sum();
    assert_eq!(known, counts.written);
}
