use insta::assert_snapshot;

use super::*;
use crate::error::Exit;

fn refused(words: &str) -> UsageError {
    let argv = std::iter::once("/bin/kubectl-minrep")
        .chain(words.split_whitespace())
        .map(OsString::from);
    parse(&argv.collect::<Vec<_>>()).unwrap_err()
}

/// Without the colours that a terminal would get.
fn text(words: &str) -> String {
    anstream::adapter::strip_str(&refused(words).text).to_string()
}

#[test]
fn usage_lines_name_what_a_person_typed() {
    assert_eq!(
        shown_name(OsStr::new("/usr/bin/kubectl-minrep")),
        "kubectl minrep"
    );
    assert_eq!(
        shown_name(OsStr::new("kubectl-minrep.exe")),
        "kubectl minrep"
    );
    assert_eq!(shown_name(OsStr::new("minrep")), "minrep");
}

#[test]
fn help_is_data_and_a_missing_command_is_a_mistake() {
    assert_eq!(refused("--help").exit, Exit::Ok);
    assert_eq!(refused("reconcile once -h").exit, Exit::Ok);
    assert_eq!(refused("--version").exit, Exit::Ok);
    assert_eq!(refused("").exit, Exit::Usage);
    assert_eq!(refused("reconcile").exit, Exit::Usage);
    assert_eq!(text("reconcile"), text("reconcile -h"));
}

#[test]
fn help_of_the_program() {
    assert_snapshot!(text("-h"), @r"
    Keep opted-in Deployments at a minimum number of replicas.

    A Deployment labelled demo/min-replicas=true with fewer replicas than the minimum is
    scaled up to it. Nothing is ever scaled down.

    Usage: kubectl minrep [OPTIONS] <COMMAND>

    Commands:
      run        Watch Deployments and raise them until stopped
      reconcile  Compare Deployments with the minimum and act on the difference
      version    Print the version of this program and the Kubernetes versions it supports

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Kubernetes options:
          --kubeconfig <FILE>           Path to the kubeconfig file
          --context <NAME>              The context of the kubeconfig to use
      -n, --namespace <NAME>            The namespace to act in; the context's, unless given
          --request-timeout <DURATION>  How long to wait for one answer of the server, such as 5s or 1m; 0 waits for ever [default: 30s]
      -v, --v <LEVEL>                   How much to log, 0 to 9: 2 adds progress, 4 decisions, 6 requests
          --log-format <text|json>      The form of what is said on stderr; json is one object a line [default: text]

    Examples:
      # What would be changed in every namespace?
      kubectl minrep reconcile once -A --dry-run=server

      # Raise what is below 3 replicas in one namespace, and print what was done as JSON
      kubectl minrep reconcile once -n shop --min 3 -o json

      # Keep watching until Ctrl-C
      kubectl minrep run -n shop

    Flags can also be set by environment: --min is MINREP_MIN, and so on.
    ");
}

#[test]
fn help_of_run() {
    assert_snapshot!(text("run -h"), @r"
    Watch Deployments and raise them until stopped

    Usage: kubectl minrep run [OPTIONS]

    Options:
      -A, --all-namespaces[=<BOOL>]
              Act in every namespace but the excluded ones
      -l, --selector <SELECTOR>
              Only opted-in Deployments that also match this label selector
          --min <N>
              The number of replicas below which a Deployment is raised [default: 2]
          --max-min <N>
              The highest minimum that a Deployment may ask for itself, by the annotation minrep.dev/min [default: 100]
          --opt-in-label <KEY=VALUE>
              The label by which a Deployment opts in [default: demo/min-replicas=true]
          --zero <raise|keep>
              What to do with a Deployment that was scaled to 0 [default: raise]
          --hpa <skip|raise-min|ignore>
              What to do with a Deployment that a HorizontalPodAutoscaler or a ScaledObject targets; raise-min raises the HorizontalPodAutoscaler's minReplicas instead [default: skip]
          --exclude-namespace <NAME>
              Leave this namespace out, beside kube-system, kube-public and kube-node-lease; an empty value clears the list, an explicit -n overrides it
          --workers <N>
              How many Deployments to work on at the same time [default: 2]
          --dry-run[=<none|client|server>]
              client: only say what would be changed; server: have the server check each change too; none: change [default: none]
          --max-raises-per-minute <N>
              How many Deployments to raise in any 60 seconds; the rest wait for their turn. 0 is no limit [default: 100]
          --retry-base <DURATION>
              How long to wait before trying a Deployment again that failed; each further failure doubles it [default: 500ms]
          --retry-max <DURATION>
              The longest wait between two tries, however often a Deployment failed [default: 15m]
          --resync <DURATION>
              How often to look at every Deployment again without being told of a change; 0 turns this off [default: 30s]
          --shutdown-grace-period <DURATION>
              How long to go on with what is in line after SIGTERM or Ctrl-C; a second signal ends at once [default: 25s]
      -h, --help
              Print help

    Kubernetes options:
          --kubeconfig <FILE>           Path to the kubeconfig file
          --context <NAME>              The context of the kubeconfig to use
      -n, --namespace <NAME>            The namespace to act in; the context's, unless given
          --request-timeout <DURATION>  How long to wait for one answer of the server, such as 5s or 1m; 0 waits for ever [default: 30s]
      -v, --v <LEVEL>                   How much to log, 0 to 9: 2 adds progress, 4 decisions, 6 requests
          --log-format <text|json>      The form of what is said on stderr; json is one object a line [default: text]

    Examples:
      # Keep the current namespace at the minimum until Ctrl-C
      kubectl minrep run

      # Watch every namespace and say what would be raised
      kubectl minrep run -A --dry-run=client
    ");
}

#[test]
fn help_of_reconcile() {
    assert_snapshot!(text("reconcile -h"), @r"
    Compare Deployments with the minimum and act on the difference

    Usage: kubectl minrep reconcile [OPTIONS] <COMMAND>

    Commands:
      once  Look at every opted-in Deployment once, raise what is below the minimum, and exit

    Options:
      -h, --help  Print help

    Kubernetes options:
          --kubeconfig <FILE>           Path to the kubeconfig file
          --context <NAME>              The context of the kubeconfig to use
      -n, --namespace <NAME>            The namespace to act in; the context's, unless given
          --request-timeout <DURATION>  How long to wait for one answer of the server, such as 5s or 1m; 0 waits for ever [default: 30s]
      -v, --v <LEVEL>                   How much to log, 0 to 9: 2 adds progress, 4 decisions, 6 requests
          --log-format <text|json>      The form of what is said on stderr; json is one object a line [default: text]
    ");
}

#[test]
fn help_of_reconcile_once() {
    assert_snapshot!(text("reconcile once -h"), @r"
    Look at every opted-in Deployment once, raise what is below the minimum, and exit

    Usage: kubectl minrep reconcile once [OPTIONS] [deployment/NAME]...

    Arguments:
      [deployment/NAME]...  Deployments to look at; every opted-in one, unless given

    Options:
      -A, --all-namespaces[=<BOOL>]
              Act in every namespace but the excluded ones
      -l, --selector <SELECTOR>
              Only opted-in Deployments that also match this label selector
          --min <N>
              The number of replicas below which a Deployment is raised [default: 2]
          --max-min <N>
              The highest minimum that a Deployment may ask for itself, by the annotation minrep.dev/min [default: 100]
          --opt-in-label <KEY=VALUE>
              The label by which a Deployment opts in [default: demo/min-replicas=true]
          --zero <raise|keep>
              What to do with a Deployment that was scaled to 0 [default: raise]
          --hpa <skip|raise-min|ignore>
              What to do with a Deployment that a HorizontalPodAutoscaler or a ScaledObject targets; raise-min raises the HorizontalPodAutoscaler's minReplicas instead [default: skip]
          --exclude-namespace <NAME>
              Leave this namespace out, beside kube-system, kube-public and kube-node-lease; an empty value clears the list, an explicit -n overrides it
          --workers <N>
              How many Deployments to work on at the same time [default: 2]
          --dry-run[=<none|client|server>]
              client: only say what would be changed; server: have the server check each change too; none: change [default: none]
          --max-changes <N>
              If more Deployments than this would be changed, change none and exit with 1; no limit, unless given
          --timeout <DURATION>
              How long everything may take, such as 90s or 5m: then nothing more is sent, what was sent is awaited, and the exit code is 9; 0 is no limit
      -o, --output <table|wide|name|json|yaml>
              The form of the report on stdout [default: table]
      -h, --help
              Print help

    Kubernetes options:
          --kubeconfig <FILE>           Path to the kubeconfig file
          --context <NAME>              The context of the kubeconfig to use
      -n, --namespace <NAME>            The namespace to act in; the context's, unless given
          --request-timeout <DURATION>  How long to wait for one answer of the server, such as 5s or 1m; 0 waits for ever [default: 30s]
      -v, --v <LEVEL>                   How much to log, 0 to 9: 2 adds progress, 4 decisions, 6 requests
          --log-format <text|json>      The form of what is said on stderr; json is one object a line [default: text]

    Examples:
      # Raise what is below the minimum in the current namespace
      kubectl minrep reconcile once

      # Look at two Deployments only
      kubectl minrep reconcile once deployment/web deployment/api -n shop

      # Have the server check every change, and make none
      kubectl minrep reconcile once -A --dry-run=server

      # Raise with 16 requests at a time, for at most 5 minutes
      kubectl minrep reconcile once -A --workers 16 --timeout 5m

    Exit codes: 0 done, 1 more than --max-changes, 2 usage, 3 configuration, 4 server not reached, 5 denied,
    6 not found, 7 some Deployments failed, 9 timeout, 70 bug, 130 and 143 interrupted.
    ");
}

#[test]
fn help_of_version() {
    assert_snapshot!(text("version -h"), @r"
    Print the version of this program and the Kubernetes versions it supports

    Usage: kubectl minrep version [OPTIONS]

    Options:
      -o, --output <table|json|yaml>  The form of the answer on stdout
      -h, --help                      Print help

    Kubernetes options:
          --kubeconfig <FILE>           Path to the kubeconfig file
          --context <NAME>              The context of the kubeconfig to use
      -n, --namespace <NAME>            The namespace to act in; the context's, unless given
          --request-timeout <DURATION>  How long to wait for one answer of the server, such as 5s or 1m; 0 waits for ever [default: 30s]
      -v, --v <LEVEL>                   How much to log, 0 to 9: 2 adds progress, 4 decisions, 6 requests
          --log-format <text|json>      The form of what is said on stderr; json is one object a line [default: text]
    ");
}

#[test]
fn short_and_long_help_are_the_same() {
    for command in ["", "run", "reconcile", "reconcile once", "version"] {
        assert_eq!(
            text(&format!("{command} -h")),
            text(&format!("{command} --help"))
        );
    }
}

#[test]
fn a_mistake_points_at_the_help_of_its_command() {
    assert_snapshot!(text("runn"), @r"
    error: unrecognized subcommand 'runn'

      tip: a similar subcommand exists: 'run'

    Usage: kubectl minrep [OPTIONS] <COMMAND>

    See 'kubectl minrep -h' for help and examples.
    ");
    assert_snapshot!(text("run --minn 3"), @r"
    error: unexpected argument '--minn' found

      tip: a similar argument exists: '--min'

    Usage: kubectl minrep run --min <N>

    See 'kubectl minrep run -h' for help and examples.
    ");
    assert_snapshot!(text("run --min 0"), @r"
    error: invalid value '0' for '--min <N>': must be a whole number from 1 to 2147483647

    See 'kubectl minrep run -h' for help and examples.
    ");
    assert_snapshot!(text("run --min"), @r"
    error: a value is required for '--min <N>' but none was supplied

    See 'kubectl minrep run -h' for help and examples.
    ");
    assert_snapshot!(text("reconcile once -o toml"), @r#"
    error: invalid value 'toml' for '--output <table|wide|name|json|yaml>': unable to match a printer suitable for the output format "toml", allowed formats are: json,name,table,wide,yaml

    See 'kubectl minrep reconcile once -h' for help and examples.
    "#);
    assert_snapshot!(text("run --resync 30"), @r"
    error: invalid value '30' for '--resync <DURATION>': missing a unit: expected one of 'ns', 'us', 'µs', 'ms', 's', 'm', or 'h'

    See 'kubectl minrep run -h' for help and examples.
    ");
    assert_snapshot!(text("run --zero=lower"), @r"
    error: invalid value 'lower' for '--zero <raise|keep>'
      [possible values: raise, keep]

    See 'kubectl minrep run -h' for help and examples.
    ");
    assert_snapshot!(text("run -A=perhaps"), @r"
    error: invalid value 'perhaps' for '--all-namespaces[=<BOOL>]': must be true or false

    See 'kubectl minrep run -h' for help and examples.
    ");
}

#[test]
fn dry_run_reads_as_kubectls() {
    assert_snapshot!(text("run --dry-run=maybe"), @r#"
    error: invalid value 'maybe' for '--dry-run[=<none|client|server>]': Invalid dry-run value (maybe). Must be "none", "server", or "client".

    See 'kubectl minrep run -h' for help and examples.
    "#);
    // As with kubectl the value stands after `=`, or it is an argument of its own.
    assert_snapshot!(text("reconcile once --dry-run client"), @r"
    error: the value of --dry-run stands after an equals sign: --dry-run=client

    See 'kubectl minrep reconcile once -h' for help and examples.
    ");
}

#[test]
fn a_value_that_begins_with_a_dash_is_refused_as_a_value() {
    assert_snapshot!(text("run --min -1"), @r"
    error: invalid value '-1' for '--min <N>': must be a whole number from 1 to 2147483647

    See 'kubectl minrep run -h' for help and examples.
    ");
    assert_snapshot!(text("reconcile once --request-timeout -1s"), @r"
    error: invalid value '-1s' for '--request-timeout <DURATION>': a duration cannot be negative (such as 300ms, 30s or 1h5m)

    See 'kubectl minrep reconcile once -h' for help and examples.
    ");
    for words in [
        "run --resync -1s",
        "run --shutdown-grace-period -1s",
        "run --retry-base -1s",
        "run --retry-max -1s",
        "run --workers -1",
        "run -v -1",
    ] {
        assert!(text(words).contains("error: invalid value '-1"), "{words}");
    }
}

#[test]
fn an_unknown_flag_gets_no_advice_that_leads_to_the_next_mistake() {
    assert_snapshot!(text("reconcile once --bogus"), @r"
    error: unexpected argument '--bogus' found

    Usage: kubectl minrep reconcile once [OPTIONS] [deployment/NAME]...

    See 'kubectl minrep reconcile once -h' for help and examples.
    ");
}
