use std::error::Error;
use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::table::{Row, table};
use crate::cargo::{cargo, has_subcommand};
use crate::control_plane::{self, ControlPlane, Options};
use crate::process::{Running, interrupted};
use crate::test::Tally;

/// What ends by itself, the longest row included, or is ended by the test runner.
const BOUND: Duration = Duration::from_secs(30 * 60);
/// What an interrupted runner may take to end its tests.
const GRACE: Duration = Duration::from_secs(20);

/// Runs the rows both ways. `Ok(true)`: none failed.
///
/// However it ends, the control plane is stopped and its files are removed.
pub(crate) async fn run() -> Result<bool, Box<dyn Error>> {
    // Takes minutes the first time, and leaves nothing that would have to be removed.
    let binary = control_plane::build()?;
    let mut stop = pin!(interrupted());
    // The signals are caught from here on.
    if let Some(caught) = stop.as_mut().now_or_never() {
        caught?;
        return Ok(false);
    }
    println!("starting etcd and kube-apiserver");
    let started = spawn_blocking(move || {
        // Nobody there who makes objects of his own accord.
        let options = Options {
            api_only: true,
            ..Options::default()
        };
        ControlPlane::start(&binary, &options)
    });
    let instance = started.await??;
    let rows = both_ways(instance.kubeconfig(), &mut stop).await;
    let stopped = instance.stop();
    let Some(rows) = rows? else {
        return Ok(false);
    };
    stopped?;
    print!("{}", table(&rows));
    let mut total = Tally::default();
    for row in &rows {
        total += row.tally;
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(total.failed == 0)
}

/// `None` if it was interrupted.
async fn both_ways(
    kubeconfig: &Path,
    stop: &mut Pin<&mut impl Future<Output = io::Result<()>>>,
) -> io::Result<Option<Vec<Row>>> {
    let mut rows = Vec::new();
    for way in ["on", "off"] {
        println!("== streaming lists {way}");
        let start = Instant::now();
        let tally = Arc::new(Mutex::new(Tally::default()));
        let counted = Arc::clone(&tally);
        let running = Running::start(tests(kubeconfig, way), move |line| {
            println!("{line}");
            if let Some(tally) = Tally::of_line(line) {
                *counted.lock() += tally;
            }
        })?;
        let is_interrupted = tokio::select! {
            biased;
            _ = &mut *stop => true,
            // No line is waited for, but that there will be no more.
            _ = running.lines().wait_for("its end", 0, BOUND, |_| false) => false,
        };
        if is_interrupted {
            running.stop(GRACE).await?;
            return Ok(None);
        }
        let status = running.ended(GRACE).await?;
        let mut tally = *tally.lock();
        if !status.success() && tally.failed == 0 {
            println!("streaming lists {way}: {status}");
            tally.failed = 1;
        }
        rows.push(Row {
            way,
            tally,
            took: start.elapsed(),
        });
    }
    Ok(Some(rows))
}

fn tests(kubeconfig: &Path, way: &str) -> Command {
    let mut command = cargo();
    command
        .env("CONFORMANCE_KUBECONFIG", kubeconfig)
        .env("CONFORMANCE_STREAMING", way);
    let suite = ["-p", "controller-core", "--test", "conformance"];
    if has_subcommand("nextest") {
        command
            .args(["nextest", "run", "--no-fail-fast"])
            .args(suite);
        // They wait more than they work.
        command.args(["--test-threads", "4", "-E", "test(/both::/)"]);
    } else {
        command.args(["test", "--no-fail-fast"]).args(suite);
        command.args(["--", "both::"]);
    }
    command.into()
}
