//! Bodies in YAML and Protobuf.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::StatusCode;
use serde_json::json;

use crate::client::{Answer, Client, DEPLOYMENTS, deployment, shop};

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";
const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// What a real kubectl 1.32 sent for `create deployment web --image=nginx:1 --replicas=0 --port=80`, but for
/// the namespace.
const DEPLOYMENT: &str = "azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EroBCh8KA3dlYhIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEogBCAASDAoKCgNh\
    cHASA3dlYhpuChwKABIAGgAiACoAMgA4AEIAWgoKA2FwcBIDd2ViEk4SMAoFbmdpbngSB25naW54OjEqADIKCgAQABhQIgAqAEIAagByAIABAIgBAJ\
    ABAKIBABoAMgBCAEoAUgBYAGAAaACCAQCKAQCaAQDCAQAiAgoAKAA4ABoMCAAQABgAIAAoADgAGgAiAA==";

/// And for `delete pod p --cascade=orphan`, in Protobuf: field 4 is the policy.
const ORPHAN: &[u8] = b"k8s\0\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions\x12\x08\x22\x06Orphan";

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    kind: &str,
    body: impl Into<Vec<u8>>,
) -> Answer {
    client
        .call(method, path, &[("content-type", kind)], body.into())
        .await
}

#[tokio::test]
async fn an_object_is_created_and_replaced_in_yaml() {
    let server = shop().await;
    for client in Client::both(&server) {
        let body = "# comment\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata: {a: b}\n---\nkind: [";
        let created = send(&client, "POST", MAPS, YAML, body).await;
        assert_eq!(created.status, StatusCode::CREATED, "{}", created.text);
        assert_eq!(created.headers["content-type"], "application/json");
        assert_eq!(created.json()["data"], json!({"a": "b"}));
        let body = "metadata: {name: m}\ndata:\n  a: |\n    two\n    lines\n";
        let replaced = send(&client, "PUT", &format!("{MAPS}/m"), YAML, body).await;
        assert_eq!(replaced.status, StatusCode::OK, "{}", replaced.text);
        assert_eq!(replaced.json()["data"]["a"], "two\nlines\n");
        let options = "propagationPolicy: Orphan\ndryRun: [All]\n";
        let deleted = send(&client, "DELETE", &format!("{MAPS}/m"), YAML, options).await;
        assert_eq!(deleted.json()["metadata"]["finalizers"], json!(["orphan"]));
        assert!(
            server.object("configmaps", "shop", "m").is_some(),
            "a dry run"
        );
        server.remove("configmaps", "shop", "m");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_key_that_yaml_has_twice_is_told_of_with_its_line() {
    let server = shop().await;
    let client = Client::memory(&server);
    let body = "metadata:\n  name: twice\ndata: {a: b}\ndata:\n  a: c\n  a: d\nfoo: 1\n";
    let path = |validation: &str| format!("{MAPS}?dryRun=All&fieldValidation={validation}");
    let warned = send(&client, "POST", &path("Warn"), YAML, body).await;
    let warnings: Vec<&str> = warned
        .headers
        .get_all("warning")
        .iter()
        .map(|w| w.to_str().unwrap())
        .collect();
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    299 - "line 6: key \"a\" already set in map"
    299 - "line 4: key \"data\" already set in map"
    299 - "unknown field \"foo\""
    "#);
    assert_eq!(warned.json()["data"], json!({"a": "d"}));
    let strict = send(&client, "POST", &path("Strict"), YAML, body).await;
    insta::assert_snapshot!(strict.refusal(), @r#"
    400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:
      line 6: key "a" already set in map
      line 4: key "data" already set in map, unknown field "foo"
    "#);
    let ignored = send(&client, "POST", &path("Ignore"), YAML, body).await;
    assert_eq!(ignored.headers.get("warning"), None);
    server.shutdown().await;
}

#[tokio::test]
async fn yaml_that_cannot_be_read_is_refused() {
    let server = shop().await;
    let client = Client::memory(&server);
    let refusal = async |body: &str| send(&client, "POST", MAPS, YAML, body).await.refusal();
    insta::assert_snapshot!(refusal("metadata:\n\tname: x\n").await, @"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): yaml: line 2: tabs disallowed within this context (block indentation) (6d657461646174613a0a096e616d653a20780a)");
    insta::assert_snapshot!(refusal("- a\n").await, @r#"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (2d20610a)"#);
    insta::assert_snapshot!(refusal("").await, @r#"422 Invalid: ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required"#);
    insta::assert_snapshot!(refusal("metadata: {name: yes}\n").await, @r#"400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.name of type string"#);
    let options = send(&client, "DELETE", &format!("{MAPS}/x"), YAML, "foo: [").await;
    insta::assert_snapshot!(options.refusal(), @"400 BadRequest: yaml: line 1: unclosed bracket '['");
    server.shutdown().await;
}

#[tokio::test]
async fn what_kubectl_sends_in_protobuf_is_created() {
    let server = shop().await;
    let body = STANDARD.decode(DEPLOYMENT).unwrap();
    let headers = [
        ("content-type", PROTOBUF),
        (
            "accept",
            "application/vnd.kubernetes.protobuf,application/json",
        ),
    ];
    for client in Client::both(&server) {
        let created = client
            .call("POST", DEPLOYMENTS, &headers, body.clone())
            .await;
        assert_eq!(created.status, StatusCode::CREATED, "{}", created.text);
        assert_eq!(created.headers["content-type"], "application/json");
        let created = created.json();
        assert_eq!(
            created["spec"]["replicas"], 0,
            "a zero that was sent is no default"
        );
        let container = &created["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(
            container["ports"],
            json!([{"containerPort": 80, "protocol": "TCP"}])
        );
        assert_eq!(
            container.get("stdin"),
            None,
            "a zero that Go always sends is none"
        );
        // A server that only knew Protobuf could not answer.
        let only = [("content-type", PROTOBUF), ("accept", PROTOBUF)];
        let refused = client.call("POST", DEPLOYMENTS, &only, body.clone()).await;
        assert_eq!(refused.status, StatusCode::NOT_ACCEPTABLE);
        let deleted = client
            .call("DELETE", &format!("{DEPLOYMENTS}/web"), &headers, ORPHAN)
            .await;
        assert_eq!(deleted.json()["metadata"]["finalizers"], json!(["orphan"]));
    }
    server.shutdown().await;
}

#[tokio::test]
async fn protobuf_that_cannot_be_read_is_refused() {
    let server = shop().await;
    let client = Client::memory(&server);
    let refusal = async |body: &[u8]| send(&client, "POST", MAPS, PROTOBUF, body).await.refusal();
    insta::assert_snapshot!(refusal(b"").await, @"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)");
    insta::assert_snapshot!(refusal(b"{}").await, @"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({})");
    insta::assert_snapshot!(refusal(b"k8s\0\x0a").await, @"400 BadRequest: the object provided is unrecognized (must be of type ConfigMap): unexpected EOF (6b3873000a)");
    let message = |kind: &[u8], raw: &[u8]| {
        let meta = [
            b"\x0a\x02v1\x12",
            [u8::try_from(kind.len()).unwrap()].as_slice(),
            kind,
        ]
        .concat();
        [
            b"k8s\0\x0a",
            [u8::try_from(meta.len()).unwrap()].as_slice(),
            &meta,
            b"\x12",
            [u8::try_from(raw.len()).unwrap()].as_slice(),
            raw,
        ]
        .concat()
    };
    insta::assert_snapshot!(refusal(&message(b"ConfigMap", b"\x0a\x09")).await, @r#"400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF"#);
    insta::assert_snapshot!(refusal(&message(b"ConfigMap", b"\x08\x01")).await, @r#"400 BadRequest: ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field ObjectMeta"#);
    insta::assert_snapshot!(refusal(&message(b"Secret", b"")).await, @r#"400 BadRequest: Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion"#);
    insta::assert_snapshot!(refusal(&message(b"Nothing", b"")).await, @r#"400 BadRequest: Nothing in version "v1" cannot be handled as a ConfigMap: no kind "Nothing" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111""#);
    server.shutdown().await;
}

#[tokio::test]
async fn a_media_type_is_read_in_any_case_and_without_its_parameters() {
    let server = shop().await;
    let client = Client::memory(&server);
    let maps = "/api/v1/namespaces/shop/configmaps";
    for content_type in ["APPLICATION/JSON", "Application/Yaml; charset=utf-8"] {
        let headers = [("content-type", content_type)];
        let body = r#"{"metadata": {"generateName": "a-"}}"#;
        let created = client.call("POST", maps, &headers, body).await;
        assert_eq!(created.status, StatusCode::CREATED, "{content_type}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn other_media_types_are_refused_with_those_that_are_taken() {
    const SCALED: sim_apiserver::Kind =
        sim_apiserver::Kind::new("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects");
    let server = sim_apiserver::SimApiServer::builder()
        .kind(SCALED)
        .start()
        .await
        .unwrap();
    crate::client::add_shop(&server);
    let client = Client::memory(&server);
    let path = "/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects";
    insta::assert_snapshot!(send(&client, "POST", path, PROTOBUF, "k8s").await.refusal(), @"415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml");
    insta::assert_snapshot!(send(&client, "DELETE", &format!("{MAPS}/x"), "text/plain", "{}").await.refusal(), @"415 UnsupportedMediaType: the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf");
    let apply = format!("{DEPLOYMENTS}/web?fieldManager=m");
    let body = deployment("web", 1).to_string();
    let refused = send(
        &client,
        "PATCH",
        &apply,
        "application/apply-patch+yaml",
        body,
    )
    .await;
    insta::assert_snapshot!(refused.refusal(), @"415 UnsupportedMediaType: 415: Unsupported Media Type");
    let created = send(
        &client,
        "POST",
        path,
        YAML,
        "kind: ScaledObject\nmetadata: {name: s}\nspec: {any: thing}\n",
    )
    .await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.text);
    server.shutdown().await;
}
