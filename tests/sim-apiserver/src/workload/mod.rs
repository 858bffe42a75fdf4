//! Deployments → ReplicaSets → Pods → statuses, and namespaces → ServiceAccounts.
//!
//! The stand-in for kube-controller-manager, the scheduler and the kubelet, as far as a Deployment's life goes:
//! one ReplicaSet a template, Pods that become Ready after a while, scaling up and down, a rollout when the
//! template changes, and statuses with their conditions. It works through the same store, by the same rules as
//! every client, and signs as the field manager `kube-controller-manager`.

mod controller;
mod deployment;
mod owner;
mod pod;
mod replica_set;
mod service_account;

pub(crate) use controller::run;
