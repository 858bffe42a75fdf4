use clap::{Args, ValueEnum};

/// Flags of `cargo xtask e2e`.
#[derive(Debug, Args)]
pub(crate) struct E2e {
    /// Where the Kubernetes API comes from
    #[arg(long, value_enum)]
    pub(super) provider: Provider,
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
    /// The simulated API server, in this process: needs nothing but kubectl
    Embedded,
    /// etcd, kube-apiserver, controllers and a node without kubelet, as one process
    ControlPlane,
}
