//! `/openapi/v3`, and what `fieldValidation` does with fields that a kind does not have.

use serde_json::{Value, json};
use sim_apiserver::{Kind, SimApiServer};

use crate::client::{Answer, Client, DEPLOYMENTS, JSON_PATCH, MERGE, STRATEGIC, deployment, shop};

const GVK: &str = "x-kubernetes-group-version-kind";

/// A Deployment with two fields that there are not.
fn misspelt() -> Value {
    let mut web = deployment("web", 2);
    web["spec"]["replcas"] = 3.into();
    web["spec"]["template"]["spec"]["containers"][0]["imagee"] = "i".into();
    web
}

fn warnings(answer: &Answer) -> Vec<&str> {
    let values = answer.headers.get_all("warning").into_iter();
    values.map(|value| value.to_str().unwrap()).collect()
}

async fn url(client: &Client, document: &str) -> String {
    let index = client.get("/openapi/v3").await.json();
    let url = &index["paths"][document]["serverRelativeURL"];
    url.as_str().expect("a document's address").to_owned()
}

#[tokio::test]
async fn the_index_names_a_document_for_each_group_and_version() {
    let server = shop().await;
    for client in Client::both(&server) {
        let index = client.get("/openapi/v3").await.json();
        let paths: Vec<&String> = index["paths"].as_object().unwrap().keys().collect();
        assert_eq!(
            paths,
            [
                "api/v1",
                "apis/apps/v1",
                "apis/authentication.k8s.io/v1",
                "apis/authorization.k8s.io/v1",
                "apis/autoscaling/v1",
                "apis/autoscaling/v2",
                "apis/batch/v1",
                "apis/coordination.k8s.io/v1",
                "apis/events.k8s.io/v1",
                "apis/policy/v1"
            ]
        );
        for path in paths {
            let url = index["paths"][path]["serverRelativeURL"].as_str().unwrap();
            let answer = client.get(url).await;
            assert_eq!(answer.status, 200, "{url}");
            assert_eq!(answer.json()["openapi"], "3.0.0");
        }
        assert_eq!(client.get("/openapi/v3/apis/batch/v9").await.status, 404);
    }
}

#[tokio::test]
async fn every_patch_names_its_kind_and_the_parameters_of_a_write() {
    let server = shop().await;
    let client = Client::memory(&server);
    let mut seen = 0;
    for path in ["api/v1", "apis/apps/v1", "apis/autoscaling/v2"] {
        let document = client.get(&format!("/openapi/v3/{path}")).await.json();
        for (path, operations) in document["paths"].as_object().unwrap() {
            let patch = &operations["patch"];
            if patch.is_null() {
                continue;
            }
            assert!(patch[GVK]["kind"].is_string(), "{path}");
            let parameters = patch["parameters"].as_array().unwrap();
            let names: Vec<&Value> = parameters.iter().map(|one| &one["name"]).collect();
            assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation"]);
            seen += 1;
        }
    }
    // Namespace, Node, Pod, Service, DaemonSet and the autoscaler with status; ConfigMap, Event, Secret and
    // ServiceAccount; Deployment, ReplicaSet and StatefulSet with status and scale.
    assert_eq!(seen, 6 * 2 + 4 + 3 * 3);
    let document = client.get("/openapi/v3/apis/apps/v1").await.json();
    let path = "/apis/apps/v1/namespaces/{namespace}/deployments";
    let post = &document["paths"][path]["post"];
    assert_eq!(
        post[GVK],
        json!({"group": "apps", "version": "v1", "kind": "Deployment"})
    );
    let scale = &document["paths"][format!("{path}/{{name}}/scale")]["patch"];
    assert_eq!(
        scale[GVK],
        json!({"group": "autoscaling", "version": "v1", "kind": "Scale"})
    );
}

#[tokio::test]
async fn every_reference_of_a_document_leads_to_a_schema() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let server = shop().await;
    let client = Client::memory(&server);
    let index = client.get("/openapi/v3").await.json();
    for path in index["paths"].as_object().unwrap().keys() {
        let document = client.get(&format!("/openapi/v3/{path}")).await.json();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 10, "{path}");
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{path}: {reference}");
        }
    }
    let document = client.get("/openapi/v3/apis/apps/v1").await.json();
    let schemas = &document["components"]["schemas"];
    let kind = &schemas["io.k8s.api.apps.v1.Deployment"][GVK];
    assert_eq!(kind[0]["kind"], "Deployment");
    let containers = &schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"];
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
}

#[tokio::test]
async fn a_document_may_be_kept_under_its_hash_and_an_old_hash_leads_to_the_new_one() {
    let server = shop().await;
    let client = Client::memory(&server);
    let url = url(&client, "apis/apps/v1").await;
    let answer = client.get(&url).await;
    let kept = answer.headers["cache-control"].to_str().unwrap();
    assert!(kept.contains("immutable"), "{kept}");
    let answer = client.get("/openapi/v3/apis/apps/v1").await;
    assert!(!answer.headers.contains_key("cache-control"));
    let answer = client.get("/openapi/v3/apis/apps/v1?hash=0").await;
    assert_eq!(answer.status, 301);
    assert_eq!(answer.headers["location"], url.as_str());
}

#[tokio::test]
async fn a_custom_kind_has_a_document_that_knows_no_fields() {
    let kind = Kind::new("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects");
    let server = SimApiServer::builder().kind(kind).start().await.unwrap();
    let client = Client::memory(&server);
    let document = client.get("/openapi/v3/apis/keda.sh/v1alpha1").await.json();
    let patch = &document["paths"]["/apis/keda.sh/v1alpha1/namespaces/{namespace}/scaledobjects/{name}"]
        ["patch"];
    let content = patch["requestBody"]["content"].as_object().unwrap();
    let types: Vec<&String> = content.keys().collect();
    assert_eq!(types, [JSON_PATCH, MERGE]);
    let object = json!({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "any"},
        "spec": {"anything": 1}});
    let path = "/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects?fieldValidation=Strict";
    let answer = client.post(path, &object).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(answer.json()["spec"]["anything"], 1);
}

#[tokio::test]
async fn a_strict_create_refuses_unknown_fields() {
    let server = shop().await;
    let client = Client::memory(&server);
    let strict = format!("{DEPLOYMENTS}?fieldValidation=Strict");
    let answer = client.post(&strict, &misspelt()).await;
    insta::assert_snapshot!(answer.refusal(), @r#"400 BadRequest: Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.replcas", unknown field "spec.template.spec.containers[0].imagee""#);
    assert!(server.object("deployments", "shop", "web").is_none());
    assert_eq!(
        client.post(&strict, &deployment("web", 2)).await.status,
        201
    );
}

#[tokio::test]
async fn unknown_fields_are_dropped_and_told_of_unless_the_client_does_not_want_to_know() {
    let server = shop().await;
    let client = Client::memory(&server);
    for query in ["", "?fieldValidation=Warn"] {
        let answer = client
            .post(&format!("{DEPLOYMENTS}{query}"), &misspelt())
            .await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        assert_eq!(
            warnings(&answer),
            [
                r#"299 - "unknown field \"spec.replcas\"""#,
                r#"299 - "unknown field \"spec.template.spec.containers[0].imagee\"""#
            ]
        );
        assert_eq!(answer.json()["spec"].get("replcas"), None);
        assert!(server.remove("deployments", "shop", "web"));
    }
    let ignore = format!("{DEPLOYMENTS}?fieldValidation=Ignore");
    let answer = client.post(&ignore, &misspelt()).await;
    assert_eq!(answer.status, 201);
    assert!(warnings(&answer).is_empty());
    assert_eq!(answer.json()["spec"].get("replcas"), None);
}

#[tokio::test]
async fn a_strict_update_refuses_unknown_fields() {
    let server = shop().await;
    server.seed(deployment("web", 2));
    let client = Client::memory(&server);
    let answer = client
        .put(
            &format!("{DEPLOYMENTS}/web?fieldValidation=Strict"),
            &misspelt(),
        )
        .await;
    assert!(
        answer
            .refusal()
            .starts_with("400 BadRequest: Deployment in version")
    );
    let answer = client.put(&format!("{DEPLOYMENTS}/web"), &misspelt()).await;
    assert_eq!((answer.status.as_u16(), warnings(&answer).len()), (200, 2));
}

#[tokio::test]
async fn a_strict_patch_refuses_a_result_with_unknown_fields() {
    let server = shop().await;
    server.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "dev"}}));
    let client = Client::memory(&server);
    let strict = "/api/v1/namespaces/dev?fieldValidation=Strict";
    let patch = json!({"spec": {"replcas": 3, "list": [1, null]}});
    let answer = client.patch(strict, STRATEGIC, &patch).await;
    insta::assert_snapshot!(answer.refusal(), @r#"422 Invalid:  "" is invalid: patch: Invalid value: "map[spec:map[list:[1 <nil>] replcas:3]]": strict decoding error: unknown field "spec.list", unknown field "spec.replcas""#);
    let answer = client.patch(strict, MERGE, &json!({"extra": true})).await;
    let refusal = answer.refusal();
    assert!(
        refusal
            .starts_with(r#"422 Invalid:  "" is invalid: patch: Invalid value: "{\"apiVersion\""#),
        "{refusal}"
    );
    assert!(
        refusal.ends_with(r#"strict decoding error: unknown field "extra""#),
        "{refusal}"
    );
    // Taking away what is not there is no mistake.
    let answer = client.patch(strict, MERGE, &json!({"extra": null})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let warned = client
        .patch("/api/v1/namespaces/dev", MERGE, &json!({"extra": true}))
        .await;
    assert_eq!(warnings(&warned), [r#"299 - "unknown field \"extra\"""#]);
    assert_eq!(warned.json().get("extra"), None);
}

#[tokio::test]
async fn a_strict_scale_refuses_unknown_fields() {
    let server = shop().await;
    server.seed(deployment("web", 2));
    let client = Client::memory(&server);
    let path = format!("{DEPLOYMENTS}/web/scale");
    let patch = json!({"spec": {"replcas": 3}});
    let strict = format!("{path}?fieldValidation=Strict");
    let answer = client.patch(&strict, MERGE, &patch).await;
    assert_eq!(answer.status, 422, "{}", answer.text);
    let answer = client.patch(&path, MERGE, &patch).await;
    assert_eq!(
        warnings(&answer),
        [r#"299 - "unknown field \"spec.replcas\"""#]
    );
}

#[tokio::test]
async fn an_unknown_field_validation_is_refused() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = format!("{DEPLOYMENTS}?fieldValidation=strict");
    let answer = client.post(&path, &deployment("web", 2)).await;
    insta::assert_snapshot!(answer.refusal(), @r#"422 Invalid: CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn""#);
}

#[tokio::test]
async fn a_field_that_a_body_has_twice_is_refused_or_told_of_and_the_last_one_counts() {
    let server = shop().await;
    server.seed(deployment("web", 1));
    let client = Client::memory(&server);
    let body = r#"{"spec": {"replicas": 2, "replicas": 3}}"#;
    let path = format!("{DEPLOYMENTS}/web");
    let headers = [("content-type", MERGE)];
    let strict = format!("{path}?fieldValidation=Strict");
    let answer = client.call("PATCH", &strict, &headers, body).await;
    let refusal = answer.refusal();
    assert!(refusal.starts_with("422 Invalid"), "{refusal}");
    assert!(
        refusal.ends_with(r#"strict decoding error: duplicate field "spec.replicas""#),
        "{refusal}"
    );
    let answer = client.call("PATCH", &path, &headers, body).await;
    assert_eq!(
        warnings(&answer),
        [r#"299 - "duplicate field \"spec.replicas\"""#]
    );
    assert_eq!(answer.json()["spec"]["replicas"], 3);
}

/// kubectl reads it as protobuf and nothing else before it sends a `kind: List`.
#[tokio::test]
async fn the_older_format_defines_nothing_in_protobuf_and_in_json() {
    /// The fields of a message whose fields are all strings or messages shorter than 128 bytes.
    fn fields(mut message: &[u8]) -> Vec<(u8, &[u8])> {
        let mut found = Vec::new();
        while let [tag, length, rest @ ..] = message {
            assert_eq!(tag & 7, 2, "a string or a message");
            let (field, after) = rest.split_at(usize::from(*length));
            found.push((tag >> 3, field));
            message = after;
        }
        assert!(message.is_empty());
        found
    }
    let server = shop().await;
    let client = Client::memory(&server);
    let accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let answer = client
        .call("GET", "/openapi/v2", &[("accept", accept)], "")
        .await;
    assert_eq!(
        answer.headers["content-type"],
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    );
    let document = fields(answer.text.as_bytes());
    let [(1, version), (2, info), (8, paths)] = document.as_slice() else {
        panic!("{document:?}");
    };
    assert_eq!((*version, *paths), (b"2.0".as_slice(), b"".as_slice()));
    let info = fields(info);
    assert_eq!(info, [(1, b"Kubernetes".as_slice()), (2, b"unversioned")]);
    let document = client.get("/openapi/v2").await.json();
    assert_eq!(document["swagger"], "2.0");
    assert_eq!(document["paths"], json!({}));
}

#[tokio::test]
async fn a_refused_write_tells_of_unknown_fields_too() {
    let server = shop().await;
    let client = Client::memory(&server);
    let mut web = deployment("Bad_Name", 1);
    web["extra"] = 1.into();
    let refused = client.post(DEPLOYMENTS, &web).await;
    assert_eq!(refused.status, 422);
    assert_eq!(
        refused.headers["warning"],
        r#"299 - "unknown field \"extra\"""#
    );
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let patch = json!({"extra": 1, "metadata": {"name": "other"}});
    let refused = client
        .patch(&format!("{DEPLOYMENTS}/web"), MERGE, &patch)
        .await;
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.headers["warning"],
        r#"299 - "unknown field \"extra\"""#
    );
    web["metadata"]["name"] = "other".into();
    let refused = client.put(&format!("{DEPLOYMENTS}/web"), &web).await;
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.headers["warning"],
        r#"299 - "unknown field \"extra\"""#
    );
    server.shutdown().await;
}
