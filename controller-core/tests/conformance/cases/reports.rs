use std::time::Duration;

use captured_log::CapturedLog;
use http::HeaderValue;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;
use sim_apiserver::faults::{Action, Rule, Verb};
use tokio::runtime::Builder;
use tokio::time::Instant;
use tracing::Level;

use super::controller::{Controller, about_deployments, deployment, pass};
use crate::server::Server;
use crate::time::simulated;

fn change(server: &Server, name: &str, change: impl FnOnce(&mut Value)) {
    assert!(server.sim().mutate("deployments", "shop", name, change));
}

/// C-05: what the controller makes of the cuts of a balancer: one list, no line in the log, and
/// a Deployment that falls below its minimum between two watches is raised with the second.
#[test]
fn a_controller_behind_a_balancer_raises_as_quickly_as_any() {
    for streams in [true, false] {
        simulated(async {
            let (log, _guard) = CapturedLog::start(Level::INFO);
            let builder = SimApiServer::builder().streaming_lists(streams);
            let server = Server::of(builder).await;
            server.sim().seed(deployment(&server, "web", 2));
            let watch = |action: Action| {
                let rule = Rule::new(action).verb(Verb::Watch).resource("deployments");
                // One that is refused is none.
                if streams {
                    rule
                } else {
                    rule.without("sendInitialEvents")
                }
            };
            let cut = || Action::cut_after(Duration::from_secs(5)).with_reset();
            let between = Action::Delay(Duration::from_secs(1));
            server.faults().add(watch(between).then(cut()).attempts(11));
            server.faults().add(watch(cut().into()));
            let controller = Controller::start(&server);
            controller
                .says("shop/web already satisfies the minimum of 2 (2 replicas)")
                .await;
            log.take();
            let extra = usize::from(!streams);
            server
                .sim()
                .wait_for(|_| about_deployments(&server, Verb::Watch).len() >= 11 + extra)
                .await;
            change(&server, "web", |it| it["spec"]["replicas"] = json!(1));
            let lowered = Instant::now();
            controller.says("shop/web scaled from 1 to 2").await;
            let raised = lowered.elapsed();
            assert!(raised < Duration::from_secs(3), "{raised:?}");
            server
                .sim()
                .wait_for(|_| about_deployments(&server, Verb::Watch).len() >= 20 + extra)
                .await;
            let watches = about_deployments(&server, Verb::Watch);
            for pair in watches[extra..].windows(2) {
                assert!(pair[1].at - pair[0].at < Duration::from_secs(7));
            }
            let lists = about_deployments(&server, Verb::List).len();
            assert_eq!(lists, extra, "beside a streamed one");
            let text = log.text();
            let of_cuts = text.lines().filter(|line| !line.contains("shop/web"));
            assert_eq!(of_cuts.collect::<Vec<_>>(), Vec::<&str>::new());
            controller.stop().await;
            server.stop().await;
        });
    }
}

/// C-25: a change of 1.4 MB that comes in pieces of a thousand bytes, some of which end within
/// a character, and another one right behind it: both are read, by one watch.
#[test]
fn a_large_change_in_small_pieces_keeps_no_other_waiting() {
    // Time that jumps would stop at each of the pieces.
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::start().await;
        for name in ["big", "web"] {
            server.sim().seed(deployment(&server, name, 2));
        }
        let slow = Rule::new(Action::slow(1000, Duration::from_millis(1)));
        let slow = slow.verb(Verb::Watch).resource("deployments");
        server.faults().add(slow);
        let controller = Controller::start(&server);
        for name in ["big", "web"] {
            let verdict = format!("shop/{name} already satisfies the minimum of 2 (2 replicas)");
            controller.says(&verdict).await;
        }
        change(&server, "big", |it| {
            it["metadata"]["annotations"] = json!({"text": "あ".repeat(450_000)});
            it["spec"]["replicas"] = json!(3);
        });
        change(&server, "web", |it| it["spec"]["replicas"] = json!(1));
        let start = Instant::now();
        controller
            .says("shop/big already satisfies the minimum of 2 (3 replicas)")
            .await;
        let sent = start.elapsed();
        assert!(sent > Duration::from_millis(1350), "{sent:?} for 1.35 MB");
        controller.says("shop/web scaled from 1 to 2").await;
        let after = start.elapsed() - sent;
        assert!(after < Duration::from_secs(2), "{after:?}");
        assert_eq!(about_deployments(&server, Verb::Watch).len(), 1);
        assert!(about_deployments(&server, Verb::List).is_empty());
        controller.stop().await;
        server.stop().await;
    });
}

/// C-35: the second page has expired, and the answer offers a fresh token. Going on with it
/// would make `c` appear twice, once as it was: a list in one piece decides.
#[test]
fn a_page_that_expired_counts_no_object_twice() {
    simulated(async {
        let server = Server::start().await;
        let sim = server.sim();
        let page_one: Vec<_> = [("a", 1), ("b", 2), ("c", 1)]
            .into_iter()
            .map(|(name, replicas)| sim.seed(deployment(&server, name, replicas)))
            .collect();
        change(&server, "c", |it| it["spec"]["replicas"] = json!(2));
        sim.seed(deployment(&server, "e", 1));
        let list = |items: &[Value], next: &str| {
            let version = sim.revision().to_string();
            let list = json!({
                "kind": "DeploymentList", "apiVersion": "apps/v1",
                "metadata": {"resourceVersion": version, "continue": next}, "items": items,
            });
            let json = HeaderValue::from_static("application/json");
            Action::status(200).body(json, list.to_string())
        };
        let expired = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {"continue": "T2"},
            "status": "Failure", "reason": "Expired", "code": 410,
            "message": "The provided continue parameter is too old to display a consistent list result.",
        });
        let json = HeaderValue::from_static("application/json");
        let expired = Action::status(410).body(json, expired.to_string());
        let now = ["e", "a", "c", "b"].map(|name| sim.object("deployments", "shop", name).unwrap());
        let about = |rule: Rule| rule.verb(Verb::List).resource("deployments");
        let faults = server.faults();
        faults.add(about(Rule::new(expired)).query("continue", "T1"));
        let rest = list(&now[1..2], "");
        faults.add(about(Rule::new(rest)).query("continue", "T2"));
        faults.add(about(Rule::new(list(&page_one, "T1"))).attempts(1));
        faults.add(about(Rule::new(list(&now, ""))));

        let report = pass(&server).await;
        let verdicts = report.verdicts.iter();
        let words: Vec<_> = verdicts.map(|it| format!("{} {it}", it.key)).collect();
        assert_eq!(
            words,
            [
                "shop/a scaled from 1 to 2",
                "shop/b already satisfies the minimum of 2 (2 replicas)",
                "shop/c already satisfies the minimum of 2 (2 replicas)",
                "shop/e scaled from 1 to 2",
            ]
        );
        let patches = about_deployments(&server, Verb::Patch);
        let mut patched: Vec<_> = patches.iter().map(|it| it.info.name.as_deref()).collect();
        patched.sort_unstable();
        assert_eq!(patched, [Some("a"), Some("e")]);
        let lists = about_deployments(&server, Verb::List);
        let next: Vec<_> = lists.iter().map(|it| it.info.query("continue")).collect();
        assert_eq!(next, [None, Some("T1"), None]);
        server.stop().await;
    });
}
