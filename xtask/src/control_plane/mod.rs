//! A real Kubernetes control plane as a child process.
//!
//! `tests/control-plane` is a Go module that builds one binary out of
//! upstream's etcd, kube-apiserver, kube-controller-manager, kube-scheduler
//! and kubectl. [`build()`] builds it, [`ControlPlane`] runs it. The Go side owns
//! certificates, ports, the components and the clean-up; this side owns one
//! process, and the pipe to its stdin is what keeps it alive.
//!
//! ```ignore
//! let binary = control_plane::build()?;
//! let cluster = ControlPlane::start(&binary, &Options::default())?;
//! let kubectl = control_plane::kubectl()?;
//! Command::new(kubectl).env("KUBECONFIG", cluster.kubeconfig()).arg("get").arg("nodes");
//! cluster.stop()?;
//! ```

mod build;
mod cli;
mod faulty_proxy;
mod image;
mod instance;
mod kubectl;

pub(crate) use build::{Binary, build};
pub(crate) use cli::{Command, run};
pub(crate) use faulty_proxy::FaultyProxy;
pub(crate) use image::{IMAGE, build_image};
pub(crate) use instance::{ControlPlane, Options};
pub(crate) use kubectl::{keep_to_itself, kubectl};
