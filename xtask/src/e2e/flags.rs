use clap::{Args, ValueEnum};

use crate::docker::ImageName;

/// Flags of `cargo xtask e2e`.
#[derive(Debug, Args)]
pub(crate) struct E2e {
    /// Where the Kubernetes API comes from
    #[arg(long, value_enum, default_value_t = Provider::K3s)]
    pub(super) provider: Provider,
    /// With control-plane: what it runs as
    #[arg(long = "as", value_enum, value_name = "FORM")]
    pub(super) form: Option<Form>,
    /// With k3s and kind: another image than the pinned one, with tag `latest` unless given
    #[arg(long, value_name = "NAME[:TAG]")]
    pub(super) image: Option<ImageName>,
    /// With existing: which context of the kubeconfig
    #[arg(
        long,
        value_name = "NAME",
        required_if_eq("provider", "existing"),
        value_parser = clap::builder::NonEmptyStringValueParser::new()
    )]
    pub(super) context: Option<String>,
    /// Leave the cluster there, and say how to reach and remove it
    #[arg(long)]
    pub(super) keep: bool,
    /// Which scenarios
    #[arg(long, value_enum, default_value_t = Set::Scenarios)]
    pub(super) set: Set,
    /// How many seconds `--set scale` watches the controller do nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(super) steady: u64,
}

/// Which scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Set {
    /// What has to hold before a change is taken
    Scenarios,
    /// 10,000 Deployments on kube-apiserver alone: minutes, and figures
    Scale,
}

/// Where the Kubernetes API comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Provider {
    /// k3s in a container, by testcontainers: needs Docker
    K3s,
    /// etcd, kube-apiserver, controllers and a node without kubelet: needs Go
    ControlPlane,
    /// kubeadm's cluster in a container, by kind: needs Docker and kind
    Kind,
    /// A namespace of its own in a cluster that is there: needs --context
    Existing,
    /// The simulated API server, in this process: needs nothing but kubectl
    Embedded,
}

/// What the control plane runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// One process on this machine, with its components as children
    Process,
    /// The same in a container, from an image built here: needs Docker, too
    Container,
}
