use std::ffi::OsString;
use std::time::Duration;

use insta::assert_snapshot;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn parsed(words: &str) -> Result<(GlobalArgs, Command), String> {
    let argv = std::iter::once("kubectl-minrep")
        .chain(words.split_whitespace())
        .map(OsString::from);
    crate::cli::parse(&argv.collect::<Vec<_>>()).map_err(|error| error.text)
}

fn once(words: &str) -> Once {
    match parsed(&format!("reconcile once {words}")) {
        Ok((_, Command::Once(once))) => once,
        other => panic!("{words}: {other:?}"),
    }
}

fn run(words: &str) -> Run {
    match parsed(&format!("run {words}")) {
        Ok((_, Command::Run(run))) => run,
        other => panic!("{words}: {other:?}"),
    }
}

fn refused(words: &str) -> String {
    parsed(words).expect_err("a mistake")
}

#[test]
fn defaults_are_the_documented_ones() {
    let run = run("");
    assert_eq!(run.resync, Some(Duration::from_secs(30)));
    assert_eq!(run.shutdown_grace_period, Duration::from_secs(25));
    assert_eq!(run.retry.base(), Duration::from_millis(500));
    assert_eq!(run.retry.max(), Duration::from_secs(900));
    assert_eq!(run.rule.workers, 2);
    assert_eq!(run.max_raises_per_minute, NonZeroU32::new(100));
    assert_eq!(run.rule.settings.max_min, 100);
    assert_eq!(run.rule.settings.hpa, HpaPolicy::Skip);
    assert_eq!(once("").max_changes, None);
    assert!(!run.rule.all_namespaces);
    let (global, _) = parsed("run").unwrap();
    assert_eq!(global.deadline(), Some(Duration::from_secs(30)));
    assert_eq!(global.verbosity, 0);
}

#[test]
fn zero_turns_a_duration_off() {
    assert_eq!(run("--resync=0").resync, None);
    let (global, _) = parsed("run --request-timeout 0").unwrap();
    assert_eq!(global.deadline(), None);
    let (global, _) = parsed("run --request-timeout=5").unwrap();
    assert_eq!(global.deadline(), Some(Duration::from_secs(5)));
}

#[test]
fn limits_are_read_and_zero_is_none_or_nothing() {
    assert_eq!(run("--max-raises-per-minute=0").max_raises_per_minute, None);
    assert_eq!(
        run("--max-raises-per-minute=7").max_raises_per_minute,
        NonZeroU32::new(7)
    );
    assert_eq!(once("--max-changes=0").max_changes, Some(0));
    assert_eq!(once("--max-min=7").rule.settings.max_min, 7);
    assert_eq!(
        once("--hpa=raise-min").rule.settings.hpa,
        HpaPolicy::RaiseMin
    );
}

#[test]
fn retries_that_never_pause_or_shrink_are_refused() {
    let retry = run("--retry-base=2s --retry-max=2s").retry;
    assert_eq!((retry.base(), retry.max()), (2 * SECOND, 2 * SECOND));
    assert_snapshot!(refused("run --retry-base=5s --retry-max=1s"), @r"
    error: --retry-max (1s) cannot be below --retry-base (5s): the waits between two tries grow from the one to the other

    See 'kubectl minrep run -h' for help and examples.
    ");
    // Only one was typed, and it does not go with the other's default.
    assert_snapshot!(refused("run --retry-max=100ms"), @r"
    error: --retry-max (100ms) cannot be below --retry-base (500ms): the waits between two tries grow from the one to the other

    See 'kubectl minrep run -h' for help and examples.
    ");
    assert_snapshot!(refused("run --retry-base=1us --retry-max=1us"), @r"
    error: --retry-base (1µs) is no pause: what fails would be tried again and again at once; give 1ms or more

    See 'kubectl minrep run -h' for help and examples.
    ");
    // Beside another mistake.
    assert_snapshot!(refused("run --retry-base=0 --opt-in-label=x"), @r#"
    error: invalid --opt-in-label: expected KEY=VALUE, got "x"
    error: --retry-base (0ns) is no pause: what fails would be tried again and again at once; give 1ms or more

    See 'kubectl minrep run -h' for help and examples.
    "#);
}

/// What would turn a guard into none.
#[test]
fn numbers_that_make_no_sense_are_refused() {
    for words in [
        "run --min 0",
        "run --min -1",
        "run --min 2147483648",
        "run --min 3.0",
        "run --max-min 0",
        "run --max-min 2147483648",
        "run --max-raises-per-minute -1",
        "run --max-raises-per-minute many",
        "run --max-changes 3",
        "run --retry-base soon",
        "run --retry-max 15",
        "reconcile once --retry-max 15m",
        "reconcile once --max-changes -1",
        "reconcile once --max-changes 1.5",
        "reconcile once --max-raises-per-minute 3",
        "run --hpa=raise",
        "run --opt-in-label=true",
        "run --opt-in-label=a=b,c=d",
        "run --opt-in-label=-x=y",
    ] {
        let argv = std::iter::once("kubectl-minrep").chain(words.split_whitespace());
        let argv: Vec<_> = argv.map(OsString::from).collect();
        let error = crate::cli::parse(&argv).expect_err(words);
        assert_eq!(error.exit, Exit::Usage, "{words}");
    }
}

#[test]
fn switches_take_a_value_after_the_equals_sign() {
    assert!(once("-A").rule.all_namespaces);
    assert!(once("-A=true").rule.all_namespaces);
    assert!(once("--all-namespaces=1").rule.all_namespaces);
    assert!(!once("-A=false").rule.all_namespaces);
    assert_eq!(once("-A deployment/web -A=false").names, ["web"]);
}

#[test]
fn excluded_namespaces_add_up_and_an_empty_value_clears() {
    let excluded = |words: &str| -> Vec<String> {
        let excluded = once(words).rule.settings.excluded_namespaces;
        excluded.into_iter().collect()
    };
    assert_eq!(
        excluded("-A"),
        ["kube-node-lease", "kube-public", "kube-system"]
    );
    assert_eq!(
        excluded("-A --exclude-namespace=shop,pay --exclude-namespace batch"),
        [
            "batch",
            "kube-node-lease",
            "kube-public",
            "kube-system",
            "pay",
            "shop"
        ]
    );
    assert_eq!(excluded("-A --exclude-namespace="), [""; 0]);
    assert_eq!(
        excluded("-A --exclude-namespace= --exclude-namespace=shop"),
        ["shop"]
    );
    assert_eq!(
        excluded("-n kube-system"),
        [""; 0],
        "a namespace that is named is not left out"
    );
    assert_eq!(excluded("-A -n kube-system").len(), 3, "-A wins over -n");
}

#[test]
fn a_bare_dry_run_is_a_client_dry_run_with_a_note() {
    let rule = once("--dry-run deployment/web").rule;
    assert_eq!(rule.settings.dry_run, DryRun::Client);
    assert_snapshot!(rule.notes.join("\n"), @"Warning: --dry-run without a value means --dry-run=client");
}

#[test]
fn flags_that_do_not_go_together_are_reported_at_once() {
    assert_snapshot!(refused("reconcile once -A -l app=web deployment/web"), @r"
    error: --all-namespaces (-A) cannot be combined with the argument deployment/web
    error: --selector (-l) cannot be combined with the argument deployment/web

    See 'kubectl minrep reconcile once -h' for help and examples.
    ");
    assert_snapshot!(refused("reconcile once --opt-in-label x web"), @r#"
    error: invalid --opt-in-label: expected KEY=VALUE, got "x"
    error: web is not of the form deployment/NAME; did you mean deployment/web?

    See 'kubectl minrep reconcile once -h' for help and examples.
    "#);
    assert_snapshot!(refused("run --opt-in-label =true"), @r#"
    error: invalid --opt-in-label: expected KEY=VALUE, got "=true"

    See 'kubectl minrep run -h' for help and examples.
    "#);
}

#[test]
fn a_bad_selector_is_shown_where_it_is_wrong() {
    let argv = ["kubectl-minrep", "run", "-l", "app in (a,b"].map(OsString::from);
    let error = crate::cli::parse(&argv).unwrap_err();
    assert_eq!(error.exit, Exit::Usage);
    assert_snapshot!(error.text, @r#"
    error: invalid label selector "app in (a,b": expected ')' at column 12
             app in (a,b
                        ^

    See 'kubectl minrep run -h' for help and examples.
    "#);
}

#[test]
fn global_flags_stand_before_or_after_the_command() {
    for words in [
        "-n shop reconcile once",
        "reconcile -n shop once",
        "reconcile once -n shop",
    ] {
        let (global, _) = parsed(words).unwrap();
        assert_eq!(global.explicit_namespace(), Some("shop"), "{words}");
    }
    let (global, _) = parsed("run -n= -v9").unwrap();
    assert_eq!(global.explicit_namespace(), None);
    assert_eq!(global.verbosity, 9);
}

#[test]
fn a_slip_in_an_excluded_namespace_is_a_mistake() {
    assert_snapshot!(refused("run -A --exclude-namespace=shop,Kube_System"), @r#"
    error: invalid --exclude-namespace: "Kube_System" is no namespace: must be at most 63 lower-case letters, digits or '-', and begin and end with a letter or digit

    See 'kubectl minrep run -h' for help and examples.
    "#);
    assert!(refused("reconcile once -n shop --exclude-namespace=a/b").contains("\"a/b\""));
}
