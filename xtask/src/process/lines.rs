use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// What a process has written so far, line by line, and a way to wait for more.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Mutex<Vec<Line>>,
    /// How many lines there are, or `None` once there will be no more.
    count: watch::Sender<Option<usize>>,
}

/// One line, without its end.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// When it was read.
    pub(crate) at: Instant,
    /// What it says.
    pub(crate) text: String,
}

// === impl Lines ===

impl Lines {
    /// Waits for a line at or behind position `from` that `wanted` holds for; it is asked
    /// once for each. The error says what was waited for, and why there will be none.
    pub(crate) async fn wait_for(
        &self,
        what: &str,
        from: usize,
        within: Duration,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Line, String> {
        let mut count = self.count.subscribe();
        let search = async {
            let mut next = from;
            loop {
                let ended = count.borrow_and_update().is_none();
                let found = {
                    let lines = self.lines.lock();
                    let mut new = lines.iter().skip(next);
                    next = next.max(lines.len());
                    new.find(|line| wanted(&line.text)).cloned()
                };
                if let Some(line) = found {
                    return Ok(line);
                }
                if ended || count.changed().await.is_err() {
                    return Err(format!("the process ended before {what}"));
                }
            }
        };
        match timeout(within, search).await {
            Ok(found) => found,
            Err(_) => Err(format!("waited {} s in vain for {what}", within.as_secs())),
        }
    }

    /// How many lines there are: the position of the next one.
    pub(crate) fn len(&self) -> usize {
        self.lines.lock().len()
    }

    /// The texts so far.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.lines
            .lock()
            .iter()
            .map(|line| line.text.clone())
            .collect()
    }

    pub(super) fn push(&self, text: String) {
        let mut lines = self.lines.lock();
        lines.push(Line {
            at: Instant::now(),
            text,
        });
        self.count.send_replace(Some(lines.len()));
    }

    pub(super) fn end(&self) {
        self.count.send_replace(None);
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            lines: Mutex::default(),
            count: watch::Sender::new(Some(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_line_is_found_before_and_after_it_is_waited_for() {
        let lines = Lines::default();
        lines.push("one".into());
        let search = lines.wait_for("a two", 0, BOUND, |text| text == "two");
        let (found, ()) = tokio::join!(search, async { lines.push("two".into()) });
        assert_eq!(found.unwrap().text, "two");
        let found = lines
            .wait_for("a one", 0, BOUND, |text| text == "one")
            .await;
        assert_eq!(found.unwrap().text, "one");
        assert_eq!(lines.texts(), ["one", "two"]);
    }

    #[tokio::test(start_paused = true)]
    async fn earlier_lines_do_not_count_and_the_wait_is_bounded() {
        let lines = Lines::default();
        lines.push("one".into());
        let found = lines
            .wait_for("a new one", lines.len(), BOUND, |text| text == "one")
            .await;
        assert_eq!(found.unwrap_err(), "waited 1 s in vain for a new one");
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_the_process_ends_the_wait() {
        let lines = Lines::default();
        lines.end();
        let found = lines.wait_for("a line", 0, BOUND, |_| true).await;
        assert_eq!(found.unwrap_err(), "the process ended before a line");
    }
}
