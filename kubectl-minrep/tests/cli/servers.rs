//! Servers that are not there, or cannot be believed.

use std::fs;

use http::HeaderValue;
use insta::assert_snapshot;
use sim_apiserver::faults::{Action, Rule, Verb};
use sim_apiserver::{SimApiServer, Tls};
use tokio::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::process::{Ended, Minrep};

const ONCE: [&str; 4] = ["reconcile", "once", "-n", "shop"];
const RUN: [&str; 3] = ["run", "-n", "shop"];

async fn over_tls(tls: Tls) -> (Cluster, Ended) {
    let cluster = Cluster::start(SimApiServer::builder().tls(tls)).await;
    cluster.deployment("shop", "web", 1);
    let ended = cluster.minrep(&ONCE).end().await;
    (cluster, ended)
}

#[tokio::test]
async fn a_good_certificate_is_believed() {
    let (cluster, ended) = over_tls(Tls::generated().unwrap()).await;
    ended.with_code(0);
    assert_eq!(cluster.replicas("shop", "web"), 2);
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority() {
    let (cluster, ended) = over_tls(Tls::unknown_issuer().unwrap()).await;
    assert_snapshot!(ended.with_code(4).talk(), @r#"
    error: cannot verify the certificate of https://127.0.0.1:PORT: issued by an unknown authority

    hint: the certificate-authority of cluster "sim" did not issue it: if the cluster was made anew, fetch its kubeconfig again
    hint: `kubectl config set-cluster sim --certificate-authority=FILE` (safe) or `kubectl config set-cluster sim --insecure-skip-tls-verify` (not safe)
    "#);
    assert_eq!(cluster.server.requests().len(), 0);
}

#[tokio::test]
async fn a_certificate_for_another_name() {
    let (cluster, ended) = over_tls(Tls::wrong_name().unwrap()).await;
    assert_snapshot!(ended.with_code(4).talk(), @r"
    error: cannot verify the certificate of https://127.0.0.1:PORT: it is not valid for 127.0.0.1, only for wrong.example.com

    hint: if it is the right server: `kubectl config set-cluster sim --tls-server-name=wrong.example.com`
    ");
    assert_eq!(cluster.server.requests().len(), 0);
}

#[tokio::test]
async fn a_certificate_that_has_expired() {
    let (cluster, ended) = over_tls(Tls::expired().unwrap()).await;
    assert_snapshot!(ended.with_code(4).talk(), @r"
    error: cannot verify the certificate of https://127.0.0.1:PORT: it expired at 2001-01-01T00:00:00Z

    hint: the server needs a new certificate, unless the clock here is wrong (`date -u`)
    ");
    assert_eq!(cluster.server.requests().len(), 0);
}

#[tokio::test]
async fn a_server_that_is_down_ends_both_commands() {
    let cluster = Cluster::with_web().await;
    cluster.server.shutdown().await;
    let ended = cluster.minrep(&ONCE).end().await.with_code(4);
    assert_snapshot!(ended.talk(), @r#"
    error: the connection to the server 127.0.0.1:PORT was refused - did you specify the right host or port?

    hint: context "sim" → cluster "sim". If this is kind or minikube, is it running? (`docker ps`)
    "#);
    let ended = cluster.minrep(&RUN).end().await.with_code(4);
    assert_snapshot!(ended.talk(), @r#"
    Using context "sim", server http://127.0.0.1:PORT, namespace "shop"
    Keeping Deployments with demo/min-replicas=true at a minimum of 2 replicas
    error: the connection to the server 127.0.0.1:PORT was refused - did you specify the right host or port?

    hint: context "sim" → cluster "sim". If this is kind or minikube, is it running? (`docker ps`)
    "#);
}

#[tokio::test]
async fn a_host_that_nobody_knows() {
    let cluster = Cluster::with_web().await;
    let text = cluster
        .server
        .kubeconfig()
        .replace("127.0.0.1", "no-such-host.invalid");
    fs::write(cluster.kubeconfig(), text).expect("a file can be written");
    let ended = cluster.minrep(&ONCE).end().await.with_code(4);
    assert_snapshot!(ended.talk(), @r#"
    error: unable to connect to the server: lookup no-such-host.invalid: no such host

    hint: context "sim" → cluster "sim". Is the name right (`kubectl config view --minify`), and is a VPN needed?
    "#);
}

/// A login page in place of every list.
#[tokio::test]
async fn a_page_in_place_of_an_answer() {
    let cluster = Cluster::with_web().await;
    let page =
        Action::status(200).body(HeaderValue::from_static("text/html"), "<html>log in</html>");
    let lists = Rule::new(page).verb(Verb::List).resource("deployments");
    cluster.server.faults().add(lists);
    let ended = cluster.minrep(&ONCE).end().await.with_code(4);
    assert_snapshot!(ended.talk(), @r#"
    error: cannot read deployments.apps: the answer is text/html, which is not JSON

    hint: context "sim" → cluster "sim" at http://127.0.0.1:PORT: is that a Kubernetes API server?
    "#);
}

#[tokio::test]
async fn a_server_that_is_no_api_server() {
    let cluster = Cluster::with_web().await;
    let page =
        Action::status(404).body(HeaderValue::from_static("text/html"), "<html>nginx</html>");
    cluster.server.faults().add(Rule::new(page));
    let ended = cluster.minrep(&ONCE).end().await.with_code(6);
    assert_snapshot!(ended.talk(), @r#"
    error: the server doesn't have a resource type "deployments" in group "apps"

    hint: context "sim" → cluster "sim" has the address http://127.0.0.1:PORT: is that a Kubernetes API server?
    "#);
}

#[tokio::test]
async fn bad_credentials_end_both_commands() {
    let cluster = Cluster::start(SimApiServer::builder().require_token("right")).await;
    let text = cluster.server.kubeconfig().replace("right", "wrong");
    fs::write(cluster.kubeconfig(), text).expect("a file can be written");
    for command in [&ONCE[..], &RUN[..]] {
        let ended = cluster.minrep(command).end().await.with_code(5);
        assert!(
            ended
                .stderr
                .contains("error: You must be logged in to the server (Unauthorized)"),
            "{ended:?}"
        );
        assert!(
            ended.stderr.contains("`kubectl auth whoami --context sim`"),
            "{ended:?}"
        );
        assert!(!ended.stderr.contains("wrong"), "{ended:?}");
    }
}

/// C-26, second half.
#[tokio::test]
async fn a_list_that_hangs_ends_by_the_request_timeout() {
    let cluster = Cluster::with_web().await;
    let hang = Rule::new(Action::Hang)
        .verb(Verb::List)
        .resource("deployments");
    cluster.server.faults().add(hang);
    let started = Instant::now();
    let command = [&ONCE[..], &["--request-timeout=1s"]].concat();
    let ended = cluster.minrep(&command).end().await.with_code(9);
    assert!(started.elapsed() < Duration::from_secs(8));
    assert_snapshot!(ended.talk(), @r"
    error: timed out after 1s waiting for GET /apis/apps/v1/namespaces/shop/deployments

    hint: raise `--request-timeout`, or narrow with `-n` or `-l`
    ");
}

/// C-07, shortened.
#[tokio::test]
async fn a_server_that_warms_up_is_waited_for() {
    let cluster = Cluster::with_web().await;
    let busy = Action::status(429)
        .message("storage is (re)initializing")
        .retry_after(1);
    let rule = Rule::new(busy)
        .verb(Verb::List)
        .resource("deployments")
        .attempts(1..=3);
    cluster.server.faults().add(rule);
    let ended = cluster.minrep(&ONCE).end().await.with_code(0);
    let told = "waiting for the server: storage is (re)initializing";
    assert_eq!(ended.stderr.matches(told).count(), 1, "{ended:?}");
    assert_eq!(cluster.replicas("shop", "web"), 2);
    let lists = cluster
        .server
        .requests_where(|request| request.verb() == Verb::List && request.is_about("deployments"));
    assert_eq!(lists.len(), 4);
    for pair in lists.windows(2) {
        assert!(pair[1].at - pair[0].at >= Duration::from_millis(900));
    }
}

#[tokio::test]
async fn the_causes_are_shown_to_who_asks() {
    let cluster = Cluster::with_web().await;
    let text = cluster
        .server
        .kubeconfig()
        .replace("127.0.0.1", "no-such-host.invalid");
    fs::write(cluster.kubeconfig(), text).expect("a file can be written");
    let verbose =
        Minrep::new(&["reconcile", "once", "-v=2"]).env("KUBECONFIG", cluster.kubeconfig());
    let ended = verbose.end().await.with_code(4);
    assert!(ended.stderr.contains("\ncaused by: "), "{ended:?}");
}
