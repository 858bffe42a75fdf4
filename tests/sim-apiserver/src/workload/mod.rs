//! Deployments → ReplicaSets → Pods → statuses, and namespaces → ServiceAccounts.
//!
//! The stand-in for kube-controller-manager, the scheduler and the kubelet, as far as a Deployment's life goes:
//! one ReplicaSet a template, Pods that become Ready after a while, scaling up and down, a rollout by its
//! strategy when the template changes, revisions to go back to, statuses with their conditions, and Events. It works through the same store, by the same rules as
//! every client, and signs as the field manager `kube-controller-manager`.

mod controller;
mod deployment;
mod deployment_status;
mod event;
mod node;
mod owner;
mod pod;
mod replica_set;
mod rollout;
mod service_account;

pub(crate) use controller::run;
