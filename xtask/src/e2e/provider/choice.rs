use clap::error::ErrorKind;

use crate::control_plane::IMAGE;
use crate::docker::{Engine, ImageName};
use crate::e2e::flags::{E2e, Form, Provider, Set};
use crate::e2e::need::Need;
use crate::missing::{Missing, has};

/// k3s of the control plane's own minor version.
const K3S: &str = "rancher/k3s:v1.36.4-k3s1";

/// kind v0.33.0's node image of the same version. Its tag alone could be another build.
const KIND_NODE: &str =
    "kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed";

/// What was asked for: a provider with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::e2e) enum Choice {
    Embedded,
    Process,
    Container { image: ImageName },
    K3s { image: ImageName },
    Kind { image: ImageName },
    Existing { context: String },
}

// === impl Choice ===

impl Choice {
    /// Refuses flags that would have no effect.
    pub(in crate::e2e) fn of(flags: &E2e) -> Result<Self, clap::Error> {
        let given = [
            ("--as", flags.form.is_some(), &[Provider::ControlPlane][..]),
            (
                "--image",
                flags.image.is_some(),
                &[Provider::K3s, Provider::Kind],
            ),
            ("--context", flags.context.is_some(), &[Provider::Existing]),
        ];
        for (flag, given, providers) in given {
            if given && !providers.contains(&flags.provider) {
                return Err(refusal(&format!("{flag} is for another --provider")));
            }
        }
        let image = |pinned: &str| {
            let Ok(pinned) = pinned.parse();
            flags.image.clone().unwrap_or(pinned)
        };
        let choice = match flags.provider {
            Provider::Embedded => Self::Embedded,
            Provider::ControlPlane if flags.form == Some(Form::Container) => Self::Container {
                image: image(IMAGE),
            },
            Provider::ControlPlane => Self::Process,
            Provider::K3s => Self::K3s { image: image(K3S) },
            Provider::Kind => Self::Kind {
                image: image(KIND_NODE),
            },
            Provider::Existing => Self::Existing {
                context: flags.context.clone().unwrap_or_default(),
            },
        };
        if flags.set == Set::Scale && !choice.gives(Need::AuditLog) {
            let needs = "--set scale needs --provider control-plane as a process: it reads";
            return Err(refusal(&format!("{needs} {}", Need::AuditLog)));
        }
        if flags.keep && matches!(choice, Self::Embedded | Self::Process) {
            return Err(refusal(
                "--keep needs a cluster that outlives this process: `cargo xtask control-plane up` \
                 and `cargo xtask sim` run one until Ctrl-C",
            ));
        }
        Ok(choice)
    }

    /// Whether scenarios that need this can run.
    pub(in crate::e2e) fn gives(&self, need: Need) -> bool {
        match self {
            // It has namespaces and the controllers of Deployments; its admission is no
            // policy's and no quota's.
            Self::Embedded => need == Need::ClusterScope,
            Self::Process => true,
            // Only the process is told where to write one.
            Self::Container { .. } | Self::K3s { .. } | Self::Kind { .. } => need != Need::AuditLog,
            // A guest changes nothing but its own namespace, and cannot rely on settings.
            Self::Existing { .. } => false,
        }
    }

    /// Looks for what it needs, before anything takes time.
    ///
    /// # Errors
    /// [`Missing`].
    pub(in crate::e2e) async fn check(&self) -> Result<(), Missing> {
        let (engine, programs): (bool, &[(&str, Missing)]) = match self {
            Self::Embedded | Self::Existing { .. } => (false, &[]),
            Self::Process => (false, &[("go", Missing::Go)]),
            // It is built by the command.
            Self::Container { .. } => (
                true,
                &[("docker", Missing::DockerCommand), ("go", Missing::Go)],
            ),
            Self::K3s { .. } => (true, &[]),
            // It calls the command.
            Self::Kind { .. } => (
                true,
                &[("docker", Missing::DockerCommand), ("kind", Missing::Kind)],
            ),
        };
        if engine {
            Engine::connect().await?;
        }
        for (program, missing) in programs {
            if !has(program) {
                return Err(missing.clone());
            }
        }
        Ok(())
    }
}

fn refusal(message: &str) -> clap::Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, format!("{message}\n"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::task::Task;

    fn chosen(arguments: &[&str]) -> Result<Choice, String> {
        let typed = ["cargo xtask", "e2e"].iter().chain(arguments);
        let task = Task::try_parse_from(typed).map_err(|error| error.kind().to_string())?;
        let Task::E2e(flags) = task else {
            return Err("another task".to_owned());
        };
        Choice::of(&flags).map_err(|error| error.to_string())
    }

    fn image(text: &str) -> ImageName {
        let Ok(image) = text.parse();
        image
    }

    #[test]
    fn k3s_is_the_default_and_pinned() {
        let k3s = Choice::K3s {
            image: image("rancher/k3s:v1.36.4-k3s1"),
        };
        assert_eq!(chosen(&[]), Ok(k3s.clone()));
        assert_eq!(chosen(&["--provider", "k3s", "--keep"]), Ok(k3s));
    }

    #[test]
    fn an_image_of_ones_own_is_the_latest_unless_said_otherwise() {
        let own = |text| Choice::K3s { image: image(text) };
        assert_eq!(
            chosen(&["--image", "minrep-control-plane"]),
            Ok(own("minrep-control-plane:latest"))
        );
        assert_eq!(chosen(&["--image", "a:b"]), Ok(own("a:b")));
        assert_eq!(
            chosen(&["--provider=kind", "--image=kindest/node:v1.35.8"]),
            Ok(Choice::Kind {
                image: image("kindest/node:v1.35.8")
            })
        );
    }

    #[test]
    fn the_control_plane_is_a_process_unless_said_otherwise() {
        let provider = "--provider=control-plane";
        assert_eq!(chosen(&[provider]), Ok(Choice::Process));
        assert_eq!(chosen(&[provider, "--as=process"]), Ok(Choice::Process));
        assert_eq!(
            chosen(&[provider, "--as=container"]),
            Ok(Choice::Container {
                image: image("minrep-control-plane:latest")
            })
        );
    }

    #[test]
    fn an_existing_cluster_is_named() {
        assert_eq!(
            chosen(&["--provider=existing", "--context=dev"]),
            Ok(Choice::Existing {
                context: "dev".to_owned()
            })
        );
        assert!(chosen(&["--provider=existing"]).is_err());
        assert!(chosen(&["--provider=existing", "--context="]).is_err());
    }

    #[test]
    fn flags_without_an_effect_are_refused() {
        for (arguments, refusal) in [
            (&["--as=process"][..], "--as is for another --provider"),
            (&["--context=dev"], "--context is for another --provider"),
            (
                &["--provider=embedded", "--image=a"],
                "--image is for another --provider",
            ),
            (&["--provider=embedded", "--keep"], "--keep needs a cluster"),
            (
                &["--set=scale"],
                "--set scale needs --provider control-plane",
            ),
        ] {
            let error = chosen(arguments).unwrap_err();
            assert!(error.contains(refusal), "{arguments:?}: {error}");
        }
        assert_eq!(
            chosen(&["--set=scale", "--provider=control-plane"]),
            Ok(Choice::Process)
        );
    }

    #[test]
    fn a_guest_gets_nothing_but_a_namespace() {
        let guest = Choice::Existing {
            context: "dev".to_owned(),
        };
        assert!(!guest.gives(Need::ClusterScope));
        assert!(!Choice::Embedded.gives(Need::Quotas));
        assert!(Choice::K3s { image: image("a") }.gives(Need::AdmissionPolicies));
    }
}
