use clap::{Args, ValueEnum};

/// Flags of `cargo xtask e2e`.
#[derive(Debug, Args)]
pub(crate) struct E2e {
    /// Where the Kubernetes API comes from
    #[arg(long, value_enum)]
    pub(super) provider: Provider,
}

/// Where the Kubernetes API comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Provider {
    /// The simulated API server, in this process: needs nothing but kubectl
    Embedded,
    /// etcd, kube-apiserver, controllers and a node without kubelet, as one process
    ControlPlane,
}
