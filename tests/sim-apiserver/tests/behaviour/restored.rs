//! A server that is restored from its backup: the numbers start lower.

use std::time::Duration;

use faults::{Action, Past, Rule, Verb};
use http::StatusCode;
use serde_json::{Value, json};
use sim_apiserver::{RestoreError, SimApiServer};
use tokio::time::timeout;

use crate::client::{Client, DEPLOYMENTS, add_shop, deployment, shop};

fn scale(server: &SimApiServer, name: &str, replicas: i64) {
    assert!(server.mutate("deployments", "shop", name, |object| {
        object["spec"]["replicas"] = replicas.into();
    }));
}

/// `kept` and `gone` were there at the revision that is returned; since then `kept` got five replicas, `gone`
/// went and `young` came.
async fn lived_on() -> (SimApiServer, u64, [Value; 2]) {
    let server = shop().await;
    let before = ["gone", "kept"].map(|name| server.seed(deployment(name, 1)));
    let backup = server.revision();
    scale(&server, "kept", 5);
    server.remove("deployments", "shop", "gone");
    server.seed(deployment("young", 1));
    (server, backup, before)
}

#[tokio::test]
async fn everything_is_as_it_was_and_the_numbers_go_on_from_there() {
    let (server, backup, before) = lived_on().await;
    server.restore(backup).unwrap();
    assert_eq!(server.revision(), backup);
    assert_eq!(
        server.objects("deployments"),
        before,
        "with their old uids and versions"
    );
    assert_eq!(server.objects("namespaces").len(), 5);
    let again = server.seed(deployment("young", 1));
    assert_eq!(
        again["metadata"]["resourceVersion"],
        (backup + 1).to_string()
    );
    let client = Client::memory(&server);
    let list = client.get(DEPLOYMENTS).await.json();
    assert_eq!(
        list["metadata"]["resourceVersion"],
        (backup + 1).to_string()
    );
    let kept = client.get(&format!("{DEPLOYMENTS}/kept")).await.json();
    assert_eq!(kept["spec"]["replicas"], 1);
    server.shutdown().await;
}

#[tokio::test]
async fn open_watches_end_at_once() {
    let (server, backup, _) = lived_on().await;
    for client in Client::both(&server) {
        let now = format!(
            "{DEPLOYMENTS}?watch=1&resourceVersion={}",
            server.revision()
        );
        let mut waiting = client.watch(&now).await;
        let mut unread = Client::memory(&server)
            .watch(&format!("{DEPLOYMENTS}?watch=1"))
            .await;
        let mut other_kind = client.watch("/api/v1/pods?watch=1").await;
        let (watches, restored) = tokio::join!(
            async {
                let ends = [waiting.told().await, other_kind.told().await];
                (ends, unread.told().await)
            },
            async { server.restore(backup) },
        );
        restored.unwrap();
        assert_eq!(watches.0, ["end", "end"]);
        assert_eq!(
            watches.1, "end",
            "a client that had not read yet gets nothing of what is no longer true"
        );
        scale(&server, "kept", 2);
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn what_asks_for_a_version_of_before_is_too_far_ahead() {
    let (server, backup, _) = lived_on().await;
    let seen = server.revision();
    server.restore(backup).unwrap();
    let client = Client::memory(&server);
    let show = |text: &str| {
        text.replace(&seen.to_string(), "SEEN")
            .replace(&backup.to_string(), "BACKUP")
    };
    let list = client
        .get(&format!("{DEPLOYMENTS}?resourceVersion={seen}"))
        .await;
    insta::assert_snapshot!(show(&list.text), @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: SEEN, current: BACKUP","reason":"Timeout","details":{"causes":[{"message":"Too large resource version","reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1},"code":504}"#);
    let path = format!(
        "{DEPLOYMENTS}?watch=1&allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion={seen}"
    );
    let mut streamed = client.watch(&path).await;
    insta::assert_snapshot!(show(&streamed.line().await.unwrap()), @r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: SEEN, current: BACKUP","reason":"Timeout","details":{"causes":[{"message":"Too large resource version","reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1},"code":504}}"#);
    assert_eq!(streamed.told().await, "end");

    let watch = format!(
        "{DEPLOYMENTS}?watch=1&allowWatchBookmarks=1&resourceVersion={seen}&timeoutSeconds=600"
    );
    let mut ahead = client.watch(&watch).await;
    for replicas in 0..4 {
        // What happens up to the number that the client knows is never told: the danger of a restore.
        scale(&server, "kept", 10 + replicas);
    }
    assert_eq!(server.revision(), seen + 1);
    assert_eq!(ahead.told().await, format!("MODIFIED kept {}", seen + 1));
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_goes_on_from_the_backup_and_from_nothing_older() {
    let (server, backup, _) = lived_on().await;
    server.restore(backup).unwrap();
    let client = Client::memory(&server);
    let from = async |version: u64| {
        client
            .watch(&format!("{DEPLOYMENTS}?watch=1&resourceVersion={version}"))
            .await
    };
    let mut exact = from(backup).await;
    let older = from(backup - 1).await.event().await.unwrap();
    assert_eq!(
        (&older["type"], &older["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    scale(&server, "kept", 2);
    assert_eq!(exact.told().await, format!("MODIFIED kept {}", backup + 1));
    server.shutdown().await;
}

#[tokio::test]
async fn pages_go_on_where_the_backup_knows_their_version() {
    let (server, backup, _) = lived_on().await;
    let client = Client::memory(&server);
    let ahead = client.get(&format!("{DEPLOYMENTS}?limit=1")).await.json();
    // With a limit the version is the very one that is shown.
    let known = format!("{DEPLOYMENTS}?limit=1&resourceVersion={backup}");
    let known = client.get(&known).await.json();
    server.restore(backup).unwrap();
    let next = async |page: &Value| {
        let token = page["metadata"]["continue"].as_str().unwrap();
        client.get(&format!("{DEPLOYMENTS}?continue={token}")).await
    };
    assert_eq!(
        next(&known).await.json()["items"][0]["metadata"]["name"],
        "kept"
    );
    assert_eq!(next(&ahead).await.status, StatusCode::GATEWAY_TIMEOUT);
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_can_be_restored_again_and_to_where_it_is() {
    let (server, backup, before) = lived_on().await;
    let middle = backup + 1;
    server.restore(middle).unwrap();
    scale(&server, "kept", 7);
    server.restore(middle).unwrap();
    server.restore(middle).unwrap();
    assert_eq!(
        server.object("deployments", "shop", "kept").unwrap()["spec"]["replicas"],
        5
    );
    server.restore(backup).unwrap();
    assert_eq!(server.objects("deployments"), before);
    server.shutdown().await;
}

#[tokio::test]
async fn what_cannot_be_restored_is_refused_and_nothing_happens() {
    let server = SimApiServer::builder().history(3).start().await.unwrap();
    add_shop(&server);
    server.seed(deployment("web", 1));
    for replicas in 2..8 {
        scale(&server, "web", replicas);
    }
    let newest = server.revision();
    let oldest = newest - 3;
    let refused = server.restore(oldest - 1).unwrap_err();
    assert_eq!(
        refused,
        RestoreError::TooOld {
            asked: oldest - 1,
            oldest
        }
    );
    insta::assert_snapshot!(refused, @"cannot restore revision 10: the history reaches back to 11 only");
    insta::assert_snapshot!(server.restore(newest + 1).unwrap_err(), @"cannot restore revision 15: the newest is 14");
    assert_eq!(server.revision(), newest);

    server.faults().add(
        Rule::new(Action::Restore(Past::Behind(4)))
            .verb(Verb::List)
            .attempts(1),
    );
    let client = Client::memory(&server);
    insta::assert_snapshot!(client.get(DEPLOYMENTS).await.refusal(), @"500 : a fault rule: cannot restore revision 10: the history reaches back to 11 only");
    assert_eq!(client.get(DEPLOYMENTS).await.status, StatusCode::OK);
    server.restore(oldest).unwrap();
    assert_eq!(
        server.object("deployments", "shop", "web").unwrap()["spec"]["replicas"],
        4
    );
    server.shutdown().await;
}

/// A fault rule restores in the middle of a client's life: its watch ends, and its next list is from before.
#[tokio::test]
async fn a_rule_restores_before_the_request_that_it_picks() {
    let server = shop().await;
    let second_list = Rule::new(Action::Restore(Past::Behind(2)))
        .verb(Verb::List)
        .attempts(2);
    for client in Client::both(&server) {
        server.faults().replace(second_list.clone().into());
        server.seed(deployment("web", 1));
        let first = client.get(DEPLOYMENTS).await.json();
        let version = first["metadata"]["resourceVersion"].as_str().unwrap();
        let mut watch = client
            .watch(&format!("{DEPLOYMENTS}?watch=1&resourceVersion={version}"))
            .await;
        scale(&server, "web", 2);
        scale(&server, "web", 3);
        assert!(watch.told().await.starts_with("MODIFIED"));
        assert!(watch.told().await.starts_with("MODIFIED"));
        let second = client.get(DEPLOYMENTS).await.json();
        assert_eq!(first, second, "as if the two changes had never been");
        assert_eq!(watch.told().await, "end");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn what_comes_back_is_still_owned() {
    let server = shop().await;
    let owner = server.seed(deployment("web", 1));
    let reference = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web",
        "uid": owner["metadata"]["uid"], "controller": true});
    server.seed(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "shop",
        "ownerReferences": [reference]}, "spec": {"containers": []}}),
    );
    let backup = server.revision();
    let client = Client::memory(&server);
    for _ in 0..2 {
        client
            .delete(
                &format!("{DEPLOYMENTS}/web"),
                &json!({"propagationPolicy": "Background"}),
            )
            .await;
        assert!(server.objects("pods").is_empty());
        server.restore(backup).unwrap();
        assert_eq!(server.objects("pods").len(), 1);
    }
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn workloads_go_on() {
    let server = SimApiServer::builder()
        .workload_controllers(true)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let created = Client::memory(&server)
        .post(DEPLOYMENTS, &deployment("web", 1))
        .await;
    let created: u64 = created.json()["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    let ready = async |wanted: i64| {
        let all = server.wait_for_object("deployments", "shop", "web", |web| {
            let status = &web.unwrap()["status"];
            status["readyReplicas"] == wanted && status["replicas"] == wanted
        });
        timeout(Duration::from_secs(60), all)
            .await
            .unwrap_or_else(|_| panic!("{wanted} replicas"));
        assert_eq!(server.objects("pods").len() as i64, wanted);
    };
    ready(1).await;
    let one = server.revision();
    scale(&server, "web", 3);
    ready(3).await;
    server.restore(one).unwrap();
    ready(1).await;
    scale(&server, "web", 2);
    ready(2).await;
    // Before there was a ReplicaSet: it is made again.
    server.restore(created).unwrap();
    assert!(server.objects("pods").is_empty());
    ready(1).await;
    server.shutdown().await;
}

/// Nothing but the restoration itself tells the controllers that there is work again.
#[tokio::test(start_paused = true)]
async fn what_the_controllers_had_done_since_is_done_again() {
    let server = SimApiServer::builder()
        .workload_controllers(true)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let ready = async |wanted: i64| {
        let all = server.wait_for_object("deployments", "shop", "web", |web| {
            let status = &web.unwrap()["status"];
            status["readyReplicas"] == wanted && status["replicas"] == wanted
        });
        timeout(Duration::from_secs(60), all)
            .await
            .unwrap_or_else(|_| panic!("{wanted} replicas"));
    };
    ready(1).await;
    scale(&server, "web", 3);
    let wanted = server.revision();
    // Nothing is left to be told of again.
    server.expire_history();
    ready(3).await;
    // The paused clock moves on when the controllers have nothing left to do.
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.restore(wanted).unwrap();
    assert_eq!(server.objects("pods").len(), 1);
    ready(3).await;
    server.shutdown().await;
}
