use std::error::Error;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use testcontainers_modules::testcontainers::bollard::errors::Error as ApiError;
use testcontainers_modules::testcontainers::core::client::ClientError;

use crate::missing::{Missing, on_path};

/// Where the Engine is looked for if nothing else is said.
const SOCKET: &str = "unix:///var/run/docker.sock";

/// Where the Engine is looked for: an address of Docker's, such as `unix:///run/docker.sock`.
pub(super) fn host() -> String {
    std::env::var("DOCKER_HOST").unwrap_or_else(|_| SOCKET.to_owned())
}

/// What to tell a person of a client that could not be made.
pub(super) fn no_client(error: &ClientError) -> Missing {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match error {
        ClientError::Init(error) => no_answer(error, &host(), &path),
        error => Missing::DockerBroken {
            host: host(),
            why: error.to_string(),
        },
    }
}

/// What to tell a person of an Engine that did not answer.
pub(super) fn no_answer(error: &ApiError, host: &str, path: &OsStr) -> Missing {
    let host = host.to_owned();
    let kind = match error {
        ApiError::SocketNotFoundError(_) => Some(io::ErrorKind::NotFound),
        error => io_kind(error),
    };
    match kind {
        Some(io::ErrorKind::NotFound) if on_path("docker", path).is_none() && is_socket(&host) => {
            Missing::Docker
        }
        Some(io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Missing::DockerDaemon { host }
        }
        Some(io::ErrorKind::PermissionDenied) => Missing::DockerPermission {
            host: socket(&host).display().to_string(),
        },
        _ => Missing::DockerBroken {
            host,
            why: error.to_string(),
        },
    }
}

/// Whether the Engine is on this machine, by its address.
pub(super) fn is_socket(host: &str) -> bool {
    host.starts_with("unix://")
}

fn socket(host: &str) -> &Path {
    Path::new(host.strip_prefix("unix://").unwrap_or(host))
}

/// What the operating system said, however deep it is wrapped.
fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let mut next = Some(error);
    while let Some(error) = next {
        let found = match error.downcast_ref::<ApiError>() {
            // Transparent: its source is the source of the error inside.
            Some(ApiError::IOError { err }) => Some(err.kind()),
            _ => error.downcast_ref::<io::Error>().map(io::Error::kind),
        };
        if found.is_some() {
            return found;
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use testcontainers_modules::testcontainers::bollard::{API_DEFAULT_VERSION, Docker};
    use tokio::net::UnixListener;

    use super::*;

    /// What is told of the socket `path`, with or without a docker command on PATH.
    async fn told(path: &Path, command: bool) -> String {
        let folder = tempfile::tempdir().unwrap();
        if command {
            std::fs::write(folder.path().join("docker"), "").unwrap();
        }
        let host = format!("unix://{}", path.display());
        let error = match Docker::connect_with_unix(&host, 5, API_DEFAULT_VERSION) {
            Ok(docker) => docker.ping().await.unwrap_err(),
            Err(error) => error,
        };
        let text = no_answer(&error, &host, folder.path().as_os_str()).to_string();
        text.replace(&path.display().to_string(), "SOCKET")
    }

    #[tokio::test]
    async fn no_docker_at_all() {
        let text = told(Path::new("/no/such/docker.sock"), false).await;
        insta::assert_snapshot!(text, @"Docker is not installed; get Docker Engine from https://docs.docker.com/engine/install/ or your distribution (Debian, Ubuntu: docker.io); without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)");
    }

    #[tokio::test]
    async fn the_command_is_there_and_no_daemon() {
        let text = told(Path::new("/no/such/docker.sock"), true).await;
        insta::assert_snapshot!(text, @"the Docker daemon is not running (nobody answers at unix://SOCKET); start it (`sudo systemctl start docker`, or Docker Desktop), or set DOCKER_HOST; without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)");
    }

    #[tokio::test]
    async fn a_daemon_that_died_has_left_its_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docker.sock");
        drop(UnixListener::bind(&path).unwrap());
        let refused = told(&path, false).await;
        assert!(
            refused
                .starts_with("the Docker daemon is not running (nobody answers at unix://SOCKET)"),
            "{refused}"
        );
    }

    /// Who runs this may be root, whom no socket is closed to: the error is made here.
    #[test]
    fn a_socket_of_somebody_else() {
        let error = ApiError::from(io::Error::from(io::ErrorKind::PermissionDenied));
        let told = no_answer(&error, SOCKET, OsStr::new("")).to_string();
        insta::assert_snapshot!(told, @"no permission to use Docker's socket /var/run/docker.sock; join its group (`sudo usermod -aG docker $USER`, then sign in again), or use rootless Docker; without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)");
    }

    #[tokio::test]
    async fn somebody_else_listens_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docker.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let hang_up = async {
            loop {
                drop(listener.accept().await);
            }
        };
        let text = tokio::select! {
            text = told(&path, true) => text,
            () = hang_up => String::new(),
        };
        assert!(
            text.starts_with("Docker at unix://SOCKET cannot be used: "),
            "{text}"
        );
    }
}
