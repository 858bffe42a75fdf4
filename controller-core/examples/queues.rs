//! client-go's three kinds of queue, as three views of one work queue.
//!
//! ```text
//! cargo run -p controller-core --example queues
//! ```
//!
//! It takes less than a second, and needs no cluster.
#![expect(clippy::print_stdout, reason = "an example is for who runs it")]

use std::error::Error;

use controller_core::queue::{DelayingQueue, FifoQueue, ItemFastSlow, RateLimitingQueue};
use tokio::time::{Duration, Instant, timeout};

/// What happens, with the time since the queue was made.
pub(crate) struct Story<'a> {
    tell: &'a mut dyn FnMut(String),
    queue: String,
    start: Instant,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    demonstrate(&mut |line| println!("{line}")).await
}

/// All three, one after the other.
pub(crate) async fn demonstrate(tell: &mut dyn FnMut(String)) -> Result<(), Box<dyn Error>> {
    first_in_first_out(tell).await?;
    later(tell).await?;
    after_failures(tell).await
}

/// `workqueue.NewTypedWithConfig`: each key once, and no key in two workers.
async fn first_in_first_out(tell: &mut dyn FnMut(String)) -> Result<(), Box<dyn Error>> {
    let queue = FifoQueue::new("reports");
    let mut story = Story::begin(queue.name(), tell);
    for key in ["monday", "tuesday", "monday"] {
        queue.add(key);
    }
    let in_line = queue.len();
    story.tell(format!(
        "monday, tuesday and monday were added: {in_line} in line"
    ));

    let monday = queue.get().await.ok_or("the queue is open")?;
    queue.add("monday");
    let (in_line, in_work) = (queue.len(), queue.depth().in_work);
    story.tell(format!(
        "{} is in work and was added again: {in_line} in line, {in_work} in work",
        *monday
    ));
    drop(monday); // client-go's Done, also where a worker panics or returns early
    let in_line = queue.len();
    story.tell(format!(
        "it is done, and comes once more: {in_line} in line"
    ));

    // Intake closes here, and the drain waits for the keys in line too.
    let drain = queue.shut_down_with_drain(Instant::now() + Duration::from_secs(1));
    queue.add("wednesday");
    let work = async {
        while let Some(ticket) = queue.get().await {
            story.tell(format!("worked off: {}", *ticket));
        }
    };
    let (drained, ()) = tokio::join!(drain, work);
    story.tell(format!(
        "all is worked off: {}; wednesday came too late",
        drained.completed
    ));
    Ok(())
}

/// `workqueue.NewTypedDelayingQueueWithConfig`, whose delays can be moved and cancelled.
async fn later(tell: &mut dyn FnMut(String)) -> Result<(), Box<dyn Error>> {
    let queue = DelayingQueue::new("certificates");
    let mut story = Story::begin(queue.name(), tell);
    queue.add_after("web", Duration::from_millis(200));
    queue.add_after("web", Duration::from_millis(50));
    story.tell("web expires in 200 ms, or in 50: the earlier counts");
    queue.add_after("api", Duration::from_millis(50));
    queue.replace_after("api", Duration::from_millis(100));
    story.tell("api was renewed, and is postponed from 50 ms to 100");
    queue.add_after("old", Duration::from_millis(50));
    let cancelled = queue.cancel(&"old");
    story.tell(format!(
        "old was deleted, and its delay cancelled: {cancelled}"
    ));
    queue.add_after("new", Duration::from_millis(50));
    queue.add("new");
    story.tell("new is to be looked at in 50 ms, and changes now: once is enough");

    while let Ok(Some(ticket)) = timeout(Duration::from_millis(150), queue.get()).await {
        story.tell(format!("worked off: {}", *ticket));
    }
    queue.add_after("next year", Duration::from_secs(365 * 24 * 3600));
    queue.shut_down();
    let dropped = queue.shut_down_with_drain(Instant::now()).await;
    story.tell(format!(
        "the end has dropped {} that was delayed",
        dropped.dropped_delayed
    ));
    Ok(())
}

/// `workqueue.NewTypedRateLimitingQueueWithConfig`: who fails waits, and nobody else.
async fn after_failures(tell: &mut dyn FnMut(String)) -> Result<(), Box<dyn Error>> {
    let limiter = ItemFastSlow::new(Duration::from_millis(20), Duration::from_millis(200), 3)?;
    let queue = RateLimitingQueue::with_limiter("deployments", limiter);
    let mut story = Story::begin(queue.name(), tell);
    story.tell("who fails is tried after 20 ms three times, then after 200 ms");
    queue.add("shop/web");
    queue.add("shop/api");
    while let Some(ticket) = queue.get().await {
        let failures = queue.num_requeues(&ticket);
        // The work goes here. This one fails four times, the other one once.
        let fails = failures < if *ticket == "shop/web" { 4 } else { 1 };
        if fails {
            queue.add_rate_limited(*ticket);
            story.tell(format!("{} fails", *ticket));
        } else {
            queue.forget(&ticket); // or its next failure would wait as the fifth
            story.tell(format!("{} succeeds at try {}", *ticket, failures + 1));
        }
        if *ticket == "shop/web" && !fails {
            queue.shut_down();
        }
    }
    Ok(())
}

// === impl Story ===

impl<'a> Story<'a> {
    fn begin(queue: &str, tell: &'a mut dyn FnMut(String)) -> Self {
        Self {
            tell,
            queue: queue.to_owned(),
            start: Instant::now(),
        }
    }

    fn tell(&mut self, what: impl AsRef<str>) {
        // A timer of tokio's may be late by one millisecond, and the machine by some more.
        let about = self.start.elapsed().as_millis() / 10 * 10;
        let (queue, what) = (&self.queue, what.as_ref());
        (self.tell)(format!("{queue:<12} {about:>4} ms  {what}"));
    }
}
