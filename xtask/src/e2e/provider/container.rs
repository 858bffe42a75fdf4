use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use testcontainers_modules::k3s::{K3s, KUBE_SECURE_PORT};
use testcontainers_modules::testcontainers::bollard::models::PortBinding;
use testcontainers_modules::testcontainers::core::client::ClientError;
use testcontainers_modules::testcontainers::core::error::WaitContainerError;
use testcontainers_modules::testcontainers::core::logs::{LogFrame, WaitLogError};
use testcontainers_modules::testcontainers::core::{CgroupnsMode, Image as _};
use testcontainers_modules::testcontainers::runners::AsyncRunner;
use testcontainers_modules::testcontainers::{
    ContainerAsync, ContainerRequest, ImageExt, TestcontainersError,
};
use tokio::time::{interval, timeout};

use super::kubeconfig;
use super::run_name::RunName;
use crate::docker::{Engine, ImageName};
use crate::missing::Missing;

/// The label of everything that a run has made, with the run's name.
pub(super) const LABEL: &str = "dev.minrep.e2e";

/// Where k3s writes an administrator's kubeconfig.
const KUBECONFIG: &str = "/etc/rancher/k3s/k3s.yaml";

/// From the start of the container until it is ready. k3s needs half a minute on two cores.
const STARTUP: Duration = Duration::from_secs(180);

/// From the request to make a container until it is there.
const CREATION: Duration = Duration::from_secs(60);

/// k3s, or what keeps its promises, in a container.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) engine: Engine,
    pub(super) image: ImageName,
    pub(super) name: RunName,
    /// What it writes is kept here.
    pub(super) log: PathBuf,
}

// === impl Container ===

impl Container {
    /// Starts it, and returns a kubeconfig once it is ready, or `None` after `stop`.
    ///
    /// # Errors
    /// Among others [`Missing::Image`]. Whatever is there by then, [`remove`](Self::remove)
    /// removes.
    pub(super) async fn start<S>(
        &self,
        stop: &mut (impl Future<Output = S> + Unpin),
    ) -> Result<Option<Value>, Box<dyn Error>> {
        let mut image = self.engine.image(&self.image).await?;
        if !image.here {
            eprintln!("pulling {}", self.image);
            let request = K3s::default()
                .with_name(self.image.name())
                .with_tag(self.image.tag());
            tokio::select! {
                // The Engine gives a pull up as soon as nobody waits for it.
                _ = &mut *stop => return Ok(None),
                pulled = request.pull_image() => {
                    drop(pulled.map_err(|error| self.not_started(error))?);
                }
            }
            image = self.engine.image(&self.image).await?;
        }
        let log = Mutex::new(File::create(&self.log)?);
        let local = self.engine.is_local().await;
        let request = self.request(image.privileged, local).with_log_consumer(
            // A full disk must not end the run: the log is for who looks for a failure.
            move |frame: &LogFrame| drop(log.lock().write_all(frame.bytes())),
        );
        let mut start = pin!(request.start());
        let started = tokio::select! {
            started = &mut start => started,
            _ = stop => {
                self.created(start).await;
                return Ok(None);
            }
        };
        // Removing is not its own affair: it would not wait for what else has to be done.
        let container = ManuallyDrop::new(started.map_err(|error| self.not_started(error))?);
        self.kubeconfig(&container, local).await.map(Some)
    }

    /// Waits until the container is there, or `start` has failed: a request that was sent is
    /// carried out, and what comes after the removal would stay.
    async fn created(&self, mut start: impl Future + Unpin) {
        let mut look = interval(Duration::from_millis(50));
        let there = async {
            while let Ok(false) = self.engine.has_labelled(LABEL, self.name.as_str()).await {
                look.tick().await;
            }
        };
        tokio::select! {
            _ = timeout(CREATION, there) => {}
            _ = &mut start => {}
        }
    }

    /// Whether it is there, or may be.
    pub(super) async fn is_made(&self) -> bool {
        let found = self.engine.has_labelled(LABEL, self.name.as_str()).await;
        found.unwrap_or(true)
    }

    /// Removes it, if it is there.
    pub(super) async fn remove(&self) -> Result<(), Box<dyn Error>> {
        Ok(self
            .engine
            .remove_labelled(LABEL, self.name.as_str())
            .await?)
    }

    fn request(&self, privileged: bool, local: bool) -> ContainerRequest<K3s> {
        let request = K3s::default()
            .with_name(self.image.name())
            .with_tag(self.image.tag())
            .with_container_name(self.name.as_str())
            .with_hostname(self.name.as_str())
            .with_label(LABEL, self.name.as_str())
            .with_cmd(command())
            .with_startup_timeout(STARTUP);
        let request = if privileged {
            request
                .with_privileged(true)
                .with_userns_mode("host")
                .with_cgroupns_mode(CgroupnsMode::Host)
        } else {
            request
        };
        if !local {
            return request;
        }
        // An administrator's door: nobody else in the network is to find it.
        request.with_host_config_modifier(|config| {
            let loopback = PortBinding {
                host_ip: Some("127.0.0.1".to_owned()),
                host_port: None,
            };
            let port = KUBE_SECURE_PORT.to_string();
            config.publish_all_ports = Some(false);
            config.port_bindings = Some([(port, Some(vec![loopback]))].into());
        })
    }

    async fn kubeconfig(
        &self,
        container: &ContainerAsync<K3s>,
        local: bool,
    ) -> Result<Value, Box<dyn Error>> {
        // Out of the container and not off a folder that both see: the Engine may be on
        // another machine.
        let text = container.copy_file_from(KUBECONFIG, Vec::new()).await?;
        let text = String::from_utf8(text)?;
        let host = if local {
            "127.0.0.1".to_owned()
        } else {
            container.get_host().await?.to_string()
        };
        let port = container.get_host_port_ipv4(KUBE_SECURE_PORT).await?;
        Ok(kubeconfig::with_server(&text, &host, port)?)
    }

    fn not_started(&self, error: TestcontainersError) -> Box<dyn Error> {
        let why = match error {
            TestcontainersError::Client(ClientError::PullImage { err, .. }) => {
                return Box::new(Missing::Image {
                    image: self.image.clone(),
                    why: one_line(&err.to_string()),
                });
            }
            // Its text is the whole log.
            TestcontainersError::WaitContainer(WaitContainerError::WaitLog(
                WaitLogError::EndOfStream(_),
            )) => "it ended before it was ready".to_owned(),
            error => error.to_string(),
        };
        let log = self.log.display();
        format!("{} did not start: {why}; its log: {log}", self.image).into()
    }
}

/// What the module says, and what the scenarios need: an autoscaler that looks every second,
/// and nothing that has to be pulled for nobody.
fn command() -> Vec<String> {
    let module = K3s::default();
    let mut command: Vec<String> = module
        .cmd()
        .into_iter()
        .map(|word| word.into().into_owned())
        .collect();
    command.push("--disable=traefik".to_owned());
    command.push("--disable=metrics-server".to_owned());
    command.push("--disable=servicelb".to_owned());
    command
        .push("--kube-controller-manager-arg=horizontal-pod-autoscaler-sync-period=1s".to_owned());
    command
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How to remove by hand what is called `name`.
pub(super) fn by_hand(name: &RunName) -> String {
    format!("docker rm --force --volumes {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_modules_and_then_ours() {
        insta::assert_snapshot!(command().join(" "), @"server --snapshotter=native --disable=traefik --disable=metrics-server --disable=servicelb --kube-controller-manager-arg=horizontal-pod-autoscaler-sync-period=1s");
    }
}
