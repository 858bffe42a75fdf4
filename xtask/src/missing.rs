use std::error::Error;
use std::path::PathBuf;

use crate::docker::ImageName;

/// What this machine lacks for a task. Each text is one line: what it is, how to get it, and
/// what works without it. A task that ends with it exits with 2.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Missing {
    /// Neither the command nor a socket.
    #[error(
        "Docker is not installed; get Docker Engine from https://docs.docker.com/engine/install/ \
         or your distribution (Debian, Ubuntu: docker.io); {}",
        Self::WITHOUT_DOCKER
    )]
    Docker,
    /// An Engine may well answer, but this takes the command.
    #[error(
        "the command `docker` is not on PATH; get it from \
         https://docs.docker.com/engine/install/; {}",
        Self::WITHOUT_DOCKER
    )]
    DockerCommand,
    /// Nobody listens.
    #[error(
        "the Docker daemon is not running (nobody answers at {host}); start it (`sudo systemctl \
         start docker`, or Docker Desktop), or set DOCKER_HOST; {}",
        Self::WITHOUT_DOCKER
    )]
    DockerDaemon {
        /// Where it was looked for.
        host: String,
    },
    /// The socket is somebody else's.
    #[error(
        "no permission to use Docker's socket {host}; join its group (`sudo usermod -aG docker \
         $USER`, then sign in again), or use rootless Docker; {}",
        Self::WITHOUT_DOCKER
    )]
    DockerPermission {
        /// The socket.
        host: String,
    },
    /// Docker answers, but not as it should.
    #[error("Docker at {host} cannot be used: {why}; {}", Self::WITHOUT_DOCKER)]
    DockerBroken {
        /// Where it is.
        host: String,
        /// What went wrong.
        why: String,
    },
    /// The registry has it not, or cannot be reached.
    #[error(
        "the image {image} is not on this machine and cannot be pulled ({why}); `cargo xtask \
         control-plane image` builds one that does (needs Go): --image minrep-control-plane; {}",
        Self::WITHOUT_DOCKER
    )]
    Image {
        /// Which.
        image: ImageName,
        /// What the Engine said.
        why: String,
    },
    /// No compiler for the control plane.
    #[error(
        "Go is not on PATH, and the control plane is compiled from tests/control-plane; get it \
         from https://go.dev/dl/; without Go: e2e with --provider k3s or kind (Docker), existing (a \
         cluster), or embedded (nothing but kubectl); judge needs it"
    )]
    Go,
    /// No kind.
    #[error(
        "kind is not on PATH; get it from https://kind.sigs.k8s.io/docs/user/quick-start/ or by \
         `go install sigs.k8s.io/kind@v0.33.0`; without kind: --provider k3s (Docker), \
         control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)"
    )]
    Kind,
    /// No node image.
    #[error(
        "kind's node image {image} is not on this machine and cannot be pulled ({why}); without \
         it: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)"
    )]
    KindImage {
        /// Which.
        image: ImageName,
        /// What kind said.
        why: String,
    },
    /// No kubectl, and nothing to make one of.
    #[error(
        "no kubectl of 1.27 or later is on PATH, and without Go none can be built; get it from \
         https://kubernetes.io/docs/tasks/tools/; every provider needs it, `cargo xtask demo` \
         does not"
    )]
    Kubectl,
    /// The kubeconfig does not know the context.
    #[error(
        "no context {context} in the kubeconfig; `kubectl config get-contexts` lists them; \
         without a cluster: --provider k3s (Docker), control-plane (Go), or embedded (nothing \
         but kubectl)"
    )]
    Context {
        /// What was asked for.
        context: String,
    },
    /// The cluster cannot be used.
    #[error(
        "the cluster of context {context} cannot be used ({why}); without it: --provider k3s \
         (Docker), control-plane (Go), or embedded (nothing but kubectl)"
    )]
    Cluster {
        /// What was asked for.
        context: String,
        /// What kubectl said.
        why: String,
    },
}

// === impl Missing ===

impl Missing {
    const WITHOUT_DOCKER: &str = "without Docker: --provider control-plane (Go), existing (a \
                                  cluster), or embedded (nothing but kubectl)";

    /// The one that `error` comes from, if it comes from one.
    pub(crate) fn behind<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(missing) = error.downcast_ref() {
                return Some(missing);
            }
            next = error.source();
        }
        None
    }
}

/// The first file called `name` in the folders of `path`, which is a PATH.
pub(crate) fn on_path(name: &str, path: &std::ffi::OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Whether a program called `name` is on this process's PATH.
pub(crate) fn has(name: &str) -> bool {
    on_path(name, &std::env::var_os("PATH").unwrap_or_default()).is_some()
}

#[cfg(test)]
mod tests;
