use std::future::Future;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::need::Need;
use super::provider::Choice;

/// No scenario takes longer, whatever hangs.
const BOUND: Duration = Duration::from_secs(120);

/// Says how each scenario ended, and counts.
#[derive(Debug)]
pub(super) struct Report<'a> {
    choice: &'a Choice,
    passed: usize,
    failed: usize,
    skipped: usize,
}

// === impl Report ===

impl<'a> Report<'a> {
    /// A report of what runs on that provider.
    pub(super) fn new(choice: &'a Choice) -> Self {
        Self {
            choice,
            passed: 0,
            failed: 0,
            skipped: 0,
        }
    }

    /// Whether the provider gives this.
    pub(super) fn gives(&self, need: Need) -> bool {
        self.choice.gives(need)
    }

    /// Runs one scenario and prints its line.
    pub(super) async fn scenario(
        &mut self,
        name: &str,
        scenario: impl Future<Output = Result<(), String>>,
    ) {
        self.scenario_with(&[], name, scenario).await;
    }

    /// Runs one scenario if the provider gives all that it needs; else its line says what is
    /// missing.
    pub(super) async fn scenario_with(
        &mut self,
        needs: &[Need],
        name: &str,
        scenario: impl Future<Output = Result<(), String>>,
    ) {
        let lacking = needs.iter().filter(|need| !self.gives(**need));
        let lacking: Vec<String> = lacking.map(Need::to_string).collect();
        if !lacking.is_empty() {
            self.skipped += 1;
            println!("skipped {name}: needs {}", lacking.join(" and "));
            return;
        }
        let start = Instant::now();
        let result = timeout(BOUND, scenario)
            .await
            .unwrap_or_else(|_| Err(format!("not done after {} s", BOUND.as_secs())));
        let seconds = start.elapsed().as_secs_f64();
        match result {
            Ok(()) => {
                self.passed += 1;
                println!("ok     {name} ({seconds:.1} s)");
            }
            Err(why) => {
                self.failed += 1;
                println!("FAILED {name} ({seconds:.1} s)");
                for line in why.lines() {
                    println!("       {line}");
                }
            }
        }
    }

    /// Prints the last line, and where the logs are if anything failed. True: none did.
    pub(super) fn close(self, logs: &Path) -> bool {
        if self.failed > 0 {
            println!(
                "logs of the controllers and the cluster: {}",
                logs.display()
            );
        }
        println!("{}", self.last_line());
        self.failed == 0
    }

    fn last_line(&self) -> String {
        let (passed, failed) = (self.passed, self.failed);
        match self.skipped {
            0 => format!("{passed} passed, {failed} failed"),
            skipped => format!("{passed} passed, {failed} failed, {skipped} skipped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_the_provider_does_not_give_is_skipped_and_counted() {
        let guest = Choice::Existing {
            context: "dev".to_owned(),
        };
        let mut report = Report::new(&guest);
        report.scenario("any", async { Ok(()) }).await;
        assert_eq!(report.last_line(), "1 passed, 0 failed");
        let needs = [Need::ClusterScope];
        let never = async { Err("it was run".to_owned()) };
        report.scenario_with(&needs, "more", never).await;
        assert_eq!(report.last_line(), "1 passed, 0 failed, 1 skipped");
        report
            .scenario("bad", async { Err("bad".to_owned()) })
            .await;
        assert_eq!(report.last_line(), "1 passed, 1 failed, 1 skipped");
        assert!(!report.close(Path::new("logs")));
    }
}
