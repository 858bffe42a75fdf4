use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;
use tokio::time::{interval, timeout};

use super::run_name::RunName;
use crate::docker::{Engine, ImageName};
use crate::missing::Missing;

/// What kind's node has to be ready within, once it has its image.
const READY: &str = "--wait=180s";

/// No call of kind takes longer: most of it is the image, which has a gigabyte.
const BOUND: Duration = Duration::from_secs(900);

/// The label of kind's nodes, with the cluster's name.
const NODE: &str = "io.x-k8s.kind.cluster";

/// How long after kind's end a node of its can still come.
const LATE: Duration = Duration::from_secs(5);

/// The network in which kind puts all of its clusters.
const NETWORK: &str = "kind";

/// Settings of the cluster. kubeadm's configuration has been written in two ways; kind
/// leaves out the patch of the other version.
const CONFIG: &str = "\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
networking:
  apiServerAddress: 127.0.0.1
nodes:
- role: control-plane
kubeadmConfigPatches:
- |
  kind: ClusterConfiguration
  apiVersion: kubeadm.k8s.io/v1beta4
  controllerManager:
    extraArgs:
    - name: horizontal-pod-autoscaler-sync-period
      value: 1s
- |
  kind: ClusterConfiguration
  apiVersion: kubeadm.k8s.io/v1beta3
  controllerManager:
    extraArgs:
      horizontal-pod-autoscaler-sync-period: 1s
";

/// A cluster of kind's.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) engine: Engine,
    pub(super) image: ImageName,
    pub(super) name: RunName,
    /// Its kubeconfig, which is not the user's.
    pub(super) kubeconfig: PathBuf,
    /// Whether there was a network of kind's before.
    pub(super) had_network: bool,
}

/// A process group that ends with this.
struct Group(Option<Pid>);

// === impl Kind ===

impl Kind {
    /// Looks whether other clusters of kind's have a network: it is left alone then.
    pub(super) async fn new(
        engine: Engine,
        image: ImageName,
        name: RunName,
        kubeconfig: PathBuf,
    ) -> Result<Self, Box<dyn Error>> {
        let had_network = engine.has_network(NETWORK).await?;
        Ok(Self {
            engine,
            image,
            name,
            kubeconfig,
            had_network,
        })
    }

    /// Makes it and waits until its node is ready. `false`: it was stopped before.
    pub(super) async fn start<S>(
        &self,
        stop: &mut (impl Future<Output = S> + Unpin),
    ) -> Result<bool, Box<dyn Error>> {
        let config = self.kubeconfig.with_file_name("kind.yaml");
        std::fs::write(&config, CONFIG)?;
        let arguments = create(&self.name, &self.image, &self.kubeconfig, &config);
        let output = tokio::select! {
            output = kind(&arguments) => output?,
            _ = stop => {
                self.settled().await;
                return Ok(false);
            }
        };
        if output.status.success() {
            return Ok(true);
        }
        Err(not_created(
            &self.image,
            &String::from_utf8_lossy(&output.stderr),
        ))
    }

    /// Waits for a node that kind had asked for when it was killed: the Engine makes it all
    /// the same, and what comes after the removal would stay. There may never be one.
    async fn settled(&self) {
        let mut look = interval(Duration::from_millis(100));
        let there = async {
            while let Ok(false) = self.engine.has_labelled(NODE, self.name.as_str()).await {
                look.tick().await;
            }
        };
        let _ = timeout(LATE, there).await;
    }

    /// Whether it has a node, or may have one.
    pub(super) async fn is_made(&self) -> bool {
        let found = self.engine.has_labelled(NODE, self.name.as_str()).await;
        found.unwrap_or(true)
    }

    /// Keeps what its components have logged.
    pub(super) async fn save_logs(&self, folder: &Path) -> Result<(), Box<dyn Error>> {
        checked(&export(&self.name, folder)).await
    }

    /// Removes it, if it is there, and the network if that came with it.
    pub(super) async fn remove(&self) -> Result<(), Box<dyn Error>> {
        checked(&delete(&self.name, &self.kubeconfig)).await?;
        if !self.had_network && self.engine.has_network(NETWORK).await? {
            // The Engine refuses if somebody has made a cluster meanwhile, and that is right.
            let _ = self.engine.remove_network(NETWORK).await;
        }
        Ok(())
    }
}

// === impl Group ===

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // It may have ended just now.
            let _ = kill_process_group(leader, Signal::TERM);
        }
    }
}

/// How to remove by hand what is called `name`.
pub(super) fn by_hand(name: &RunName, kubeconfig: &Path) -> String {
    format!("kind {}", delete(name, kubeconfig).join(" "))
}

fn create(name: &RunName, image: &ImageName, kubeconfig: &Path, config: &Path) -> Vec<String> {
    vec![
        "create".into(),
        "cluster".into(),
        format!("--name={name}"),
        format!("--image={image}"),
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--config={}", config.display()),
        READY.into(),
        // Of a node that does not come up, too, the logs are kept before it is removed.
        "--retain".into(),
    ]
}

fn export(name: &RunName, folder: &Path) -> Vec<String> {
    vec![
        "export".into(),
        "logs".into(),
        folder.display().to_string(),
        format!("--name={name}"),
    ]
}

fn delete(name: &RunName, kubeconfig: &Path) -> Vec<String> {
    vec![
        "delete".into(),
        "cluster".into(),
        format!("--name={name}"),
        format!("--kubeconfig={}", kubeconfig.display()),
    ]
}

/// Runs it to its end. Dropped before, it is ended with all that it has called: a `docker
/// pull` would go on by itself.
async fn kind(arguments: &[String]) -> Result<Output, Box<dyn Error>> {
    let child = Command::new("kind")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C is for this program, which then removes what kind has made.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let mut group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
    let output = timeout(BOUND, child.wait_with_output()).await;
    if output.is_ok() {
        // From now on the number may be somebody else's.
        group.0 = None;
    }
    match output {
        Ok(output) => Ok(output?),
        Err(_) => Err(format!("kind was not done after {} s", BOUND.as_secs()).into()),
    }
}

async fn checked(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let output = kind(arguments).await?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("kind {}: {}", arguments.join(" "), stderr.trim()).into())
}

/// kind prints the command that failed, and what it said; of a pull only that matters.
fn not_created(image: &ImageName, stderr: &str) -> Box<dyn Error> {
    let pull = stderr.contains("failed to pull image");
    let said = stderr
        .lines()
        .map(str::trim)
        .rfind(|line| line.starts_with("Error response from daemon") || line.contains("Output: "));
    match (pull, said) {
        (true, said) => Box::new(Missing::KindImage {
            image: image.clone(),
            why: said
                .unwrap_or("kind does not say why")
                .trim_start_matches("Command Output: ")
                .to_owned(),
        }),
        (false, _) => format!("kind could not make a cluster: {}", stderr.trim()).into(),
    }
}

#[cfg(test)]
mod tests;
