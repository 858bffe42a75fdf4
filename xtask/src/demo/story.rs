use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::Value;
use sim_apiserver::SimApiServer;
use tokio::process::Command;
use tokio::time::{Instant, timeout};

use super::api;
use super::narrator::Narrator;
use crate::plugin::{self, Profile};
use crate::process::{Running, interrupted};
use crate::task::root;

/// Flags of `cargo xtask demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Stop after the check instead of waiting for Ctrl-C
    #[arg(long)]
    exit: bool,
}

/// What the demo plays on.
struct Scene {
    narrator: Narrator,
    server: SimApiServer,
    kubeconfig: PathBuf,
}

/// The sample, relative to the workspace.
const SAMPLE: &str = "manifests/samples/nginx-demo.yaml";

/// Its name.
const NAME: &str = "nginx-demo";

/// How long each step may take. All of them together take less than a second.
const BOUND: Duration = Duration::from_secs(10);

/// Plays the demo. An error: what should have happened did not.
pub(crate) async fn run(demo: Demo) -> Result<(), Box<dyn Error>> {
    let narrator = Narrator::default();
    narrator.step("Building kubectl-minrep.");
    let plugin = plugin::build(Profile::Dev)?;

    let server = SimApiServer::builder()
        .workload_controllers(true)
        .start()
        .await?;
    narrator.step("Started a simulated Kubernetes API server in this process.");
    narrator.detail(&format!(
        "It listens on {}; no cluster is touched.",
        server.url()
    ));
    let folder = tempfile::Builder::new().prefix("minrep-demo-").tempdir()?;
    let kubeconfig = folder.path().join("kubeconfig");
    server.write_kubeconfig(&kubeconfig)?;

    let scene = Scene {
        narrator,
        server,
        kubeconfig,
    };
    let told = scene.play(&plugin, demo.exit).await;
    // Whatever happened: nothing stays behind.
    scene.server.shutdown().await;
    folder.close()?;
    told
}

// === impl Scene ===

impl Scene {
    async fn play(&self, plugin: &Path, exit: bool) -> Result<(), Box<dyn Error>> {
        let controller = tokio::select! {
            told = self.tell(plugin) => told?,
            _ = interrupted() => return Err("interrupted".into()),
        };
        if !exit {
            self.invite();
            interrupted().await?;
            println!();
        }
        self.narrator.step("Stopping the controller.");
        let status = controller.stop(BOUND).await?;
        if !status.success() {
            return Err(format!("the controller ended with {status}").into());
        }
        self.narrator.step("Done: nothing is left running.");
        Ok(())
    }

    /// Everything up to the two Pods. Returns the controller, which still runs.
    async fn tell(&self, program: &Path) -> Result<Running, Box<dyn Error>> {
        let Self {
            narrator, server, ..
        } = self;
        let text = std::fs::read_to_string(root().join(SAMPLE))?;
        let sample: Value = serde_saphyr::from_str(&text)?;
        let deployments = "apis/apps/v1/namespaces/default/deployments";
        api::create(&format!("{}/{deployments}", server.url()), &sample).await?;
        narrator.step(&format!("Applied {SAMPLE}."));
        narrator.detail(&format!(
            "Deployment {NAME} is labelled demo/min-replicas=true and asks for {} replica.",
            replicas(&sample)
        ));
        let pods = ready_pods(server, 1).await?;
        narrator.detail(&format!("It has 1 Pod, which is Ready: {pods}."));

        let mut command = Command::new(program);
        command.arg("run").env("KUBECONFIG", &self.kubeconfig);
        plugin::forget_settings(&mut command);
        let started = Instant::now();
        narrator.step("Starting the controller: kubectl minrep run");
        let controller = Running::start(command, Narrator::log)?;
        raised(server, &controller).await?;
        let seconds = started.elapsed().as_secs_f64();
        narrator.step(&format!(
            "{NAME} went from 1 replica to 2, {seconds:.2} s after the controller's start."
        ));
        let pods = ready_pods(server, 2).await?;
        narrator.detail(&format!("Both Pods are Ready: {pods}."));
        Ok(controller)
    }

    fn invite(&self) {
        println!(
            "\nThe server and the controller keep running. From a second terminal:\n\n    \
             export KUBECONFIG={}\n    \
             kubectl get deployments\n    \
             kubectl scale deployment {NAME} --replicas=1    # and it is raised again\n    \
             kubectl delete deployment {NAME}\n    \
             kubectl apply -f {SAMPLE}    # and it is raised to 2\n\n\
             Ctrl-C ends both and leaves nothing behind.\n",
            self.kubeconfig.display()
        );
    }
}

/// Waits until the server has 2 replicas, and the controller has said that it did that.
async fn raised(server: &SimApiServer, controller: &Running) -> Result<(), Box<dyn Error>> {
    let line = format!("{NAME} scaled from 1 to 2");
    controller
        .lines()
        .wait_for(
            "the controller's \"scaled from 1 to 2\"",
            0,
            BOUND,
            |text| text.contains(&line),
        )
        .await?;
    let wait = server.wait_for_object("deployments", "default", NAME, |deployment| {
        deployment.is_some_and(|deployment| replicas(deployment) == 2)
    });
    timeout(BOUND, wait)
        .await
        .map_err(|_| format!("{NAME} still has 1 replica"))?;
    Ok(())
}

/// Waits until exactly `count` Pods are there and Ready, and names them.
async fn ready_pods(server: &SimApiServer, count: usize) -> Result<String, Box<dyn Error>> {
    let are_ready = |server: &SimApiServer| {
        let pods = server.objects("pods");
        pods.len() == count && pods.iter().all(is_ready)
    };
    timeout(BOUND, server.wait_for(are_ready))
        .await
        .map_err(|_| format!("{count} Ready Pods were expected"))?;
    let names: Vec<String> = server
        .objects("pods")
        .iter()
        .filter_map(|pod| Some(pod["metadata"]["name"].as_str()?.to_owned()))
        .collect();
    Ok(names.join(", "))
}

fn replicas(deployment: &Value) -> i64 {
    deployment["spec"]["replicas"].as_i64().unwrap_or(1)
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
