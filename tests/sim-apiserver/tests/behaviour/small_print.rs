//! Small things that clients of the real server meet, and that nobody would think of.

use http::StatusCode;
use serde_json::{Value, json};
use sim_apiserver::{Kind, SimApiServer};

use crate::client::{Client, DEPLOYMENTS, MERGE, Watch, add_shop, deployment, shop};

const TABLE: [(&str, &str); 1] = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
const MAPS: &str = "/api/v1/namespaces/shop/configmaps";

#[tokio::test]
async fn plain_text_may_not_be_taken_for_anything_else() {
    let server = shop().await;
    let client = Client::memory(&server);
    for path in ["/healthz", "/readyz", "/nowhere", "/apis/nope.example/v1"] {
        let answer = client.get(path).await;
        assert_eq!(
            answer.headers["x-content-type-options"], "nosniff",
            "{path}"
        );
    }
    let check = client.get("/healthz/ping").await;
    assert_eq!(check.headers.get("x-content-type-options"), None);
    server.shutdown().await;
}

#[tokio::test]
async fn a_path_without_resources_has_methods_and_groups_too() {
    let server = shop().await;
    let client = Client::memory(&server);
    let status = async |method: &str, path: &str| client.call(method, path, &[], "").await.status;
    assert_eq!(status("POST", "/healthz").await, StatusCode::OK);
    assert_eq!(
        status("POST", "/version").await,
        StatusCode::METHOD_NOT_ALLOWED
    );
    assert_eq!(
        status("HEAD", "/version").await,
        StatusCode::METHOD_NOT_ALLOWED
    );
    assert_eq!(
        status("POST", "/apis/apps/v1").await,
        StatusCode::METHOD_NOT_ALLOWED
    );
    let version = client.get("/apis/apps/v1beta1").await;
    insta::assert_snapshot!(version.refusal(), @"404 NotFound: the server could not find the requested resource");
    let below = client.get(&format!("{DEPLOYMENTS}/web/scale/more")).await;
    insta::assert_snapshot!(below.refusal(), @"404 NotFound: the server could not find the requested resource");
    let slash = client.get(&format!("{DEPLOYMENTS}/a%2Fb")).await;
    insta::assert_snapshot!(slash.refusal(), @"404 NotFound: the server could not find the requested resource");
    server.shutdown().await;
}

#[tokio::test]
async fn discovery_leaves_out_what_is_empty() {
    let server = shop().await;
    let client = Client::memory(&server);
    let resources = client.get("/api/v1").await.json();
    let maps = &resources["resources"][0];
    assert_eq!(maps["name"], "configmaps");
    assert_eq!(maps["shortNames"], json!(["cm"]));
    assert_eq!(maps.get("categories"), None);
    let form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let all = client.call("GET", "/apis", &[("accept", form)], "").await;
    assert_eq!(all.headers["vary"], "Accept");
    assert_eq!(all.headers["cache-control"], "public");
    assert_eq!(
        all.json()["items"][0]["versions"][0]["resources"][0]["responseKind"],
        json!({"group": "", "version": "", "kind": "DaemonSet"})
    );
    let unknown = [(
        "accept",
        "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList",
    )];
    let unknown = client.call("GET", "/apis", &unknown, "").await;
    assert_eq!(unknown.status, StatusCode::NOT_ACCEPTABLE);
    server.shutdown().await;
}

#[tokio::test]
async fn a_table_may_come_without_objects_and_a_bookmark_in_it_has_cells() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 2)).await;
    let none = client
        .call(
            "GET",
            &format!("{DEPLOYMENTS}?includeObject=None"),
            &TABLE,
            "",
        )
        .await;
    assert_eq!(none.json()["rows"][0].get("object"), Some(&Value::Null));
    let unknown = client
        .call(
            "GET",
            &format!("{DEPLOYMENTS}?includeObject=All"),
            &TABLE,
            "",
        )
        .await;
    insta::assert_snapshot!(unknown.refusal(), @r#"400 BadRequest: Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty"#);
    let streaming =
        "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let watch = client
        .send("GET", &format!("{DEPLOYMENTS}?{streaming}"), &TABLE, "")
        .await
        .unwrap();
    let mut watch = Watch::new(watch);
    assert_eq!(watch.event().await.unwrap()["type"], "ADDED");
    let bookmark = watch.event().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(
        bookmark["object"]["rows"][0]["cells"],
        json!(["", "0/0", 0, 0, "<unknown>", "", "", ""])
    );
    let form = [("accept", "application/json;as=Table;v=v7;g=meta.k8s.io")];
    let form = client.call("GET", DEPLOYMENTS, &form, "").await;
    insta::assert_snapshot!(form.refusal(), @"406 NotAcceptable: only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf");
    server.shutdown().await;
}

#[tokio::test]
async fn metadata_in_a_list_says_what_it_is() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 2)).await;
    let form = [(
        "accept",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    )];
    let list = client.call("GET", DEPLOYMENTS, &form, "").await.json();
    assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
    assert_eq!(list["items"][0]["apiVersion"], "meta.k8s.io/v1");
    server.shutdown().await;
}

#[tokio::test]
async fn some_kinds_are_answered_with_what_was_deleted() {
    let server = shop().await;
    let client = Client::memory(&server);
    let pod =
        json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "i"}]}});
    client.post("/api/v1/namespaces/shop/pods", &pod).await;
    let pod = client
        .delete("/api/v1/namespaces/shop/pods/a", &Value::Null)
        .await
        .json();
    assert_eq!(pod["kind"], "Pod");
    assert_eq!(pod["metadata"]["deletionGracePeriodSeconds"], 0);
    assert!(server.objects("pods").is_empty());
    client.post(MAPS, &json!({"metadata": {"name": "a"}})).await;
    let map = client
        .delete(&format!("{MAPS}/a"), &Value::Null)
        .await
        .json();
    assert_eq!(map["kind"], "Status");
    server.shutdown().await;
}

#[tokio::test]
async fn what_is_being_deleted_is_in_the_way_and_stays_marked() {
    let server = shop().await;
    let client = Client::memory(&server);
    let map = json!({"metadata": {"name": "a", "finalizers": ["example.com/a"]}});
    client.post(MAPS, &map).await;
    let path = format!("{MAPS}/a");
    let going = client.delete(&path, &Value::Null).await.json();
    insta::assert_snapshot!(client.post(MAPS, &map).await.refusal(), @r#"409 AlreadyExists: object is being deleted: configmaps "a" already exists"#);
    let by_hand = json!({"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}});
    let marked = client.patch(&path, MERGE, &by_hand).await;
    assert_eq!(marked.status, StatusCode::OK);
    let time = |object: &Value| object["metadata"]["deletionTimestamp"].clone();
    assert_eq!(time(&marked.json()), time(&going));
    server.shutdown().await;
}

#[tokio::test]
async fn a_namespace_has_words_of_its_own_for_preconditions() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = "/api/v1/namespaces/shop";
    let refused = client
        .delete(path, &json!({"preconditions": {"uid": "a"}}))
        .await;
    assert!(
        refused
            .refusal()
            .contains("Precondition failed: UID in precondition: a, UID in object meta: ")
    );
    let going = client.delete(path, &Value::Null).await.json();
    assert_eq!(going["metadata"].get("deletionGracePeriodSeconds"), None);
    server.shutdown().await;
}

#[tokio::test]
async fn a_scale_stays_where_its_path_says() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 2)).await;
    let path = format!("{DEPLOYMENTS}/web/scale");
    let refused = client
        .patch(&path, MERGE, &json!({"metadata": {"name": "api"}}))
        .await;
    insta::assert_snapshot!(refused.refusal(), @"400 BadRequest: the name of the object (api) does not match the name on the URL (web)");
    server.shutdown().await;
}

#[tokio::test]
async fn custom_resources_say_what_they_are_wherever_they_stand() {
    const TOY: Kind = Kind::new("example.com", "v1", "Toy", "toys").with_status();
    let server = SimApiServer::builder().kind(TOY).start().await.unwrap();
    add_shop(&server);
    let client = Client::memory(&server);
    let toys = "/apis/example.com/v1/namespaces/shop/toys";
    let made = client
        .post(toys, &json!({"metadata": {"name": "a"}, "spec": {"x": 1}}))
        .await
        .json();
    assert_eq!(made.get("status"), None);
    let list = client.get(toys).await.json();
    assert_eq!(list["items"][0]["kind"], "Toy");
    assert_eq!(list["metadata"]["continue"], "");
    insta::assert_snapshot!(client.get(&format!("{toys}/a/scale")).await.refusal(), @r#"404 NotFound: toys.example.com "a" not found"#);
    insta::assert_snapshot!(client.get(&format!("{toys}?fieldSelector=spec.x=1")).await.refusal(), @"400 BadRequest: field label not supported: spec.x");
    server.shutdown().await;
}

#[tokio::test]
async fn only_what_is_asked_for_in_full_is_answered() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(MAPS, &json!({"metadata": {"name": "a"}})).await;
    let any = client
        .call("GET", MAPS, &[("accept", "application/*")], "")
        .await;
    assert_eq!(any.status, StatusCode::NOT_ACCEPTABLE);
    let weighed = client
        .call(
            "GET",
            MAPS,
            &[("accept", "application/json;q=0.9, text/plain")],
            "",
        )
        .await;
    assert_eq!(weighed.status, StatusCode::OK);
    let export = client.get(&format!("{MAPS}/a?export=true")).await;
    assert_eq!(
        export.refusal(),
        "400 BadRequest: the export parameter, deprecated since v1.14, is no longer supported"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn openapi_is_named_and_varies_as_the_real_server_says() {
    let server = shop().await;
    let client = Client::memory(&server);
    let index = client.get("/openapi/v3").await;
    assert_eq!(index.headers["content-type"], "text/plain; charset=utf-8");
    let nothing = client.get("/openapi/v3/apis/nope.example/v1").await;
    assert_eq!(nothing.status, StatusCode::NOT_FOUND);
    assert_eq!(nothing.headers.get("content-type"), None);
    assert_eq!(nothing.text, "");
    let old = client.get("/openapi/v2").await;
    let varies: Vec<_> = old.headers.get_all("vary").iter().collect();
    assert_eq!(varies, ["Accept-Encoding", "Accept"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_container_status_has_states_and_a_pod_counts_its_gates() {
    let server = shop().await;
    let client = Client::memory(&server);
    let pods = "/api/v1/namespaces/shop/pods";
    let pod = json!({"metadata": {"name": "a"}, "spec": {"readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}],
        "containers": [{"name": "a", "image": "i"}]}});
    client.post(pods, &pod).await;
    let status = json!({"status": {"conditions": [{"type": "x", "status": "True"}],
        "containerStatuses": [{"name": "a", "state": {"running": {}}}]}});
    let pod = client
        .patch(&format!("{pods}/a/status"), MERGE, &status)
        .await
        .json();
    assert_eq!(
        pod["status"]["containerStatuses"][0],
        json!({"name": "a", "state": {"running": {"startedAt": null}}, "lastState": {}})
    );
    let table = client.call("GET", pods, &TABLE, "").await.json();
    assert_eq!(table["rows"][0]["cells"][8], "1/2");
    server.shutdown().await;
}
