//! A server whose resourceVersions tell nothing.

use faults::{Action, Rule, Verb};
use serde_json::{Value, json};
use sim_apiserver::{SimApiServer, faults};

use crate::client::{Client, DEPLOYMENTS, JSON_PATCH, MERGE, add_shop, deployment};

const WEB: &str = "/apis/apps/v1/namespaces/shop/deployments/web";

async fn opaque() -> SimApiServer {
    let rule = Rule::new(Action::OpaqueRevisions).named("opaque");
    let server = SimApiServer::builder().faults(rule).start().await.unwrap();
    add_shop(&server);
    server.seed(deployment("web", 1));
    server
}

fn revision(object: &Value) -> String {
    let revision = object["metadata"]["resourceVersion"].as_str();
    revision.expect("a resourceVersion").to_owned()
}

#[tokio::test]
async fn versions_are_no_numbers_and_work_as_versions() {
    let server = opaque().await;
    for client in Client::both(&server) {
        let list = client.get(DEPLOYMENTS).await.json();
        let listed = revision(&list);
        let old = revision(&list["items"][0]);
        for text in [&listed, &old] {
            assert!(text.bytes().all(|byte| byte.is_ascii_lowercase()), "{text}");
        }
        let mut watch = client
            .watch(&format!("{DEPLOYMENTS}?watch=1&resourceVersion={listed}"))
            .await;

        let mut web = client.get(WEB).await.json();
        assert_eq!(revision(&web), old);
        let replicas = web["spec"]["replicas"].as_i64().unwrap() + 1;
        web["spec"]["replicas"] = replicas.into();
        let updated = client.put(WEB, &web).await.json();
        assert_eq!(updated["spec"]["replicas"], replicas);
        let new = revision(&updated);
        assert_ne!(new, old);
        assert_eq!(watch.told().await, format!("MODIFIED web {new}"));

        let conflict = client.put(WEB, &web).await.refusal();
        insta::allow_duplicates! {
            insta::assert_snapshot!(conflict, @r#"409 Conflict: Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again"#);
        }
        let stored = server.object("deployments", "shop", "web").unwrap();
        assert!(revision(&stored).parse::<u64>().is_ok());
    }
    server.shutdown().await;
}

#[tokio::test]
async fn preconditions_of_patches_and_deletes_are_understood() {
    let server = opaque().await;
    for client in Client::both(&server) {
        if server.object("deployments", "shop", "web").is_none() {
            server.seed(deployment("web", 1));
        }
        let old = revision(&client.get(WEB).await.json());
        let scale = json!({"metadata": {"resourceVersion": old}, "spec": {"replicas": 5}});
        let scaled = client.patch(&format!("{WEB}/scale"), MERGE, &scale).await;
        let new = revision(&scaled.json());
        assert_eq!(client.patch(WEB, MERGE, &scale).await.status, 409);

        let test = |revision: &str| {
            json!([
                {"op": "test", "path": "/metadata/resourceVersion", "value": revision},
                {"op": "add", "path": "/metadata/labels/tested", "value": "yes"},
            ])
        };
        assert_eq!(client.patch(WEB, JSON_PATCH, &test(&old)).await.status, 422);
        let tested = client.patch(WEB, JSON_PATCH, &test(&new)).await.json();

        let delete = |revision: &str| json!({"preconditions": {"resourceVersion": revision}});
        assert_eq!(client.delete(WEB, &delete(&new)).await.status, 409);
        assert_eq!(
            client.delete(WEB, &delete(&revision(&tested))).await.status,
            200
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_inside_a_string_stays() {
    let server = opaque().await;
    let client = Client::memory(&server);
    let last_applied = r#"{"metadata":{"resourceVersion":"7"}}"#;
    let patch = json!({"metadata": {"annotations": {"last-applied": last_applied}}});
    let web = client.patch(WEB, MERGE, &patch).await.json();
    assert_eq!(web["metadata"]["annotations"]["last-applied"], last_applied);
    server.shutdown().await;
}

#[tokio::test]
async fn it_goes_on_beside_the_rule_that_acts() {
    let server = opaque().await;
    server.seed(deployment("x", 1));
    let cut = Rule::new(Action::cut_after_events(1)).verb(Verb::Watch);
    server.faults().add(cut);
    let client = Client::memory(&server);
    let mut watch = client.watch(&format!("{DEPLOYMENTS}?watch=1")).await;
    let told = watch.told().await;
    let revision = told.strip_prefix("ADDED web ").expect("web");
    assert!(
        revision.bytes().all(|byte| byte.is_ascii_lowercase()),
        "{revision}"
    );
    assert_eq!(watch.told().await, "end");
    assert_eq!(server.faults().fired_named("opaque"), 1);
    server.shutdown().await;
}
