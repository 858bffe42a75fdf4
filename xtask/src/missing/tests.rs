use super::*;

/// Whatever wraps it, it is found.
#[test]
fn what_is_missing_is_found_behind_other_errors() {
    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] Missing);

    let error: Box<dyn Error> = Box::new(Outer(Missing::Kind));
    assert!(matches!(
        Missing::behind(error.as_ref()),
        Some(Missing::Kind)
    ));
    let error: Box<dyn Error> = "something else".into();
    assert!(Missing::behind(error.as_ref()).is_none());
}

#[test]
fn a_program_is_looked_for_in_all_folders_of_path() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = std::env::join_paths([first.path(), second.path()]).unwrap();
    assert_eq!(on_path("kind", &path), None);
    // A folder of that name is no program.
    std::fs::create_dir(first.path().join("kind")).unwrap();
    std::fs::write(second.path().join("kind"), "").unwrap();
    assert_eq!(on_path("kind", &path), Some(second.path().join("kind")));
}

/// One line each: what, how to get it, what works without it.
#[test]
fn every_text_tells_what_works_without() {
    let Ok(image) = "rancher/k3s:v1".parse::<ImageName>();
    let why = || "no route to host".to_owned();
    let texts = [
        Missing::Docker,
        Missing::DockerCommand,
        Missing::DockerDaemon {
            host: "unix:///run/docker.sock".to_owned(),
        },
        Missing::DockerPermission {
            host: "/run/docker.sock".to_owned(),
        },
        Missing::DockerBroken {
            host: "tcp://10.0.0.1:2375".to_owned(),
            why: why(),
        },
        Missing::Image {
            image: image.clone(),
            why: why(),
        },
        Missing::Go,
        Missing::Kind,
        Missing::KindImage { image, why: why() },
        Missing::Kubectl,
        Missing::Context {
            context: "prod".to_owned(),
        },
        Missing::Cluster {
            context: "prod".to_owned(),
            why: why(),
        },
    ]
    .map(|missing| missing.to_string());
    for text in &texts {
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    insta::assert_snapshot!(texts.join("\n"), @"
Docker is not installed; get Docker Engine from https://docs.docker.com/engine/install/ or your distribution (Debian, Ubuntu: docker.io); without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)
the command `docker` is not on PATH; get it from https://docs.docker.com/engine/install/; without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)
the Docker daemon is not running (nobody answers at unix:///run/docker.sock); start it (`sudo systemctl start docker`, or Docker Desktop), or set DOCKER_HOST; without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)
no permission to use Docker's socket /run/docker.sock; join its group (`sudo usermod -aG docker $USER`, then sign in again), or use rootless Docker; without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)
Docker at tcp://10.0.0.1:2375 cannot be used: no route to host; without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)
the image rancher/k3s:v1 is not on this machine and cannot be pulled (no route to host); `cargo xtask control-plane image` builds one that does (needs Go): --image minrep-control-plane; without Docker: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)
Go is not on PATH, and the control plane is compiled from tests/control-plane; get it from https://go.dev/dl/; without Go: e2e with --provider k3s or kind (Docker), existing (a cluster), or embedded (nothing but kubectl); judge needs it
kind is not on PATH; get it from https://kind.sigs.k8s.io/docs/user/quick-start/ or by `go install sigs.k8s.io/kind@v0.33.0`; without kind: --provider k3s (Docker), control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)
kind's node image rancher/k3s:v1 is not on this machine and cannot be pulled (no route to host); without it: --provider control-plane (Go), existing (a cluster), or embedded (nothing but kubectl)
no kubectl of 1.27 or later is on PATH, and without Go none can be built; get it from https://kubernetes.io/docs/tasks/tools/; every provider needs it, `cargo xtask demo` does not
no context prod in the kubeconfig; `kubectl config get-contexts` lists them; without a cluster: --provider k3s (Docker), control-plane (Go), or embedded (nothing but kubectl)
the cluster of context prod cannot be used (no route to host); without it: --provider k3s (Docker), control-plane (Go), or embedded (nothing but kubectl)
");
}
