use std::error::Error;
use std::path::{Path, PathBuf};

use sim_apiserver::SimApiServer;
use tempfile::TempDir;

use super::choice::Choice;
use super::container::{self, Container};
use super::existing::{self, Existing};
use super::kind::{self, Kind};
use super::kubeconfig;
use super::provided::{Provided, Server, kubeconfig_in};
use super::run_name::RunName;
use super::warm_up::warm_up;
use crate::control_plane::{self, Binary, ControlPlane, Options};
use crate::docker::Engine;
use crate::e2e::cluster::Cluster;

/// A provider with everything that takes minutes, and the names of all that it will make.
pub(in crate::e2e) struct Prepared {
    source: Source,
    name: RunName,
    /// For kubeconfigs.
    folder: TempDir,
    logs: PathBuf,
}

enum Source {
    Embedded,
    Process(Binary),
    Container(Container),
    Kind(Kind),
    Existing(Existing),
}

// === impl Prepared ===

impl Prepared {
    /// Compiles what the choice needs, and puts it into an image. It takes minutes the first
    /// time, and leaves nothing behind that would have to be removed.
    pub(in crate::e2e) async fn build(choice: &Choice) -> Result<Option<Binary>, Box<dyn Error>> {
        match choice {
            Choice::Process => Ok(Some(control_plane::build()?)),
            Choice::Container { image } => {
                let binary = control_plane::build()?;
                control_plane::build_image(&binary, image).await?;
                Ok(Some(binary))
            }
            _ => Ok(None),
        }
    }

    /// `built` is what [`build`](Self::build) has built.
    pub(in crate::e2e) async fn new(
        choice: &Choice,
        built: Option<Binary>,
        kubectl: &Path,
        logs: &Path,
    ) -> Result<Self, Box<dyn Error>> {
        let name = RunName::new();
        let folder = tempfile::Builder::new().prefix("minrep-e2e-").tempdir()?;
        let source = match (choice, built) {
            (Choice::Process, Some(binary)) => Source::Process(binary),
            (Choice::Container { image } | Choice::K3s { image }, _) => {
                Source::Container(Container {
                    engine: Engine::connect().await?,
                    image: image.clone(),
                    name: name.clone(),
                    log: logs.join("cluster.log"),
                })
            }
            (Choice::Kind { image }, _) => {
                let engine = Engine::connect().await?;
                let kubeconfig = kubeconfig_in(folder.path());
                Source::Kind(Kind::new(engine, image.clone(), name.clone(), kubeconfig).await?)
            }
            (Choice::Existing { context }, _) => Source::Existing(Existing {
                kubectl: kubectl.to_owned(),
                context: context.clone(),
                name: name.clone(),
                kubeconfig: kubeconfig_in(folder.path()),
            }),
            (Choice::Embedded | Choice::Process, _) => Source::Embedded,
        };
        Ok(Self {
            source,
            name,
            folder,
            logs: logs.to_owned(),
        })
    }

    /// Starts it, or returns `None` after `stop`. It must be awaited to its end: a request
    /// that was sent would be carried out after [`remove`](Self::remove), which removes what
    /// this leaves behind.
    pub(in crate::e2e) async fn start<S>(
        &self,
        stop: &mut (impl Future<Output = S> + Unpin),
    ) -> Result<Option<Provided>, Box<dyn Error>> {
        let path = kubeconfig_in(self.folder.path());
        let server = match &self.source {
            Source::Embedded => {
                let server = SimApiServer::builder().workload_controllers(true);
                let server = server.recorded_requests(0).start().await?;
                server.write_kubeconfig(&path)?;
                Server::Simulated(server)
            }
            Source::Process(binary) => {
                let options = Options {
                    logs: Some(self.logs.join("control-plane")),
                    ..Options::default()
                };
                let instance = ControlPlane::start(binary, &options)?;
                let path = instance.kubeconfig().to_owned();
                let provided = Provided::new(Server::Process(instance), path).await;
                return provided.map(Some);
            }
            Source::Container(container) => {
                let Some(config) = container.start(stop).await? else {
                    return Ok(None);
                };
                kubeconfig::write(&path, &config)?;
                Server::Elsewhere
            }
            Source::Kind(kind) => {
                if !kind.start(stop).await? {
                    return Ok(None);
                }
                Server::Elsewhere
            }
            Source::Existing(existing) => {
                existing.start().await?;
                Server::Elsewhere
            }
        };
        Provided::new(server, path).await.map(Some)
    }

    /// Has the scenarios' images pulled, where images are pulled at all.
    pub(in crate::e2e) async fn warm_up(&self, cluster: &Cluster) -> Result<(), String> {
        match &self.source {
            Source::Embedded | Source::Process(_) => Ok(()),
            Source::Container(_) | Source::Kind(_) | Source::Existing(_) => warm_up(cluster).await,
        }
    }

    /// Keeps what tells why something failed, beside the controllers' logs. A container's log
    /// is written all the time.
    pub(in crate::e2e) async fn save_logs(&self) -> Result<(), Box<dyn Error>> {
        match &self.source {
            Source::Embedded | Source::Process(_) | Source::Container(_) => Ok(()),
            Source::Kind(kind) => kind.save_logs(&self.logs.join("kind")).await,
            Source::Existing(existing) => {
                existing.save_objects(&self.logs.join("objects.yaml")).await
            }
        }
    }

    /// Whether anything is there that [`remove`](Self::remove) would remove from where it
    /// runs. What cannot be found out counts as there.
    pub(in crate::e2e) async fn is_made(&self) -> bool {
        match &self.source {
            Source::Embedded | Source::Process(_) => false,
            Source::Container(container) => container.is_made().await,
            Source::Kind(kind) => kind.is_made().await,
            Source::Existing(existing) => existing.is_made(),
        }
    }

    /// Removes everything that has the run's name, however far the start came.
    pub(in crate::e2e) async fn remove(self) -> Result<(), Box<dyn Error>> {
        let removed = match &self.source {
            Source::Embedded | Source::Process(_) => Ok(()),
            Source::Container(container) => container.remove().await,
            Source::Kind(kind) => kind.remove().await,
            Source::Existing(existing) => existing.remove().await,
        };
        self.folder.close()?;
        removed
    }

    /// What a person does instead of [`remove`](Self::remove), or `None` where there is
    /// nothing to be done.
    pub(in crate::e2e) fn by_hand(&self) -> Option<String> {
        let folder = self.folder.path();
        let cluster = match &self.source {
            Source::Embedded | Source::Process(_) => return None,
            Source::Container(_) => container::by_hand(&self.name),
            Source::Kind(_) => kind::by_hand(&self.name, &kubeconfig_in(folder)),
            Source::Existing(existing) => existing::by_hand(&self.name, &existing.context),
        };
        Some(format!("{cluster} && rm -rf {}", folder.display()))
    }

    /// Leaves everything there, and returns how to reach and remove it.
    pub(in crate::e2e) fn keep(self) -> String {
        let remove = self.by_hand().unwrap_or_default();
        let kubeconfig = kubeconfig_in(&self.folder.keep());
        let reach = match kubeconfig.exists() {
            true => format!("export KUBECONFIG={}", kubeconfig.display()),
            // It did not come as far as that.
            false => "it has no kubeconfig".to_owned(),
        };
        format!("kept: {reach}\nremove it: {remove}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared() -> Prepared {
        let name = RunName::of_test("minrep-e2e-1");
        let folder = tempfile::tempdir().unwrap();
        Prepared {
            source: Source::Existing(Existing {
                kubectl: "/nowhere/kubectl".into(),
                context: "dev".to_owned(),
                name: name.clone(),
                kubeconfig: kubeconfig_in(folder.path()),
            }),
            name,
            folder,
            logs: PathBuf::new(),
        }
    }

    #[tokio::test]
    async fn a_start_that_made_nothing_leaves_no_folder() {
        let prepared = prepared();
        let folder = prepared.folder.path().to_owned();
        assert!(!prepared.is_made().await);
        prepared.remove().await.unwrap();
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn what_is_kept_can_be_reached_and_removed() {
        let prepared = prepared();
        let folder = prepared.folder.path().to_owned();
        std::fs::write(kubeconfig_in(&folder), "{}").unwrap();
        assert!(prepared.is_made().await);
        let text = prepared.keep();
        std::fs::remove_dir_all(&folder).unwrap();
        let text = text.replace(&folder.display().to_string(), "/t");
        insta::assert_snapshot!(text, @"
kept: export KUBECONFIG=/t/kubeconfig
remove it: kubectl delete namespace minrep-e2e-1 --context=dev && rm -rf /t
");
    }
}
