use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::control_plane::keep_to_itself;
use crate::plugin::forget_settings;

/// No call of kubectl takes longer.
const BOUND: Duration = Duration::from_secs(60);

/// kubectl, the plugin and a kubeconfig.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    kubectl: PathBuf,
    kubeconfig: PathBuf,
    /// The folder that holds the plugin, and kubectl's own.
    path: OsString,
}

// === impl Cluster ===

impl Cluster {
    /// `plugins` is a folder with `kubectl-minrep` in it.
    pub(super) fn new(kubectl: PathBuf, kubeconfig: PathBuf, plugins: &Path) -> Self {
        let mut path = OsString::from(plugins);
        if let Some(inherited) = std::env::var_os("PATH") {
            path.push(":");
            path.push(inherited);
        }
        Self {
            kubectl,
            kubeconfig,
            path,
        }
    }

    /// `kubectl ARGUMENTS`, not yet started.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.kubectl);
        command
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("PATH", &self.path)
            .kill_on_drop(true);
        keep_to_itself(&mut command, &self.kubeconfig);
        forget_settings(&mut command);
        command
    }

    /// Runs it to its end. An error is one that keeps it from running; its own exit code
    /// is in the output.
    pub(super) async fn output(&self, arguments: &[&str], input: &str) -> Result<Output, String> {
        Self::finish(self.command(arguments), input).await
    }

    /// Runs a command that [`command`](Self::command) has made to its end.
    pub(super) async fn finish(command: Command, input: &str) -> Result<Output, String> {
        let arguments = command.as_std().get_args();
        let arguments: Vec<_> = arguments
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        run(command, input)
            .await
            .map_err(|why| format!("kubectl {}: {why}", arguments.join(" ")))
    }

    /// Runs it and returns its stdout; a bad exit code is an error with its stderr.
    pub(super) async fn kubectl(&self, arguments: &[&str]) -> Result<String, String> {
        self.checked(arguments, "").await
    }

    /// `kubectl apply`, in the namespace of the kubeconfig's context as everything here.
    pub(super) async fn apply(&self, manifest: &Value) -> Result<(), String> {
        let arguments = ["apply", "-f", "-"];
        self.checked(&arguments, &manifest.to_string())
            .await
            .map(drop)
    }

    /// Waits until the Deployment's `spec.replicas` is `count`.
    pub(super) async fn wait_replicas(&self, name: &str, count: u32) -> Result<(), String> {
        let object = format!("deployment/{name}");
        let condition = format!("--for=jsonpath={{.spec.replicas}}={count}");
        self.kubectl(&["wait", &object, &condition, "--timeout=20s"])
            .await
            .map(drop)
    }

    /// Reads a Deployment.
    pub(super) async fn deployment(&self, name: &str) -> Result<Value, String> {
        self.object("deployment", name).await
    }

    /// Reads an object.
    pub(super) async fn object(&self, kind: &str, name: &str) -> Result<Value, String> {
        let text = self.kubectl(&["get", kind, name, "-o", "json"]).await?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    async fn checked(&self, arguments: &[&str], input: &str) -> Result<String, String> {
        let output = self.output(arguments, input).await?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let line = arguments.join(" ");
        Err(format!(
            "kubectl {line}: {}\n{}",
            output.status,
            stderr.trim()
        ))
    }
}

async fn run(mut command: Command, input: &str) -> Result<Output, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let stdin = child.stdin.take();
    let all = async {
        if let Some(mut stdin) = stdin {
            // It may end without having read everything; its exit code tells.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        child.wait_with_output().await
    };
    match timeout(BOUND, all).await {
        Ok(output) => output.map_err(|error| error.to_string()),
        Err(_) => Err(format!("not done after {} s", BOUND.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn kubectl_reads_and_leaves_nothing_in_its_users_home() {
        let home = tempfile::tempdir().unwrap();
        let run = tempfile::tempdir().unwrap();
        let kubeconfig = run.path().join("kubeconfig");
        let cluster = Cluster::new("env".into(), kubeconfig, home.path());
        let output = cluster.output(&[], "").await.unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let cache = run.path().join("kubectl-cache");
        let cache = format!("KUBECACHEDIR={}", cache.display());
        for line in ["KUBERC=off", &cache] {
            assert!(text.lines().any(|set| set == line), "{line}: {text}");
        }
        assert!(!text.contains("KUBECTL_EXTERNAL_DIFF"), "{text}");
    }
}
