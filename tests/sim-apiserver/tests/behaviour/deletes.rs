//! Deletion: preconditions, finalizers, owners, namespaces.

use http::StatusCode;
use serde_json::{Value, json};
use sim_apiserver::SimApiServer;

use crate::client::{Client, DEPLOYMENTS, MERGE, deployment, shop};

const WEB: &str = "/apis/apps/v1/namespaces/shop/deployments/web";

/// A Deployment, its ReplicaSet, its Pod.
fn seed_family(server: &SimApiServer) {
    let mut web = deployment("web", 1);
    web["metadata"]["uid"] = "uid-web".into();
    server.seed(web);
    let owner = |kind: &str, name: &str| {
        json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("uid-{name}"),
            "controller": true, "blockOwnerDeletion": true}])
    };
    server.seed(
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-1",
        "namespace": "shop", "uid": "uid-web-1", "ownerReferences": owner("Deployment", "web")}}),
    );
    server.seed(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1-a", "namespace": "shop",
        "uid": "uid-web-1-a", "ownerReferences": owner("ReplicaSet", "web-1")},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]}}));
}

/// What happens to Deployments and ReplicaSets and Pods from here on, in the order of resource versions.
async fn told(server: &SimApiServer, from: u64) -> Vec<String> {
    let client = Client::memory(server);
    let mut all = Vec::new();
    for path in [
        "/apis/apps/v1/deployments",
        "/apis/apps/v1/replicasets",
        "/api/v1/pods",
    ] {
        let mut watch = client
            .watch(&format!(
                "{path}?watch=1&resourceVersion={from}&timeoutSeconds=1"
            ))
            .await;
        loop {
            match watch.told().await.as_str() {
                "end" => break,
                told => {
                    let mut words = told.split(' ').map(ToOwned::to_owned);
                    let (event, name) = (words.next().unwrap(), words.next().unwrap());
                    let revision: u64 = words.next().unwrap().parse().unwrap();
                    all.push((revision, format!("{event} {name}")));
                }
            }
        }
    }
    all.sort();
    all.into_iter().map(|(_, told)| told).collect()
}

#[tokio::test]
async fn a_deletion_answers_success_and_is_final() {
    let server = shop().await;
    for client in Client::both(&server) {
        let created = client.post(DEPLOYMENTS, &deployment("web", 1)).await.json();
        let deleted = client.delete(WEB, &Value::Null).await;
        assert_eq!(
            deleted.json(),
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details":
                {"name": "web", "group": "apps", "kind": "deployments", "uid": created["metadata"]["uid"]}})
        );
        let again = client.delete(WEB, &Value::Null).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(again.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"deployments.apps \"web\" not found","reason":"NotFound","details":{"group":"apps","kind":"deployments","name":"web"},"code":404}"#);
        }
    }
    server.shutdown().await;
}

#[tokio::test]
async fn preconditions_are_kept() {
    let server = shop().await;
    let client = Client::memory(&server);
    let mut web = deployment("web", 1);
    web["metadata"]["uid"] = "B".into();
    server.set_next_revision(500);
    server.seed(web);
    let uid = client
        .delete(WEB, &json!({"preconditions": {"uid": "A"}}))
        .await;
    insta::assert_snapshot!(uid.refusal(), @r#"409 Conflict: Operation cannot be fulfilled on Deployment.apps "web": the UID in the precondition (A) does not match the UID in record (B). The object might have been deleted and then recreated"#);
    let revision = client
        .delete(WEB, &json!({"preconditions": {"resourceVersion": "7"}}))
        .await;
    insta::assert_snapshot!(revision.refusal(), @r#"409 Conflict: Operation cannot be fulfilled on Deployment.apps "web": the ResourceVersion in the precondition (7) does not match the ResourceVersion in record (500). The object might have been modified"#);
    let policy = client
        .delete(WEB, &json!({"propagationPolicy": "Later"}))
        .await;
    insta::assert_snapshot!(policy.refusal(), @r#"422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Later": supported values: "Foreground", "Background", "Orphan", "nil""#);
    let both = json!({"preconditions": {"uid": "B", "resourceVersion": "500"}});
    assert_eq!(client.delete(WEB, &both).await.status, StatusCode::OK);
    server.shutdown().await;
}

#[tokio::test]
async fn finalizers_hold_an_object_until_the_last_is_gone() {
    let server = shop().await;
    let client = Client::memory(&server);
    let mut web = deployment("web", 1);
    web["metadata"]["finalizers"] = json!(["example.com/a", "example.com/b"]);
    client.post(DEPLOYMENTS, &web).await;
    let pending = client.delete(WEB, &Value::Null).await.json();
    assert_eq!(pending["kind"], "Deployment");
    assert!(pending["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(pending["metadata"]["generation"], 2);

    let more = json!({"metadata": {"finalizers": ["example.com/a", "example.com/c"]}});
    insta::assert_snapshot!(client.patch(WEB, MERGE, &more).await.refusal(), @r#"422 Invalid: Deployment.apps "web" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/c"}"#);
    let fewer = json!({"metadata": {"finalizers": ["example.com/a"]}});
    assert_eq!(
        client.patch(WEB, MERGE, &fewer).await.status,
        StatusCode::OK
    );
    let before = server.revision();
    let none = client
        .patch(WEB, MERGE, &json!({"metadata": {"finalizers": null}}))
        .await;
    assert_eq!(none.status, StatusCode::OK);
    assert_eq!(client.get(WEB).await.status, StatusCode::NOT_FOUND);
    assert_eq!(server.revision(), before + 1);
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn in_the_background_dependents_go_after_their_owner() {
    let server = shop().await;
    seed_family(&server);
    let from = server.revision();
    Client::memory(&server)
        .delete(WEB, &json!({"propagationPolicy": "Background"}))
        .await;
    assert_eq!(
        told(&server, from).await,
        ["DELETED web", "DELETED web-1", "DELETED web-1-a"]
    );
    server.shutdown().await;
}

/// C-11: what a controller sees of a foreground deletion.
#[tokio::test(start_paused = true)]
async fn in_the_foreground_dependents_go_before_their_owner() {
    let server = shop().await;
    seed_family(&server);
    let from = server.revision();
    let client = Client::memory(&server);
    let pending = client
        .delete(WEB, &json!({"propagationPolicy": "Foreground"}))
        .await;
    assert_eq!(pending.status, StatusCode::OK);
    assert_eq!(
        told(&server, from).await,
        [
            "MODIFIED web",
            "MODIFIED web-1",
            "DELETED web-1-a",
            "DELETED web-1",
            "DELETED web"
        ]
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_foreground_deletion_waits_for_a_dependents_finalizer() {
    let server = shop().await;
    seed_family(&server);
    server.mutate("pods", "shop", "web-1-a", |pod| {
        pod["metadata"]["finalizers"] = json!(["example.com/hold"]);
    });
    let client = Client::memory(&server);
    let pending = client
        .delete(WEB, &json!({"propagationPolicy": "Foreground"}))
        .await
        .json();
    assert_eq!(
        pending["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    assert_eq!(client.get(WEB).await.status, StatusCode::OK);
    let release = json!({"metadata": {"finalizers": null}});
    client
        .patch("/api/v1/namespaces/shop/pods/web-1-a", MERGE, &release)
        .await;
    assert!(server.objects("pods").is_empty());
    assert_eq!(client.get(WEB).await.status, StatusCode::NOT_FOUND);
    server.shutdown().await;
}

#[tokio::test]
async fn orphans_stay_without_an_owner() {
    let server = shop().await;
    seed_family(&server);
    let client = Client::memory(&server);
    client
        .delete(WEB, &json!({"propagationPolicy": "Orphan"}))
        .await;
    assert!(server.objects("deployments").is_empty());
    let set = server.object("replicasets", "shop", "web-1").unwrap();
    assert_eq!(set["metadata"]["ownerReferences"], json!([]));
    assert_eq!(server.objects("pods").len(), 1);
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_with_another_living_owner_stays() {
    let server = shop().await;
    seed_family(&server);
    server.seed(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other", "namespace": "shop",
        "uid": "uid-other"}}),
    );
    server.mutate("replicasets", "shop", "web-1", |set| {
        let owners = set["metadata"]["ownerReferences"].as_array_mut().unwrap();
        owners
            .push(json!({"apiVersion": "v1", "kind": "Pod", "name": "other", "uid": "uid-other"}));
    });
    Client::memory(&server).delete(WEB, &Value::Null).await;
    let set = server.object("replicasets", "shop", "web-1").unwrap();
    assert_eq!(
        set["metadata"]["ownerReferences"].as_array().unwrap().len(),
        1
    );
    server.shutdown().await;
}

/// C-13: nothing new in a namespace that is going.
#[tokio::test]
async fn a_namespace_takes_its_content_along() {
    let server = shop().await;
    seed_family(&server);
    server.mutate("pods", "shop", "web-1-a", |pod| {
        pod["metadata"]["finalizers"] = json!(["example.com/hold"]);
    });
    let client = Client::memory(&server);
    let going = client
        .delete("/api/v1/namespaces/shop", &Value::Null)
        .await
        .json();
    assert_eq!(going["status"]["phase"], "Terminating");
    assert!(server.objects("deployments").is_empty());
    let event = json!({"metadata": {"name": "web.1"}, "involvedObject": {}});
    let refused = client.post("/api/v1/namespaces/shop/events", &event).await;
    insta::assert_snapshot!(refused.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"events \"web.1\" is forbidden: unable to create new content in namespace shop because it is being terminated","reason":"Forbidden","details":{"causes":[{"field":"metadata.namespace","message":"namespace shop is being terminated","reason":"NamespaceTerminating"}],"kind":"events","name":"web.1"},"code":403}"#);

    let release = json!({"metadata": {"finalizers": null}});
    client
        .patch("/api/v1/namespaces/shop/pods/web-1-a", MERGE, &release)
        .await;
    assert_eq!(
        client.get("/api/v1/namespaces/shop").await.status,
        StatusCode::NOT_FOUND
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector() {
    let server = shop().await;
    let client = Client::memory(&server);
    for name in ["a", "b"] {
        server.seed(deployment(name, 1));
    }
    let deleted = client
        .delete(
            &format!("{DEPLOYMENTS}?fieldSelector=metadata.name%3Da"),
            &Value::Null,
        )
        .await;
    assert_eq!(deleted.json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(server.objects("deployments").len(), 1);
    client.delete(DEPLOYMENTS, &Value::Null).await;
    assert!(server.objects("deployments").is_empty());
    server.shutdown().await;
}

/// A body makes the real server deaf to the query: who says `dryRun` only there deletes.
#[tokio::test]
async fn options_in_a_body_leave_nothing_to_the_query() {
    let server = shop().await;
    let client = Client::memory(&server);
    let there = || server.object("deployments", "shop", "web").is_some();
    let dry = format!("{WEB}?dryRun=All");
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    assert_eq!(
        client.delete(&dry, &Value::Null).await.status,
        StatusCode::OK
    );
    assert!(there(), "a dry run");
    let body = json!({"dryRun": ["All"]});
    assert_eq!(client.delete(WEB, &body).await.status, StatusCode::OK);
    assert!(there(), "a dry run");
    let nonsense = format!("{WEB}?dryRun=All&propagationPolicy=Later");
    assert_eq!(
        client.delete(&nonsense, &json!({})).await.status,
        StatusCode::OK
    );
    assert!(!there(), "only the query said that it was a dry run");
    server.shutdown().await;
}

#[tokio::test]
async fn options_in_the_query_are_checked_as_those_in_a_body() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let refusal = async |query: &str| {
        let path = format!("{WEB}?{query}");
        client.delete(&path, &Value::Null).await.refusal()
    };
    insta::assert_snapshot!(refusal("gracePeriodSeconds=x").await, @r#"400 BadRequest: strconv.ParseInt: parsing "x": invalid syntax"#);
    insta::assert_snapshot!(refusal("gracePeriodSeconds=99999999999999999999").await, @r#"400 BadRequest: strconv.ParseInt: parsing "99999999999999999999": value out of range"#);
    insta::assert_snapshot!(refusal("propagationPolicy=").await, @r#"422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "": supported values: "Foreground", "Background", "Orphan", "nil""#);
    insta::assert_snapshot!(refusal("orphanDependents=true&propagationPolicy=Orphan").await, @r#"422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set"#);
    insta::assert_snapshot!(refusal("dryRun=All&dryRun=x").await, @r#"422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["All","x"]: supported values: "All""#);
    assert!(server.object("deployments", "shop", "web").is_some());
    server.shutdown().await;
}
