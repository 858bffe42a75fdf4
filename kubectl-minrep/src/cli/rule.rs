use clap::{Args, ValueEnum};

use super::bool_flag::parse_bool;
use super::count::count;

/// Which Deployments are looked at, and what is done about them. `run` and
/// `reconcile once` share these flags, so that a dry run of the one foretells the other.
#[derive(Args, Clone, Debug)]
pub struct RuleArgs {
    /// Act in every namespace but the excluded ones
    #[arg(
        short = 'A',
        long,
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        hide_default_value = true,
        value_name = "BOOL",
        value_parser = parse_bool,
        env = "MINREP_ALL_NAMESPACES",
        hide_env = true
    )]
    pub all_namespaces: bool,

    /// Only opted-in Deployments that also match this label selector
    #[arg(
        short = 'l',
        long,
        value_name = "SELECTOR",
        env = "MINREP_SELECTOR",
        hide_env = true
    )]
    pub selector: Option<String>,

    /// The number of replicas below which a Deployment is raised
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        allow_negative_numbers = true,
        value_parser = count(1..=i32::MAX),
        env = "MINREP_MIN",
        hide_env = true
    )]
    pub min: i32,

    /// The highest minimum that a Deployment may ask for itself, by the annotation
    /// minrep.dev/min
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        allow_negative_numbers = true,
        value_parser = count(1..=i32::MAX),
        env = "MINREP_MAX_MIN",
        hide_env = true
    )]
    pub max_min: i32,

    /// The label by which a Deployment opts in
    #[arg(
        long,
        value_name = "KEY=VALUE",
        default_value = "demo/min-replicas=true",
        env = "MINREP_OPT_IN_LABEL",
        hide_env = true
    )]
    pub opt_in_label: String,

    /// What to do with a Deployment that was scaled to 0
    #[arg(
        long,
        value_name = "raise|keep",
        default_value = "raise",
        hide_possible_values = true,
        env = "MINREP_ZERO",
        hide_env = true
    )]
    pub zero: ZeroArg,

    /// What to do with a Deployment that a HorizontalPodAutoscaler or a ScaledObject targets;
    /// raise-min raises the HorizontalPodAutoscaler's minReplicas instead
    #[arg(
        long,
        value_name = "skip|raise-min|ignore",
        default_value = "skip",
        hide_possible_values = true,
        env = "MINREP_HPA",
        hide_env = true
    )]
    pub hpa: HpaArg,

    /// Leave this namespace out, beside kube-system, kube-public and kube-node-lease;
    /// an empty value clears the list, an explicit -n overrides it
    #[arg(
        long,
        value_name = "NAME",
        env = "MINREP_EXCLUDE_NAMESPACE",
        hide_env = true
    )]
    pub exclude_namespace: Vec<String>,

    /// How many Deployments to work on at the same time
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        allow_negative_numbers = true,
        value_parser = count(1..=1000_u16),
        env = "MINREP_WORKERS",
        hide_env = true
    )]
    pub workers: u16,

    /// client: only say what would be changed; server: have the server check each change
    /// too; none: change
    #[arg(
        long,
        value_name = "none|client|server",
        num_args = 0..=1,
        require_equals = true,
        default_value = "none",
        default_missing_value = "unchanged",
        value_parser = parse_dry_run,
        env = "MINREP_DRY_RUN",
        hide_env = true
    )]
    pub dry_run: DryRunArg,
}

/// `--zero`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ZeroArg {
    /// 0 is below the minimum like any other number.
    Raise,
    /// 0 means that somebody parked it.
    Keep,
}

/// `--hpa`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HpaArg {
    /// The autoscaler decides.
    Skip,
    /// Its own minimum is raised.
    RaiseMin,
    /// The rule applies all the same.
    Ignore,
}

/// `--dry-run`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRunArg {
    /// Changes are made.
    None,
    /// Nothing is sent.
    Client,
    /// Changes are sent with `dryRun=All`.
    Server,
    /// The flag without a value: as kubectl does, `client` with a note on stderr.
    Bare,
}

/// kubectl's words for a value it does not know. It takes the value after `=` only, so
/// that `--dry-run client` cannot be read as a dry run of something named `client`.
pub(super) fn parse_dry_run(text: &str) -> Result<DryRunArg, String> {
    match text {
        "none" => Ok(DryRunArg::None),
        "client" => Ok(DryRunArg::Client),
        "server" => Ok(DryRunArg::Server),
        "unchanged" => Ok(DryRunArg::Bare),
        _ => Err(format!(
            r#"Invalid dry-run value ({text}). Must be "none", "server", or "client"."#
        )),
    }
}
