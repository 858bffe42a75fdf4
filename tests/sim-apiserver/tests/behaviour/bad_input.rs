//! What the server refuses, and in which words: each as a real kube-apiserver 1.36.1 answers it.

use http::StatusCode;
use serde_json::{Value, json};

use crate::client::{Answer, Client, DEPLOYMENTS, JSON_PATCH, MERGE, deployment, shop};

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";
const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

/// A refusal without the examples and patterns that the real server repeats in each.
fn short(answer: &Answer) -> String {
    let mut refusal = answer.refusal();
    while let Some(start) = refusal.find(" (e.g. ") {
        let end = refusal[start..]
            .find("')")
            .map_or(refusal.len(), |end| start + end + 2);
        refusal.replace_range(start..end, "");
    }
    refusal
}

async fn with_map() -> (sim_apiserver::SimApiServer, Client) {
    let server = shop().await;
    let client = Client::memory(&server);
    assert_eq!(
        client
            .post(MAPS, &json!({"metadata": {"name": "a"}}))
            .await
            .status,
        StatusCode::CREATED
    );
    (server, client)
}

#[tokio::test]
async fn an_object_stays_where_its_path_says() {
    let (server, client) = with_map().await;
    let path = format!("{MAPS}/a");
    let nowhere = format!("{MAPS}/b");
    let put = async |path: &str, body: Value| short(&client.put(path, &body).await);
    insta::assert_snapshot!(put(&path, json!({"data": {"a": "1"}})).await, @"400 BadRequest: the name of the object (a based on URL) was undeterminable: name must be provided");
    insta::assert_snapshot!(put(&path, json!({"metadata": {"name": "b"}})).await, @"400 BadRequest: the name of the object (b) does not match the name on the URL (a)");
    insta::assert_snapshot!(put(&path, json!({"metadata": {"name": "a", "namespace": "b"}})).await, @"400 BadRequest: the namespace of the provided object does not match the namespace sent on the request");
    insta::assert_snapshot!(put(&nowhere, json!({"metadata": {"name": "a"}})).await, @"400 BadRequest: the name of the object (a) does not match the name on the URL (b)");
    insta::assert_snapshot!(put(&nowhere, json!({"metadata": {"name": "b"}})).await, @r#"404 NotFound: configmaps "b" not found"#);
    let patch = async |body: Value| client.patch(&path, MERGE, &body).await;
    insta::assert_snapshot!(short(&patch(json!({"metadata": null})).await), @"400 BadRequest: the name of the object (a based on URL) was undeterminable: name must be provided");
    insta::assert_snapshot!(short(&patch(json!({"metadata": {"name": "b"}})).await), @"400 BadRequest: the name of the object (b) does not match the name on the URL (a)");
    insta::assert_snapshot!(short(&patch(json!({"metadata": {"namespace": "b"}})).await), @"400 BadRequest: the namespace of the provided object does not match the namespace sent on the request");

    // The namespace may be left out: it is that of the path.
    let left_out = client
        .put(
            &path,
            &json!({"metadata": {"name": "a"}, "data": {"x": "y"}}),
        )
        .await;
    assert_eq!(left_out.json()["metadata"]["namespace"], "shop");
    assert_eq!(
        patch(json!({"metadata": {"namespace": null}})).await.json()["metadata"]["namespace"],
        "shop"
    );
    let scale = format!("{DEPLOYMENTS}/web/scale");
    insta::assert_snapshot!(put(&scale, json!({"metadata": {"name": "api"}})).await, @"400 BadRequest: the name of the object (api) does not match the name on the URL (web)");
    assert_eq!(server.objects("configmaps").len(), 1);
    server.shutdown().await;
}

#[tokio::test]
async fn preconditions_that_do_not_hold_are_conflicts() {
    let (server, client) = with_map().await;
    let path = format!("{MAPS}/a");
    let uid = server.object("configmaps", "shop", "a").unwrap()["metadata"]["uid"]
        .as_str()
        .unwrap()
        .to_owned();
    let revision = server.object("configmaps", "shop", "a").unwrap()["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned();
    let hide = |answer: Answer| {
        short(&answer)
            .replace(&uid, "UID")
            .replace(&format!("({revision})"), "(NOW)")
    };
    let named = |field: &str, value: &str| json!({"metadata": {"name": "a", field: value}});
    insta::assert_snapshot!(hide(client.put(&path, &named("resourceVersion", "1")).await), @r#"409 Conflict: Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again"#);
    insta::assert_snapshot!(hide(client.put(&path, &named("resourceVersion", "x")).await), @r#"500 : strconv.ParseUint: parsing "x": invalid syntax"#);
    insta::assert_snapshot!(hide(client.put(&path, &named("uid", "x")).await), @r#"409 Conflict: Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/shop/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: UID"#);
    insta::assert_snapshot!(hide(client.patch(&path, MERGE, &named("resourceVersion", "1")).await), @r#"409 Conflict: Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again"#);
    insta::assert_snapshot!(hide(client.patch(&path, MERGE, &named("uid", "x")).await), @r#"422 Invalid: ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable"#);
    let both = json!({"preconditions": {"uid": "x", "resourceVersion": "1"}});
    insta::assert_snapshot!(hide(client.delete(&path, &both).await), @r#"409 Conflict: Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (UID). The object might have been deleted and then recreated"#);
    let old = json!({"preconditions": {"resourceVersion": "1"}});
    insta::assert_snapshot!(hide(client.delete(&path, &old).await), @r#"409 Conflict: Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (NOW). The object might have been modified"#);
    insta::assert_snapshot!(hide(client.delete(&path, &json!({"dryRun": ["Some"]})).await), @r#"422 Invalid: DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All""#);
    insta::assert_snapshot!(hide(client.delete(&path, &json!({"gracePeriodSeconds": "x"})).await), @"400 BadRequest: json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64");
    insta::assert_snapshot!(hide(client.delete(&path, &json!({"kind": "ConfigMap", "apiVersion": "v1"})).await), @r#"400 BadRequest: no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111""#);
    assert_eq!(server.objects("configmaps").len(), 1);
    server.shutdown().await;
}

#[tokio::test]
async fn patches_that_make_another_kind_or_nothing_are_refused() {
    let (server, client) = with_map().await;
    let path = format!("{MAPS}/a");
    for (kind, patch, end) in [
        (
            MERGE,
            json!({"kind": "Secret"}),
            "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        ),
        (
            MERGE,
            json!({"apiVersion": "v2"}),
            r#"no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111""#,
        ),
        (
            MERGE,
            json!({"data": {"x": 1}}),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            JSON_PATCH,
            json!([{"op": "replace", "path": "", "value": "x"}]),
            "error in our request",
        ),
        (
            JSON_PATCH,
            json!([{"op": "frob", "path": "/x"}]),
            "error in our request",
        ),
        (
            JSON_PATCH,
            json!([{"op": "remove"}]),
            "error in our request",
        ),
        (
            JSON_PATCH,
            json!([{"op": "remove", "path": "/data/none"}]),
            "error in our request",
        ),
    ] {
        let refusal = client.patch(&path, kind, &patch).await.refusal();
        assert!(
            refusal.starts_with("422 Invalid: ") && refusal.ends_with(end),
            "{patch}: {refusal}"
        );
    }
    let broken = |body: &'static str| client.call("PATCH", &path, &[("content-type", MERGE)], body);
    insta::assert_snapshot!(broken("").await.refusal(), @"400 BadRequest: error decoding patch: unexpected end of JSON input");
    insta::assert_snapshot!(broken("[1]").await.refusal(), @"400 BadRequest: error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}");
    server.shutdown().await;
}

#[tokio::test]
async fn json_that_is_no_object_is_refused() {
    let server = shop().await;
    let client = Client::memory(&server);
    let refusal = async |body: &'static str| client.call("POST", MAPS, &JSON, body).await.refusal();
    insta::assert_snapshot!(refusal("").await, @"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)");
    insta::assert_snapshot!(refusal(r#"{"metadata":{"na"#).await, @r#"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({"metadata":{"na)"#);
    insta::assert_snapshot!(refusal("[]").await, @r#"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (5b5d)"#);
    insta::assert_snapshot!(refusal("null").await, @r#"422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required"#);
    insta::assert_snapshot!(refusal(r#"{"kind": 1}"#).await, @r#"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind": 1})"#);
    insta::assert_snapshot!(refusal(r#"{"kind": "Secret"}"#).await, @r#"400 BadRequest: Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion"#);
    insta::assert_snapshot!(refusal(r#"{"metadata": {"name": 1}}"#).await, @r#"400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"#);
    insta::assert_snapshot!(refusal(r#"{"metadata": "x"}"#).await, @r#"400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"#);
    let large = format!(
        r#"{{"metadata":{{"name":"x"}},"data":{{"a":"{}"}}}}"#,
        "x".repeat(3 << 20)
    );
    let refused = client.call("POST", MAPS, &JSON, large).await;
    insta::assert_snapshot!(refused.refusal(), @"413 RequestEntityTooLarge: Request entity too large: limit is 3145728");
    server.shutdown().await;
}

#[tokio::test]
async fn names_have_to_be_names() {
    let server = shop().await;
    let client = Client::memory(&server);
    let long = "a".repeat(254);
    for name in ["A", "a_b", "-a", "a/b", "..", "a b", "ü"] {
        let refusal = short(
            &client
                .post(MAPS, &json!({"metadata": {"name": name}}))
                .await,
        );
        assert!(
            refusal.contains("a lowercase RFC 1123 subdomain must consist of"),
            "{name}: {refusal}"
        );
    }
    let hide = |answer: Answer| short(&answer).replace(&long, "LONG");
    let post =
        async |metadata: Value| hide(client.post(MAPS, &json!({"metadata": metadata})).await);
    insta::assert_snapshot!(post(json!({"name": long})).await, @r#"422 Invalid: ConfigMap "LONG" is invalid: metadata.name: Invalid value: "LONG": must be no more than 253 characters"#);
    insta::assert_snapshot!(post(json!({"name": "x", "generateName": long})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.generateName: Invalid value: "LONG": must be no more than 253 characters"#);
    insta::assert_snapshot!(post(json!({})).await, @r#"422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required"#);
    let namespace = json!({"metadata": {"name": "a.b"}});
    insta::assert_snapshot!(hide(client.post("/api/v1/namespaces", &namespace).await), @r#"422 Invalid: Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots"#);
    let longest = json!({"metadata": {"name": "a".repeat(253)}});
    assert_eq!(
        client.post(MAPS, &longest).await.status,
        StatusCode::CREATED
    );
    server.shutdown().await;
}

#[tokio::test]
async fn metadata_is_checked() {
    let server = shop().await;
    let client = Client::memory(&server);
    let long = "a".repeat(254);
    let post = async |metadata: Value| {
        let mut metadata = metadata;
        metadata["name"] = "x".into();
        let answer = client
            .post(
                &format!("{MAPS}?dryRun=All"),
                &json!({"metadata": metadata}),
            )
            .await;
        short(&answer)
            .replace(&long, "LONG")
            .replace(&long[..64], "LONGER")
    };
    insta::assert_snapshot!(post(json!({"labels": {"a b": "x"}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"#);
    insta::assert_snapshot!(post(json!({"labels": {"a/b/c": "x"}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.labels: Invalid value: "a/b/c": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character with an optional DNS subdomain prefix and '/'"#);
    insta::assert_snapshot!(post(json!({"labels": {"/b": "x"}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.labels: Invalid value: "/b": prefix part must be non-empty"#);
    insta::assert_snapshot!(post(json!({"labels": {format!("{long}/b"): "x"}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.labels: Invalid value: "LONG/b": prefix part must be no more than 253 bytes"#);
    insta::assert_snapshot!(post(json!({"labels": {&long[..64]: "x"}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.labels: Invalid value: "LONGER": name part must be no more than 63 bytes"#);
    insta::assert_snapshot!(post(json!({"labels": {"": "x"}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: [metadata.labels: Invalid value: "": name part must be non-empty, metadata.labels: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character]"#);
    insta::assert_snapshot!(post(json!({"labels": {"a": "-x"}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.labels: Invalid value: "-x": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"#);
    insta::assert_snapshot!(post(json!({"labels": {"a": &long[..64]}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.labels: Invalid value: "LONGER": must be no more than 63 bytes"#);
    insta::assert_snapshot!(post(json!({"annotations": {"a b": "any thing"}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.annotations: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"#);
    insta::assert_snapshot!(post(json!({"annotations": {"a": "x".repeat(256 << 10)}})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes"#);
    insta::assert_snapshot!(post(json!({"finalizers": ["nope", "a.b/c"]})).await, @r#"422 Invalid: ConfigMap "x" is invalid: metadata.finalizers[0]: Invalid value: "nope": name is neither a standard finalizer name nor is it fully qualified"#);
    insta::assert_snapshot!(post(json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod"}]})).await, @r#"422 Invalid: ConfigMap "x" is invalid: [metadata.ownerReferences.name: Invalid value: "": must not be empty, metadata.ownerReferences.uid: Invalid value: "": must not be empty]"#);
    let owner =
        json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true});
    let twice = post(json!({"ownerReferences": [owner, owner]})).await;
    assert!(twice.ends_with(r#"Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/p"#), "{twice}");
    server.shutdown().await;
}

#[tokio::test]
async fn options_are_checked() {
    let server = shop().await;
    let client = Client::memory(&server);
    let post = async |query: &str| {
        client
            .post(
                &format!("{MAPS}?{query}"),
                &json!({"metadata": {"name": "x"}}),
            )
            .await
            .refusal()
    };
    insta::assert_snapshot!(post("dryRun=Some").await, @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All""#);
    insta::assert_snapshot!(post("fieldValidation=Some").await, @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Some": supported values: "", "Ignore", "Strict", "Warn""#);
    insta::assert_snapshot!(post(&format!("fieldManager={}", "a".repeat(129))).await, @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes"#);
    insta::assert_snapshot!(post("fieldManager=%01").await, @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "\x01": invalid character U+0001 (at position 0)"#);
    insta::assert_snapshot!(client.get(&format!("{MAPS}?fieldSelector=data=x")).await.refusal(), @r#"400 BadRequest: "data" is not a known field selector: only "metadata.name", "metadata.namespace""#);
    insta::assert_snapshot!(client.get(&format!("{MAPS}?limit=x")).await.refusal(), @r#"400 BadRequest: strconv.ParseInt: parsing "x": invalid syntax"#);
    server.shutdown().await;
}

#[tokio::test]
async fn paths_and_verbs_that_there_are_not_are_refused() {
    let (server, client) = with_map().await;
    assert_eq!(
        client.post(DEPLOYMENTS, &deployment("web", 1)).await.status,
        StatusCode::CREATED
    );
    let deployment = format!("{DEPLOYMENTS}/web");
    let map = format!("{MAPS}/a");
    for (method, path) in [
        ("POST", map.as_str()),
        ("PUT", MAPS),
        ("PATCH", MAPS),
        ("TRACE", MAPS),
        ("OPTIONS", MAPS),
        ("HEAD", MAPS),
        ("POST", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/configmaps"),
        ("DELETE", "/api/v1/namespaces"),
        ("POST", &format!("{deployment}/scale")),
        ("DELETE", &format!("{deployment}/status")),
    ] {
        let headers = [(
            "content-type",
            if method == "PATCH" { MERGE } else { JSON[0].1 },
        )];
        let refused = client.call(method, path, &headers, "{}").await;
        assert_eq!(
            refused.status,
            StatusCode::METHOD_NOT_ALLOWED,
            "{method} {path}: {}",
            refused.text
        );
        if method != "HEAD" {
            assert_eq!(
                refused.json()["reason"],
                "MethodNotAllowed",
                "{method} {path}"
            );
        }
    }
    for path in [
        "/api/v1/nothing",
        "/api/v2/pods",
        "/apis/apps/v2/deployments",
        "/apis/apps/v1/namespaces/shop/nothing/x",
        "/apis/apps/v1/deployments/web",
        "/api/v1/namespaces/shop/deployments",
        "/api/v1/namespaces/shop/namespaces",
        "/api/v1/namespaces/shop/nodes",
        &format!("{map}/status"),
        &format!("{map}/b/c"),
    ] {
        let refused = client.get(path).await;
        assert_eq!(
            refused.refusal(),
            "404 NotFound: the server could not find the requested resource",
            "{path}"
        );
    }
    for path in [
        "/apis/nothing/v1/x",
        "/apis/nothing",
        "/nothing",
        "/readyz/nothing",
    ] {
        let refused = client.get(path).await;
        assert_eq!(
            (refused.status.as_u16(), refused.text.as_str()),
            (404, "404 page not found\n"),
            "{path}"
        );
    }
    let checked = client.get("/readyz?verbose").await.text;
    assert!(
        checked.starts_with("[+]ping ok\n") && checked.ends_with("readyz check passed\n"),
        "{checked}"
    );
    server.shutdown().await;
}
