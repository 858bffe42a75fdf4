//! Whole runs and passes over many Deployments, on a paused clock.

use std::sync::Arc;

use captured_log::CapturedLog;
use controller_core::client::{ClientOptions, Scope, layered};
use controller_core::controllers::min_replicas::{
    DecisionLog, Effect, Metrics, Reason, Reporter, Settings,
};
use controller_core::runtime::{
    OnceOptions, OnceReport, RetryDelays, RunOptions, Targets, once, run,
};
use serde_json::json;
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::time::{Duration, Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Level;

use crate::bed::{Reports, deployment};

const SECOND: Duration = Duration::from_secs(1);

/// A server with this many opted-in Deployments at 1 replica.
async fn server_with(deployments: usize) -> SimApiServer {
    let server = SimApiServer::builder().start().await.unwrap();
    server.seed(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"},
    }));
    server.seed_all((0..deployments).map(|number| deployment(&format!("web-{number}"), |_| ())));
    server
}

fn client(server: &SimApiServer) -> kube::Client {
    layered(server.service(), &ClientOptions::new("test"))
}

fn all_at_two(server: &SimApiServer) -> bool {
    let deployments = server.objects("deployments");
    deployments
        .iter()
        .all(|deployment| deployment["spec"]["replicas"] == 2)
}

async fn one_pass(server: &SimApiServer) -> OnceReport {
    let options = OnceOptions {
        settings: Settings::default(),
        targets: Targets::OptedIn(Scope::Namespace("shop".into())),
        workers: 8,
        max_changes: None,
        timeout: None,
        write_deadline: 5 * SECOND,
        progress: Default::default(),
    };
    let reporter: Arc<dyn Reporter> = Arc::new(Reports::default());
    let interrupt = CancellationToken::new();
    once(client(server), options, reporter, interrupt)
        .await
        .unwrap()
}

/// C-22: two passes at the same moment do the work once, and neither fails.
#[tokio::test(start_paused = true)]
async fn two_passes_at_once_raise_each_deployment_once() {
    let server = server_with(50).await;
    let delay = Action::DelayAnswer(Duration::from_millis(50));
    server.faults().add(Rule::new(delay).verb(Verb::Patch));
    let (one, two) = futures::join!(one_pass(&server), one_pass(&server));
    assert!(all_at_two(&server));
    let applied = server.requests_where(|request| {
        request.verb() == Verb::Patch && request.status.is_some_and(|it| it.is_success())
    });
    assert_eq!(applied.len(), 50);
    let verdicts: Vec<_> = one.verdicts.into_iter().chain(two.verdicts).collect();
    assert_eq!(verdicts.len(), 100);
    let raised = verdicts
        .iter()
        .filter(|verdict| matches!(verdict.effect, Effect::Raised { .. }));
    let satisfied = verdicts
        .iter()
        .filter(|verdict| matches!(verdict.reason, Reason::Satisfied { .. }));
    assert_eq!((raised.count(), satisfied.count()), (50, 50));
}

/// C-28: every write fails for 20 s, with 200 Deployments waiting. With retries after 500 ms
/// to 15 min each is tried at 0, 0.5, 1.5, 3.5, 7.5 and 15.5 s, and again within 25 s of the
/// recovery, whatever chance adds to that.
#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_all_writes_for_a_while_is_got_over() {
    let server = server_with(200).await;
    let refusal = Action::status(500).message("etcdserver: mvcc: database space exceeded");
    let rule = Rule::new(refusal)
        .verb(Verb::Patch)
        .window(Duration::ZERO..20 * SECOND);
    server.faults().add(rule);
    // For the whole thread: the workers are tasks of their own.
    let (log, _guard) = CapturedLog::start(Level::INFO);
    let stop = CancellationToken::new();
    let options = RunOptions {
        settings: Settings::default(),
        scope: Scope::Namespace("shop".into()),
        workers: 2,
        max_raises_per_minute: None,
        metrics: Metrics::default(),
        events: None,
        event_metrics: Default::default(),
        retry: RetryDelays::default(),
        resync: Some(30 * SECOND),
        shutdown_grace_period: 5 * SECOND,
        write_deadline: 5 * SECOND,
        reconcile_deadline: Some(10 * SECOND),
        worker_metrics: Default::default(),
        queue_metrics: Default::default(),
    };
    let decisions: Arc<dyn Reporter> = Arc::new(DecisionLog::default());
    let start = Instant::now();
    let running = run(client(&server), options, decisions, stop.clone());
    let watching = async {
        tokio::time::sleep_until(start + 20 * SECOND).await;
        let failing = log.text();
        let recovered = server.wait_for(all_at_two);
        timeout(25 * SECOND, recovered).await.unwrap();
        stop.cancel();
        failing
    };
    let (summary, failing) = futures::join!(running, watching);
    assert_eq!(summary.unwrap().abandoned, 0);
    let filters = [
        ("reconcileID=[0-9a-f-]{36}", "reconcileID=ID"),
        ("attempt=[0-9]+ ", ""),
        (r"queued_for=[0-9.]+[µmn]?s ", ""),
        // Which one comes first after the pause, chance decides.
        (r"key=shop/web-\d+", "key=shop/web-N"),
        // In no particular order.
        (r" INFO (listing|watching) resource=.*\n", ""),
    ];
    insta::with_settings!({filters => filters}, {
    insta::assert_snapshot!(failing, @r#"
     INFO caches synced deployments=200 autoscalers=0
     WARN reconcile{queue="min-replicas" key=shop/web-N reconcileID=ID}: deployment.apps/web-0 could not be raised from 1 to 2: etcdserver: mvcc: database space exceeded namespace="shop" reason="Raise"
     WARN reconcile{queue="min-replicas" key=shop/web-N reconcileID=ID}: 199 more Deployments failed the same way: etcdserver: mvcc: database space exceeded failing=200
    "#);
    });
    for number in 0..200 {
        let name = format!("web-{number}");
        let tries = server.requests_where(|request| {
            request.verb() == Verb::Patch && request.info.name.as_deref() == Some(&name)
        });
        assert_eq!(tries.len(), 6 + 1, "{name}");
    }
}
