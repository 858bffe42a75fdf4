use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::audit::Asked;
use super::fill::fill;
use crate::control_plane::{Binary, ControlPlane, Options};
use crate::e2e::cluster::Cluster;
use crate::process::Running;

const COUNT: u32 = 10_000;

/// How many writes are allowed for each raise: some meet a change of somebody else.
const WRITES_PER_RAISE: f64 = 1.02;

/// client-go with the same rule and two workers, on the same kind of server.
const CLIENT_GO: f64 = 245.0;

/// All of it, on the slowest machine.
const BOUND: Duration = Duration::from_secs(600);

/// Raises ten thousand Deployments, watches the controller do nothing for `steady`, and
/// prints what that took. `Ok(true)`: no bound was broken.
pub(in crate::e2e) async fn run(
    binary: &Binary,
    cluster: impl FnOnce(PathBuf) -> Cluster,
    logs: &Path,
    steady: Duration,
) -> Result<bool, Box<dyn Error>> {
    let audit_log = logs.join("scale-audit.log");
    if audit_log.exists() {
        std::fs::remove_file(&audit_log)?;
    }
    let options = Options {
        api_only: true,
        logs: Some(logs.join("control-plane")),
        audit_log: Some(audit_log.clone()),
        ..Options::default()
    };
    let server = ControlPlane::start(binary, &options)?;
    let cluster = cluster(server.kubeconfig().to_owned());
    let measured = measure(&cluster, server.kubeconfig(), audit_log, steady).await;
    server.stop()?;
    measured
}

async fn measure(
    cluster: &Cluster,
    kubeconfig: &Path,
    audit_log: PathBuf,
    steady: Duration,
) -> Result<bool, Box<dyn Error>> {
    let start = Instant::now();
    fill(kubeconfig, COUNT).await?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{COUNT} Deployments created in {seconds:.0} s");

    let flags = [
        "minrep",
        "run",
        "-n",
        "default",
        "--max-raises-per-minute=0",
    ];
    let controller = Running::start(cluster.command(&flags), |_| {})?;
    let lines = controller.lines();
    let is_raise = |line: &str| line.contains("scaled from 1 to 2");
    let first = lines
        .wait_for("the first raise", 0, BOUND, is_raise)
        .await?;
    // Every line is looked at once.
    let raised = AtomicU32::new(0);
    let counting =
        |line: &str| is_raise(line) && raised.fetch_add(1, Ordering::Relaxed) + 1 == COUNT;
    let last = lines.wait_for("the last raise", 0, BOUND, counting).await?;
    let seconds = last.at.saturating_duration_since(first.at).as_secs_f64();
    let rate = f64::from(COUNT) / seconds;
    println!("raised in {seconds:.1} s: {rate:.0} a second ({CLIENT_GO:.0} with client-go)");
    let then = Asked::read(&audit_log)?;
    #[expect(clippy::cast_precision_loss, reason = "some ten thousands")]
    let writes = then.writes as f64 / f64::from(COUNT);
    println!(
        "{writes:.4} writes each, {} of them met a change, {} requests throttled",
        then.conflicts, then.throttled
    );

    // This is the measurement: nothing is waited for.
    let before = controller.cpu_time()?;
    sleep(steady).await;
    let used = controller.cpu_time()?.saturating_sub(before);
    let now = Asked::read(&audit_log)?;
    println!(
        "{} s with nothing to do: {:.2} s of CPU, {} writes, {} lists",
        steady.as_secs(),
        used.as_secs_f64(),
        now.writes - then.writes,
        now.lists - then.lists
    );
    let ended = controller.stop(BOUND).await?;
    Ok(ended.success()
        // Fewer writes than raises would be an audit log that tells nothing.
        && (1.0..=WRITES_PER_RAISE).contains(&writes)
        && then.lists > 0
        && now.throttled == 0
        && (now.writes, now.lists) == (then.writes, then.lists))
}
