//! Lists: pages, selectors, resource versions, tables.

use serde_json::{Value, json};

use crate::client::{Client, DEPLOYMENTS, deployment, shop};

fn names(list: &Value) -> Vec<&str> {
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn an_empty_list_is_a_list() {
    let server = shop().await;
    for client in Client::both(&server) {
        let list = client.get(DEPLOYMENTS).await;
        assert_eq!(
            list.text,
            format!(
                "{{\"kind\":\"DeploymentList\",\"apiVersion\":\"apps/v1\",\"metadata\":{{\"resourceVersion\":\"{}\"}},\
                 \"items\":[]}}\n",
                server.revision()
            )
        );
        assert_eq!(list.headers["content-type"], "application/json");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn pages_show_the_state_of_the_first_one() {
    let server = shop().await;
    for name in ["a", "b", "c", "d", "e"] {
        server.seed(deployment(name, 1));
    }
    for client in Client::both(&server) {
        let first = client.get(&format!("{DEPLOYMENTS}?limit=2")).await.json();
        assert_eq!(names(&first), ["a", "b"]);
        assert_eq!(first["metadata"]["remainingItemCount"], 3);
        assert_eq!(
            first["items"][0].get("kind"),
            None,
            "items of a typed list have no kind"
        );

        server.remove("deployments", "shop", "c");
        server.seed(deployment("bb", 1));
        server.mutate("deployments", "shop", "d", |d| {
            d["spec"]["replicas"] = 9.into();
        });

        let token = first["metadata"]["continue"].as_str().unwrap();
        let second = client
            .get(&format!("{DEPLOYMENTS}?limit=2&continue={token}"))
            .await
            .json();
        assert_eq!(names(&second), ["c", "d"]);
        assert_eq!(second["items"][1]["spec"]["replicas"], 1);
        assert_eq!(
            second["metadata"]["resourceVersion"],
            first["metadata"]["resourceVersion"]
        );
        assert_eq!(second["metadata"]["remainingItemCount"], 1);
        let token = second["metadata"]["continue"].as_str().unwrap();
        let third = client
            .get(&format!("{DEPLOYMENTS}?limit=2&continue={token}"))
            .await
            .json();
        assert_eq!(names(&third), ["e"]);
        assert_eq!(third["metadata"].get("continue"), None);

        server.remove("deployments", "shop", "bb");
        server.seed(deployment("c", 1));
        server.seed(deployment("d", 1));
    }
    server.shutdown().await;
}

/// C-35: the token of page two has expired; the refusal holds a fresh one that goes on at the present state.
#[tokio::test]
async fn an_expired_token_is_answered_with_a_fresh_one() {
    let server = shop().await;
    for name in ["a", "b", "c"] {
        server.seed(deployment(name, 1));
    }
    let client = Client::memory(&server);
    let first = client.get(&format!("{DEPLOYMENTS}?limit=2")).await.json();
    server.seed(deployment("d", 1));
    server.expire_history();
    let token = first["metadata"]["continue"].as_str().unwrap();
    let expired = client
        .get(&format!("{DEPLOYMENTS}?limit=2&continue={token}"))
        .await;
    insta::assert_snapshot!(expired.refusal(), @"410 Expired: The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.");
    let expired = expired.json();
    let token = expired["metadata"]["continue"].as_str().unwrap();
    let rest = client
        .get(&format!("{DEPLOYMENTS}?limit=2&continue={token}"))
        .await
        .json();
    assert_eq!(names(&rest), ["c", "d"]);
    assert_eq!(
        rest["metadata"]["resourceVersion"],
        server.revision().to_string()
    );
    server.shutdown().await;
}

#[tokio::test]
async fn selectors_narrow_a_list() {
    let server = shop().await;
    let client = Client::memory(&server);
    server.seed(deployment("web", 1));
    let mut plain = deployment("plain", 1);
    plain["metadata"].as_object_mut().unwrap().remove("labels");
    server.seed(plain);
    for (query, selected) in [
        ("labelSelector=demo/min-replicas", vec!["web"]),
        ("labelSelector=demo%2Fmin-replicas%3Dtrue", vec!["web"]),
        ("labelSelector=!demo/min-replicas", vec!["plain"]),
        ("fieldSelector=metadata.name%3Dplain", vec!["plain"]),
        (
            "fieldSelector=metadata.name!%3Dplain,metadata.namespace%3Dshop",
            vec!["web"],
        ),
        ("labelSelector=demo/min-replicas&limit=1", vec!["web"]),
    ] {
        let list = client.get(&format!("{DEPLOYMENTS}?{query}")).await.json();
        assert_eq!(names(&list), selected, "{query}");
        assert_eq!(list["metadata"].get("remainingItemCount"), None, "{query}");
    }
    insta::assert_snapshot!(client.get(&format!("{DEPLOYMENTS}?labelSelector=a+b")).await.refusal(), @"400 BadRequest: unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
    let by_replicas = format!("{DEPLOYMENTS}?fieldSelector=spec.replicas%3D1");
    insta::assert_snapshot!(client.get(&by_replicas).await.refusal(), @r#"400 BadRequest: "spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace""#);
    let pods = "/api/v1/pods?fieldSelector=spec.image%3Dx";
    insta::assert_snapshot!(client.get(pods).await.refusal(), @"400 BadRequest: field label not supported: spec.image");
    server.shutdown().await;
}

#[tokio::test]
async fn resource_versions_are_read_as_the_server_reads_them() {
    let server = shop().await;
    let client = Client::memory(&server);
    server.seed(deployment("a", 1));
    let then = server.revision();
    server.seed(deployment("b", 1));
    let get = async |query: String| client.get(&format!("{DEPLOYMENTS}?{query}")).await;

    // The watch cache answers 0 whole, whatever the limit.
    assert_eq!(
        names(&get("resourceVersion=0&limit=1".to_owned()).await.json()),
        ["a", "b"]
    );
    let newer = get(format!(
        "resourceVersion={then}&resourceVersionMatch=NotOlderThan"
    ))
    .await
    .json();
    assert_eq!(names(&newer), ["a", "b"]);
    let exact = get(format!("resourceVersion={then}&resourceVersionMatch=Exact"))
        .await
        .json();
    assert_eq!(names(&exact), ["a"]);
    assert_eq!(exact["metadata"]["resourceVersion"], then.to_string());
    let legacy = get(format!("resourceVersion={then}&limit=5")).await.json();
    assert_eq!(
        names(&legacy),
        ["a"],
        "with a limit, and no match said, exactly this version is meant"
    );

    server.set_next_revision(5_000);
    server.seed(deployment("b", 1));
    let future = get("resourceVersion=9999".to_owned()).await;
    assert_eq!(future.headers["retry-after"], "1");
    insta::assert_snapshot!(future.text, @r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 9999, current: 5000","reason":"Timeout","details":{"causes":[{"message":"Too large resource version","reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1},"code":504}"#);
    insta::assert_snapshot!(get("resourceVersion=x".to_owned()).await.refusal(), @r#"400 BadRequest: invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax"#);
    insta::assert_snapshot!(get("resourceVersionMatch=Exact".to_owned()).await.refusal(), @r#"422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"#);
    insta::assert_snapshot!(get("resourceVersion=0&resourceVersionMatch=Newest".to_owned()).await.refusal(), @r#"422 Invalid: ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", """#);
    insta::assert_snapshot!(get("continue=AAAA".to_owned()).await.refusal(), @"400 BadRequest: invalid continue token: continue key is not valid: expected value at line 1 column 1");
    insta::assert_snapshot!(get("limit=many".to_owned()).await.refusal(), @r#"400 BadRequest: strconv.ParseInt: parsing "many": invalid syntax"#);
    server.expire_history();
    server.seed(deployment("c", 1));
    let gone = get(format!("resourceVersion={then}&resourceVersionMatch=Exact")).await;
    insta::assert_snapshot!(gone.refusal(), @"410 Expired: The resourceVersion for the provided list is too old.");
    server.shutdown().await;
}

#[tokio::test]
async fn kubectl_gets_a_table_and_others_metadata() {
    let server = shop().await;
    let client = Client::memory(&server);
    server.seed(deployment("web", 3));
    let table = [(
        "accept",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    )];
    let table = client.call("GET", DEPLOYMENTS, &table, "").await.json();
    assert_eq!(table["kind"], "Table");
    let columns: Vec<&Value> = table["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| &column["name"])
        .collect();
    assert_eq!(
        columns[..5],
        ["Name", "Ready", "Up-to-date", "Available", "Age"]
    );
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[..2], [json!("web"), json!("0/3")]);
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");

    let partial = [(
        "accept",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    )];
    let partial = client.call("GET", DEPLOYMENTS, &partial, "").await.json();
    assert_eq!(partial["kind"], "PartialObjectMetadataList");
    assert_eq!(partial["items"][0]["metadata"]["name"], "web");
    assert_eq!(partial["items"][0].get("spec"), None);
    server.shutdown().await;
}

#[tokio::test]
async fn metadata_of_one_is_no_answer_to_a_list_nor_that_of_a_list_to_a_get() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(DEPLOYMENTS, &deployment("web", 1)).await;
    let ask = async |path: &str, form: &str| {
        let accept = format!("application/json;as={form};v=v1;g=meta.k8s.io, application/json");
        client
            .call("GET", path, &[("accept", accept.as_str())], "")
            .await
    };
    let (one, list) = ("PartialObjectMetadata", "PartialObjectMetadataList");
    let web = format!("{DEPLOYMENTS}/web");
    insta::assert_snapshot!(ask(DEPLOYMENTS, one).await.refusal(), @"406 NotAcceptable: you requested PartialObjectMetadata, but the requested object is a list (*apps.DeploymentList)");
    insta::assert_snapshot!(ask(&web, list).await.refusal(), @"406 NotAcceptable: you requested PartialObjectMetadataList, but the requested object is not a list (*apps.Deployment)");
    assert_eq!(ask(DEPLOYMENTS, list).await.json()["kind"], list);
    assert_eq!(ask(&web, one).await.json()["kind"], one);
    server.shutdown().await;
}
