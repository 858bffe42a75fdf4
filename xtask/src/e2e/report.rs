use std::future::Future;
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, timeout};

/// No scenario takes longer, whatever hangs.
const BOUND: Duration = Duration::from_secs(120);

/// Says how each scenario ended, and counts.
#[derive(Debug, Default)]
pub(super) struct Report {
    passed: usize,
    failed: usize,
}

// === impl Report ===

impl Report {
    /// Runs one scenario and prints its line.
    pub(super) async fn scenario(
        &mut self,
        name: &str,
        scenario: impl Future<Output = Result<(), String>>,
    ) {
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
                "logs of the controller and the control plane: {}",
                logs.display()
            );
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0
    }
}
