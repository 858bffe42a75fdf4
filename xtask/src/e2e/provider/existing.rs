use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use super::container::LABEL;
use super::kubeconfig;
use super::run_name::RunName;
use crate::control_plane::keep_to_itself;
use crate::missing::Missing;

/// No call of kubectl takes longer; a namespace's end waits for its Pods.
const BOUND: Duration = Duration::from_secs(180);

/// What is kept of the namespace if something failed.
const KEPT: &str = "deployments,replicasets,pods,horizontalpodautoscalers,events";

/// A namespace of ours in somebody's cluster. Nothing else of the cluster is written.
#[derive(Debug)]
pub(super) struct Existing {
    pub(super) kubectl: PathBuf,
    pub(super) context: String,
    /// Of the namespace.
    pub(super) name: RunName,
    /// Our own; the user's is only read.
    pub(super) kubeconfig: PathBuf,
}

// === impl Existing ===

impl Existing {
    /// Takes the context out of the user's kubeconfig and makes the namespace. It must be
    /// awaited to its end: a request that was sent is carried out.
    ///
    /// # Errors
    /// Among others [`Missing::Context`] and [`Missing::Cluster`].
    pub(super) async fn start(&self) -> Result<(), Box<dyn Error>> {
        let context = format!("--context={}", self.context);
        let view = ["config", "view", "--minify", "--flatten", "--raw", &context];
        let output = self.run(Command::new(&self.kubectl), &view, "").await?;
        if !output.status.success() {
            return Err(Box::new(Missing::Context {
                context: self.context.clone(),
            }));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let config = kubeconfig::with_namespace(&text, self.name.as_str())?;
        kubeconfig::write(&self.kubeconfig, &config)?;

        let namespace = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self.name.as_str(), "labels": {LABEL: self.name.as_str()}},
        });
        let output = self
            .ours(
                &[
                    "create",
                    "--validate=false",
                    "--request-timeout=30s",
                    "-f",
                    "-",
                ],
                &namespace.to_string(),
            )
            .await?;
        if output.status.success() {
            return Ok(());
        }
        let mut why = last_line(&output);
        // An answer can be lost after the server has done what was asked.
        if !nothing_was_made(&why) && self.remove().await.is_err() {
            let by_hand = by_hand(&self.name, &self.context);
            why.push_str(&format!("; it may have made a namespace: {by_hand}"));
        }
        // `remove` need not look for it again.
        std::fs::remove_file(&self.kubeconfig)?;
        Err(Box::new(Missing::Cluster {
            context: self.context.clone(),
            why,
        }))
    }

    /// Whether the namespace is there, or may be.
    pub(super) fn is_made(&self) -> bool {
        self.kubeconfig.exists()
    }

    /// Keeps what is in the namespace.
    pub(super) async fn save_objects(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let output = self.ours(&["get", KEPT, "-o", "yaml"], "").await?;
        Ok(std::fs::write(path, output.stdout)?)
    }

    /// Removes the namespace, if it is there.
    pub(super) async fn remove(&self) -> Result<(), Box<dyn Error>> {
        if !self.is_made() {
            // It did not come as far as that.
            return Ok(());
        }
        let delete = [
            "delete",
            "namespace",
            self.name.as_str(),
            "--ignore-not-found",
        ];
        let output = self.ours(&delete, "").await?;
        if output.status.success() {
            return Ok(());
        }
        Err(last_line(&output).into())
    }

    /// kubectl with our kubeconfig.
    async fn ours(&self, arguments: &[&str], input: &str) -> Result<Output, Box<dyn Error>> {
        let mut command = Command::new(&self.kubectl);
        command.env("KUBECONFIG", &self.kubeconfig);
        self.run(command, arguments, input).await
    }

    async fn run(
        &self,
        mut command: Command,
        arguments: &[&str],
        input: &str,
    ) -> Result<Output, Box<dyn Error>> {
        let command = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        keep_to_itself(command, &self.kubeconfig);
        let mut child = command.spawn()?;
        let all = async {
            if let Some(mut stdin) = child.stdin.take() {
                // It may end without having read everything; its exit code tells.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
            child.wait_with_output().await
        };
        match timeout(BOUND, all).await {
            Ok(output) => Ok(output?),
            Err(_) => Err(format!(
                "kubectl {}: not done after {} s",
                arguments.join(" "),
                BOUND.as_secs()
            )
            .into()),
        }
    }
}

/// How to remove by hand what is called `name`.
pub(super) fn by_hand(name: &RunName, context: &str) -> String {
    format!("kubectl delete namespace {name} --context={context}")
}

/// Whether what kubectl says of a creation proves that the server has not carried it out.
fn nothing_was_made(said: &str) -> bool {
    [
        "Error from server (Forbidden)",
        "error: You must be logged in to the server",
        // It comes before kubectl sends the object.
        "unable to recognize \"STDIN\"",
        // There was no connection on which to ask.
        " was refused - did you specify the right host or port?",
        ": dial tcp",
    ]
    .iter()
    .any(|proof| said.contains(proof))
}

/// Before it kubectl may have said the same more than once.
fn last_line(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    stderr.trim().lines().last().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
