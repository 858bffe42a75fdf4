//! The progress bar: on a terminal, for who waits, and gone when the waiting is over.

use controller_core::runtime::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::watch;
use tokio::time::{Duration, interval, sleep};

use super::Io;
use super::counted::counted;

/// Whoever waits no longer than this would only see it flicker.
const PATIENCE: Duration = Duration::from_millis(500);

const INTERVAL: Duration = Duration::from_millis(100);

/// Does `work`, and shows on a terminal how far it is. Nothing is drawn where stderr is no
/// terminal, or where a program watches it.
pub async fn while_drawing<T>(
    io: &Io,
    progress: watch::Receiver<Progress>,
    work: impl Future<Output = T>,
) -> T {
    let drawing = async {
        sleep(PATIENCE).await;
        if let Some(shown) = io.show_bar() {
            let mut ticks = interval(INTERVAL);
            loop {
                ticks.tick().await;
                let now = *progress.borrow();
                draw(&shown.bar, now);
            }
        }
        std::future::pending().await
    };
    tokio::select! {
        done = work => done,
        never = drawing => never,
    }
}

fn draw(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Reading { objects } => {
            bar.set_style(style("{spinner} Reading: {msg}"));
            bar.set_message(counted(objects, "object"));
        }
        Progress::Writing {
            done,
            failed,
            total,
        } => {
            bar.set_style(style("[{bar:30}] {pos}/{msg}").progress_chars("=> "));
            bar.set_length(total as u64);
            bar.set_message(counted(total, "Deployment") + &failures(failed));
            bar.set_position(done as u64);
        }
    }
    bar.tick();
}

fn failures(failed: usize) -> String {
    match failed {
        0 => String::new(),
        _ => format!(", {failed} failed"),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("invariant: a template of this file is valid")
}
