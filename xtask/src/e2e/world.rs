use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use parking_lot::Mutex;
use sim_apiserver::faults::Faults;

use super::cluster::Cluster;
use super::manifest;
use crate::process::{Line, Running};

/// How long the controller may take for anything. On an idle machine it takes some
/// hundredths of a second; the bound is for one that compiles something else meanwhile.
pub(super) const BOUND: Duration = Duration::from_secs(30);

/// What the scenarios work on.
pub(super) struct World {
    /// The API server and the clients.
    pub(super) cluster: Cluster,
    /// The same, by the way on which things go wrong.
    faulty: Cluster,
    /// What goes wrong there.
    pub(super) faults: Faults,
    /// Where logs are kept.
    pub(super) logs: PathBuf,
    controller: Option<Running>,
}

// === impl World ===

impl World {
    /// A world without a controller.
    pub(super) fn new(cluster: Cluster, faulty: Cluster, faults: Faults, logs: PathBuf) -> Self {
        Self {
            cluster,
            faulty,
            faults,
            logs,
            controller: None,
        }
    }

    /// Starts `kubectl minrep run -v 4`, with its output in LOGS/NAME.log.
    pub(super) fn start_controller(&mut self, name: &str) -> Result<(), String> {
        self.start_controller_with(name, &[])
    }

    /// The same with other flags.
    pub(super) fn start_controller_with(
        &mut self,
        name: &str,
        flags: &[&str],
    ) -> Result<(), String> {
        self.start(&self.cluster.clone(), name, flags)
    }

    /// The same, and its requests meet the faults.
    pub(super) fn start_faulty_controller(&mut self, name: &str) -> Result<(), String> {
        self.start(&self.faulty.clone(), name, &[])
    }

    fn start(&mut self, cluster: &Cluster, name: &str, flags: &[&str]) -> Result<(), String> {
        let path = self.logs.join(format!("{name}.log"));
        let file = std::fs::File::create(path).map_err(|error| error.to_string())?;
        let file = Mutex::new(file);
        let mut command = cluster.command(&["minrep", "run", "-v", "4"]);
        command.args(flags);
        let running = Running::start(command, move |line| {
            // A full disk must not end the scenario: what it waits for is in memory.
            let _ = writeln!(file.lock(), "{line}");
        });
        self.controller = Some(running.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// The controller that runs.
    pub(super) fn controller(&self) -> Result<&Running, String> {
        let none = || "no controller is running: an earlier scenario failed".to_owned();
        self.controller.as_ref().ok_or_else(none)
    }

    /// Hands the controller over to whoever ends it.
    pub(super) fn take_controller(&mut self) -> Result<Running, String> {
        self.controller()?;
        self.controller.take().ok_or_else(String::new)
    }

    /// Ends the controller, which must end well.
    pub(super) async fn stop_controller(&mut self) -> Result<(), String> {
        let status = self.take_controller()?.stop(BOUND).await;
        match status.map_err(|error| error.to_string())? {
            status if status.success() => Ok(()),
            status => Err(format!("the controller ended with {status}")),
        }
    }

    /// `kubectl ARGUMENTS`, whatever it prints.
    pub(super) async fn kubectl(&self, arguments: &[&str]) -> Result<(), String> {
        self.cluster.kubectl(arguments).await.map(drop)
    }

    /// Deletes objects, such as `deployment/web`, and waits until
    /// they are gone.
    pub(super) async fn delete(&self, objects: &[&str]) -> Result<(), String> {
        self.kubectl(&[&["delete"], objects].concat()).await
    }

    /// The position behind what the controller has logged so far.
    pub(super) fn mark(&self) -> Result<usize, String> {
        Ok(self.controller()?.lines().len())
    }

    /// Waits until the controller logs `words` about the Deployment, at or behind `mark`.
    pub(super) async fn logged(
        &self,
        mark: usize,
        deployment: &str,
        words: &str,
    ) -> Result<Line, String> {
        let about = format!("deployment.apps/{deployment} ");
        let what = format!("the controller's log to say \"{about}… {words}\"");
        self.controller()?
            .lines()
            .wait_for(&what, mark, BOUND, |line| {
                line.split_once(&about)
                    .is_some_and(|(_, rest)| rest.contains(words))
            })
            .await
    }

    /// Applies a Deployment below the minimum and waits until it was raised. What the
    /// controller was told before is decided by then, or stands in line behind it.
    pub(super) async fn sentinel(&self, name: &str) -> Result<(), String> {
        self.cluster.apply(&manifest::opted_in(name, 1)).await?;
        self.logged(0, name, "scaled from 1 to 2").await?;
        self.cluster.wait_replicas(name, 2).await
    }
}
