//! PATCH, on the object and on its scale.

use http::StatusCode;
use serde_json::{Value, json};

use sim_apiserver::{Kind, SimApiServer};

use crate::client::{
    Client, DEPLOYMENTS, JSON_PATCH, MERGE, STRATEGIC, add_shop, deployment, shop,
};

const WEB: &str = "/apis/apps/v1/namespaces/shop/deployments/web";
const SCALE: &str = "/apis/apps/v1/namespaces/shop/deployments/web/scale";

fn identity(object: &Value) -> (String, String) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap().to_owned();
    (text("uid"), text("resourceVersion"))
}

fn guarded(uid: &str, revision: &str, replicas: i64) -> Value {
    json!({"metadata": {"uid": uid, "resourceVersion": revision}, "spec": {"replicas": replicas}})
}

#[tokio::test]
async fn the_scale_shows_replicas_and_selector() {
    let server = shop().await;
    for client in Client::both(&server) {
        server.remove("deployments", "shop", "web");
        let created = client.post(DEPLOYMENTS, &deployment("web", 1)).await.json();
        let (uid, revision) = identity(&created);
        let scale = client.get(SCALE).await.json();
        assert_eq!(
            scale,
            json!({"kind": "Scale", "apiVersion": "autoscaling/v1",
                "metadata": {"name": "web", "namespace": "shop", "uid": uid, "resourceVersion": revision,
                    "creationTimestamp": created["metadata"]["creationTimestamp"]},
                "spec": {"replicas": 1}, "status": {"replicas": 0, "selector": "app=web"}})
        );
    }
    let client = Client::memory(&server);
    server.mutate("deployments", "shop", "web", |web| {
        web["spec"]["replicas"] = 0.into();
    });
    assert_eq!(
        client.get(SCALE).await.json()["spec"],
        json!({}),
        "a zero is left out"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_guarded_scale_raises_once_and_then_conflicts() {
    let server = shop().await;
    for client in Client::both(&server) {
        server.remove("deployments", "shop", "web");
        let created = client.post(DEPLOYMENTS, &deployment("web", 1)).await.json();
        let (uid, revision) = identity(&created);
        let raised = client
            .patch(SCALE, MERGE, &guarded(&uid, &revision, 2))
            .await;
        assert_eq!(raised.status, StatusCode::OK);
        assert_eq!(raised.json()["spec"]["replicas"], 2);
        assert_eq!(
            raised.json()["metadata"]["resourceVersion"],
            server.revision().to_string()
        );
        let web = client.get(WEB).await.json();
        assert_eq!(
            (&web["spec"]["replicas"], &web["metadata"]["generation"]),
            (&json!(2), &json!(2))
        );

        let again = client
            .patch(SCALE, MERGE, &guarded(&uid, &revision, 3))
            .await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(again.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"group":"apps","kind":"deployments","name":"web"},"code":409}"#);
        }
        let (_, revision) = identity(&web);
        let recreated = client
            .patch(SCALE, MERGE, &guarded("A", &revision, 3))
            .await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(recreated.text.replace(&uid, "B"), @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on deployments/scale.apps \"web\": Precondition failed: UID in precondition: A, UID in object meta: B","reason":"Conflict","details":{"group":"apps","kind":"deployments/scale","name":"web"},"code":409}"#);
        }
        assert_eq!(client.get(WEB).await.json()["spec"]["replicas"], 2);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_scale_that_makes_no_sense_is_refused() {
    let server = shop().await;
    let client = Client::memory(&server);
    insta::assert_snapshot!(client.patch(SCALE, MERGE, &json!({"spec": {"replicas": 2}})).await.refusal(), @r#"404 NotFound: deployments.apps "web" not found"#);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    insta::assert_snapshot!(client.patch(SCALE, MERGE, &json!({"spec": {"replicas": -1}})).await.refusal(), @r#"422 Invalid: Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"#);
    let text = client
        .patch(SCALE, MERGE, &json!({"spec": {"replicas": "2"}}))
        .await
        .refusal();
    assert!(
        text.starts_with(r#"422 Invalid:  "" is invalid: patch: Invalid value: "{"#),
        "{text}"
    );
    let why =
        "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32";
    assert!(text.ends_with(why), "{text}");
    insta::assert_snapshot!(client.patch(SCALE, MERGE, &json!([])).await.refusal(), @"400 BadRequest: error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}");
    insta::assert_snapshot!(client.delete(SCALE, &Value::Null).await.refusal(), @"405 MethodNotAllowed: the server does not allow this method on the requested resource");
    server.shutdown().await;
}

#[tokio::test]
async fn a_put_on_the_scale_keeps_its_preconditions() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let mut scale = client.get(SCALE).await.json();
    scale["spec"]["replicas"] = 4.into();
    assert_eq!(
        client.put(SCALE, &scale).await.json()["spec"]["replicas"],
        4
    );
    assert_eq!(client.put(SCALE, &scale).await.status, StatusCode::CONFLICT);
    server.shutdown().await;
}

#[tokio::test]
async fn a_merge_patch_of_the_object_keeps_its_preconditions() {
    let server = shop().await;
    let client = Client::memory(&server);
    let created = client.post(DEPLOYMENTS, &deployment("web", 1)).await.json();
    let (uid, revision) = identity(&created);
    let label = |uid: &str, revision: &str| json!({"metadata": {"uid": uid, "resourceVersion": revision, "labels": {"version": "2"}}});
    let labelled = client
        .patch(WEB, MERGE, &label(&uid, &revision))
        .await
        .json();
    assert_eq!(
        labelled["metadata"]["labels"],
        json!({"demo/min-replicas": "true", "version": "2"})
    );
    assert_eq!(
        labelled["metadata"]["generation"], 1,
        "a label is no new generation"
    );
    insta::assert_snapshot!(client.patch(WEB, MERGE, &label(&uid, &revision)).await.refusal(), @r#"409 Conflict: Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again"#);
    let (_, revision) = identity(&labelled);
    // Only with another resourceVersion is it a conflict: the object itself takes a uid for a change of it.
    insta::assert_snapshot!(client.patch(WEB, MERGE, &label("A", &revision)).await.refusal(), @r#"422 Invalid: Deployment.apps "web" is invalid: metadata.uid: Invalid value: "A": field is immutable"#);
    let gone = client
        .patch(WEB, MERGE, &json!({"metadata": {"labels": null}}))
        .await
        .json();
    assert_eq!(gone["metadata"].get("labels"), None);
    server.shutdown().await;
}

/// C-22: the scale is written by JSON Patch there, with tests that must hold.
#[tokio::test]
async fn a_json_patch_applies_only_where_its_tests_hold() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let patch = |expected: i64| {
        json!([{"op": "test", "path": "/spec/replicas", "value": expected},
            {"op": "replace", "path": "/spec/replicas", "value": 2}])
    };
    assert_eq!(
        client.patch(SCALE, JSON_PATCH, &patch(1)).await.json()["spec"]["replicas"],
        2
    );
    insta::assert_snapshot!(client.patch(SCALE, JSON_PATCH, &patch(1)).await.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server rejected our request due to an error in our request","reason":"Invalid","details":{},"code":422}"#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_strategic_patch_merges_containers_by_name() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:2"},
        {"name": "sidecar", "image": "s:1"}]}}}});
    let patched = client.patch(WEB, STRATEGIC, &patch).await.json();
    let containers = patched["spec"]["template"]["spec"]["containers"]
        .as_array()
        .unwrap();
    let images: Vec<&Value> = containers
        .iter()
        .map(|container| &container["image"])
        .collect();
    assert_eq!(images, ["i:2", "s:1"]);
    assert_eq!(
        containers[0]["terminationMessagePolicy"], "File",
        "what was there stays"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn the_field_manager_is_recorded_with_its_subresource() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let patch = json!({"spec": {"replicas": 2}});
    client
        .patch(&format!("{SCALE}?fieldManager=minrep"), MERGE, &patch)
        .await;
    client
        .patch(
            WEB,
            MERGE,
            &json!({"metadata": {"annotations": {"a": "b"}}}),
        )
        .await;

    let web = client.get(WEB).await.json();
    let entries = web["metadata"]["managedFields"].as_array().unwrap();
    let entry = |manager: &str| {
        entries
            .iter()
            .find(|entry| entry["manager"] == manager)
            .unwrap()
    };
    assert_eq!(entry("minrep")["subresource"], "scale");
    assert_eq!(entry("minrep")["operation"], "Update");
    assert_eq!(
        entry("minrep")["fieldsV1"],
        json!({"f:spec": {"f:replicas": {}}})
    );
    assert_eq!(
        entry("tester")["fieldsV1"],
        json!({"f:metadata": {"f:annotations": {"f:a": {}}}})
    );
    assert_eq!(
        entry("unknown")["fieldsV1"]["f:spec"].get("f:replicas"),
        None,
        "it changed hands"
    );
    server.shutdown().await;
}

/// The real server merges a strategic patch into a struct, and looks at neither afterwards.
#[tokio::test]
async fn a_strategic_patch_may_name_any_kind() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let patch = json!({"apiVersion": "v2", "kind": "Pod", "metadata": {"labels": {"a": "b"}}});
    let patched = client.patch(WEB, STRATEGIC, &patch).await.json();
    assert_eq!(patched["kind"], "Deployment");
    assert_eq!(patched["apiVersion"], "apps/v1");
    assert_eq!(patched["metadata"]["labels"]["a"], "b");
    let merged = client.patch(WEB, MERGE, &patch).await;
    assert_eq!(merged.status, StatusCode::UNPROCESSABLE_ENTITY);
    let all = client
        .patch(WEB, STRATEGIC, &json!({"$patch": "delete"}))
        .await;
    insta::assert_snapshot!(all.refusal(), @"400 BadRequest: the name of the object (web based on URL) was undeterminable: name must be provided");
    server.shutdown().await;
}

#[tokio::test]
async fn a_patch_of_null_is_no_change_or_no_patch() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let before = server.revision();
    for content_type in [STRATEGIC, JSON_PATCH] {
        let patched = client.patch(WEB, content_type, &Value::Null).await;
        assert_eq!(patched.status, StatusCode::OK, "{content_type}");
    }
    assert_eq!(server.revision(), before);
    insta::assert_snapshot!(client.patch(WEB, MERGE, &Value::Null).await.refusal(), @"400 BadRequest: Invalid JSON Patch");
    server.shutdown().await;
}

#[tokio::test]
async fn a_strategic_patch_that_cannot_be_read_is_refused_without_a_heading() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let send = async |body: &'static str| {
        let headers = [("content-type", STRATEGIC)];
        client.call("PATCH", WEB, &headers, body).await.refusal()
    };
    insta::assert_snapshot!(send("").await, @"400 BadRequest: unexpected end of JSON input");
    insta::assert_snapshot!(send("[]").await, @"400 BadRequest: json: cannot unmarshal array into Go value of type map[string]interface {}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_custom_resource_takes_no_strategic_patch() {
    let gadgets = Kind::new("example.com", "v1", "Gadget", "gadgets");
    let server = SimApiServer::builder().kind(gadgets).start().await.unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    let path = "/apis/example.com/v1/namespaces/shop/gadgets";
    client.post(path, &json!({"metadata": {"name": "a"}})).await;
    let path = format!("{path}/a");
    let patch = json!({"metadata": {"labels": {"a": "b"}}});
    insta::assert_snapshot!(client.patch(&path, STRATEGIC, &patch).await.refusal(), @"415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
    assert_eq!(
        client.patch(&path, MERGE, &patch).await.status,
        StatusCode::OK
    );
    server.shutdown().await;
}

/// The mark of a deletion is the server's; who leaves it out keeps it.
#[tokio::test]
async fn nobody_marks_an_object_as_deleted_by_a_write() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let refusal = async |field: &str, value: Value| {
        let patch = json!({"metadata": {field: value}});
        client.patch(WEB, MERGE, &patch).await.refusal()
    };
    insta::assert_snapshot!(refusal("deletionTimestamp", json!("2020-01-01T00:00:00Z")).await, @r#"422 Invalid: Deployment.apps "web" is invalid: metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable"#);
    insta::assert_snapshot!(refusal("deletionGracePeriodSeconds", json!(5)).await, @r#"422 Invalid: Deployment.apps "web" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable"#);
    let finalizers = json!({"metadata": {"finalizers": ["example.com/a"]}});
    client.patch(WEB, MERGE, &finalizers).await;
    client.delete(WEB, &Value::Null).await;
    let unmark = json!({"metadata": {"deletionTimestamp": null}});
    let kept = client.patch(WEB, MERGE, &unmark).await.json();
    assert!(kept["metadata"]["deletionTimestamp"].is_string());
    server.shutdown().await;
}

#[tokio::test]
async fn managers_are_forgotten_on_request() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let patch = json!({"metadata": {"managedFields": [], "labels": {"a": "b"}}});
    let forgotten = client.patch(WEB, MERGE, &patch).await.json();
    assert_eq!(forgotten["metadata"].get("managedFields"), None);
    assert_eq!(forgotten["metadata"]["labels"]["a"], "b");
    server.shutdown().await;
}
