//! Events: two groups, one store. What is written in one is read in the other, under its own names.

use serde_json::{Value, json};

use crate::client::{Client, MERGE, shop};

const CORE: &str = "/api/v1/namespaces/shop/events";
const GROUP: &str = "/apis/events.k8s.io/v1/namespaces/shop/events";
const TABLE: [(&str, &str); 1] = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];

/// As a recorder of the core group writes it.
fn counted() -> Value {
    json!({
        "metadata": {"name": "web.counted", "namespace": "shop"},
        "involvedObject": {"kind": "Deployment", "namespace": "shop", "name": "web", "uid": "u-1",
            "apiVersion": "apps/v1", "resourceVersion": "7", "fieldPath": "spec.replicas"},
        "reason": "Scaled", "message": "scaled from 1 to 2", "type": "Normal",
        "source": {"component": "deployment-controller", "host": "node-1"},
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:05:00Z", "count": 3,
    })
}

/// As a recorder of events.k8s.io writes it.
fn series() -> Value {
    json!({
        "metadata": {"name": "web.series", "namespace": "shop"},
        "regarding": {"kind": "Deployment", "namespace": "shop", "name": "api", "uid": "u-2"},
        "related": {"kind": "Pod", "namespace": "shop", "name": "api-1"},
        "reason": "Raised", "note": "raised from 1 to 2", "type": "Warning", "action": "Scale",
        "eventTime": "2026-01-01T00:00:00.000001Z",
        "series": {"count": 4, "lastObservedTime": "2026-01-01T00:09:00.000000Z"},
        "reportingController": "minrep.dev/controller", "reportingInstance": "minrep-1",
    })
}

/// The fields of an event that are not metadata, one a line.
fn fields(event: &Value) -> String {
    let fields = event.as_object().unwrap().iter();
    let fields = fields.filter(|(field, _)| *field != "metadata");
    let lines: Vec<String> = fields
        .map(|(field, value)| format!("{field}: {value}"))
        .collect();
    lines.join("\n")
}

async fn names(client: &Client, path: &str) -> Vec<String> {
    let list = client.get(path).await;
    let list = list.json();
    let items = list["items"]
        .as_array()
        .unwrap_or_else(|| panic!("{path}: {list}"));
    items
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_counted_event_of_the_core_group_is_read_in_the_other() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(CORE, &counted()).await;
    let event = client.get(&format!("{GROUP}/web.counted")).await.json();
    insta::assert_snapshot!(fields(&event), @r#"
    apiVersion: "events.k8s.io/v1"
    deprecatedCount: 3
    deprecatedFirstTimestamp: "2026-01-01T00:00:00Z"
    deprecatedLastTimestamp: "2026-01-01T00:05:00Z"
    deprecatedSource: {"component":"deployment-controller","host":"node-1"}
    eventTime: null
    kind: "Event"
    note: "scaled from 1 to 2"
    reason: "Scaled"
    regarding: {"apiVersion":"apps/v1","fieldPath":"spec.replicas","kind":"Deployment","name":"web","namespace":"shop","resourceVersion":"7","uid":"u-1"}
    type: "Normal"
    "#);
    assert_eq!(
        client.get(GROUP).await.json()["items"][0]["metadata"],
        event["metadata"]
    );
    // Read there and written back unchanged: nothing is lost, and nothing is a change.
    let before = client.get(&format!("{CORE}/web.counted")).await.json();
    let written = client
        .put(&format!("{GROUP}/web.counted"), &event)
        .await
        .json();
    assert_eq!(written, event);
    assert_eq!(
        client.get(&format!("{CORE}/web.counted")).await.json(),
        before
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_series_of_the_group_is_read_in_the_core() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(GROUP, &series()).await;
    let event = client.get(&format!("{CORE}/web.series")).await.json();
    insta::assert_snapshot!(fields(&event), @r#"
    action: "Scale"
    apiVersion: "v1"
    eventTime: "2026-01-01T00:00:00.000001Z"
    firstTimestamp: null
    involvedObject: {"kind":"Deployment","name":"api","namespace":"shop","uid":"u-2"}
    kind: "Event"
    lastTimestamp: null
    message: "raised from 1 to 2"
    reason: "Raised"
    related: {"kind":"Pod","name":"api-1","namespace":"shop"}
    reportingComponent: "minrep.dev/controller"
    reportingInstance: "minrep-1"
    series: {"count":4,"lastObservedTime":"2026-01-01T00:09:00.000000Z"}
    source: {}
    type: "Warning"
    "#);
    let before = client.get(&format!("{GROUP}/web.series")).await.json();
    let written = client
        .put(&format!("{CORE}/web.series"), &event)
        .await
        .json();
    assert_eq!(written, event);
    assert_eq!(
        client.get(&format!("{GROUP}/web.series")).await.json(),
        before
    );
    server.shutdown().await;
}

#[tokio::test]
async fn watches_of_both_tell_the_same_changes_in_their_own_words() {
    let server = shop().await;
    let client = Client::memory(&server);
    let now = server.revision();
    let mut core = client
        .watch(&format!("{CORE}?watch=1&resourceVersion={now}"))
        .await;
    let mut group = client
        .watch(&format!("{GROUP}?watch=1&resourceVersion={now}"))
        .await;
    client.post(CORE, &counted()).await;
    client.post(GROUP, &series()).await;
    let more = json!({"series": {"count": 5, "lastObservedTime": "2026-01-01T00:10:00.000000Z"}});
    client
        .patch(&format!("{GROUP}/web.series"), MERGE, &more)
        .await;
    client
        .delete(&format!("{CORE}/web.counted"), &Value::Null)
        .await;
    for (watch, version, message) in [
        (&mut core, "v1", "message"),
        (&mut group, "events.k8s.io/v1", "note"),
    ] {
        let mut told = Vec::new();
        for _ in 0..4 {
            let event = watch.event().await.unwrap();
            let object = &event["object"];
            assert_eq!(
                (&object["apiVersion"], &object["kind"]),
                (&json!(version), &json!("Event"))
            );
            assert!(object[message].is_string(), "{object}");
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            told.push(text(&event["type"]) + " " + &text(&object["metadata"]["name"]));
        }
        assert_eq!(
            told,
            [
                "ADDED web.counted",
                "ADDED web.series",
                "MODIFIED web.series",
                "DELETED web.counted"
            ]
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn tables_of_both_show_the_same_rows() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(CORE, &counted()).await;
    client.post(GROUP, &series()).await;
    let mut shown = Vec::new();
    for path in [CORE, GROUP] {
        let table = client.call("GET", path, &TABLE, "").await.json();
        let columns = table["columnDefinitions"].as_array().unwrap().clone();
        let rows = table["rows"].as_array().unwrap();
        let rows: Vec<String> = rows
            .iter()
            .map(|row| {
                let cells = columns.iter().zip(row["cells"].as_array().unwrap());
                // Ages depend on the day of the test.
                let cells =
                    cells.filter(|(column, _)| !column["name"].as_str().unwrap().contains("Seen"));
                let cells: Vec<String> = cells.map(|(_, cell)| cell.to_string()).collect();
                cells.join(" ")
            })
            .collect();
        shown.push(rows.join("\n"));
    }
    assert_eq!(shown[0], shown[1]);
    insta::assert_snapshot!(shown[0], @r#"
    "Normal" "Scaled" "deployment/web" "spec.replicas" "deployment-controller, node-1" "scaled from 1 to 2" 3 "web.counted"
    "Warning" "Raised" "deployment/api" "" "minrep.dev/controller, minrep-1" "raised from 1 to 2" 4 "web.series"
    "#);
    server.shutdown().await;
}

#[tokio::test]
async fn each_group_selects_by_its_own_field_names() {
    let server = shop().await;
    let client = Client::memory(&server);
    client.post(CORE, &counted()).await;
    client.post(GROUP, &series()).await;
    for (core, group, selected) in [
        (
            "involvedObject.kind=Deployment",
            "regarding.kind=Deployment",
            vec!["web.counted", "web.series"],
        ),
        (
            "involvedObject.name=api",
            "regarding.name=api",
            vec!["web.series"],
        ),
        (
            "involvedObject.namespace=shop",
            "regarding.namespace=shop",
            vec!["web.counted", "web.series"],
        ),
        (
            "involvedObject.uid=u-1",
            "regarding.uid=u-1",
            vec!["web.counted"],
        ),
        (
            "involvedObject.apiVersion=apps/v1",
            "regarding.apiVersion=apps/v1",
            vec!["web.counted"],
        ),
        (
            "involvedObject.resourceVersion=7",
            "regarding.resourceVersion=7",
            vec!["web.counted"],
        ),
        (
            "involvedObject.fieldPath!=spec.replicas",
            "regarding.fieldPath!=spec.replicas",
            vec!["web.series"],
        ),
        (
            "reportingComponent=minrep.dev/controller",
            "reportingController=minrep.dev/controller",
            vec!["web.series"],
        ),
        ("reason=Raised", "reason=Raised", vec!["web.series"]),
        ("type!=Normal", "type!=Normal", vec!["web.series"]),
        (
            "metadata.name=web.series",
            "metadata.name=web.series",
            vec!["web.series"],
        ),
    ] {
        for (path, selector) in [(CORE, core), (GROUP, group)] {
            let path = format!("{path}?fieldSelector={}", selector.replace('=', "%3D"));
            assert_eq!(names(&client, &path).await, selected, "{path}");
        }
    }
    // Who wrote it: the core group knows one label for both ways of saying so.
    for (source, selected) in [
        ("deployment-controller", "web.counted"),
        ("minrep.dev/controller", "web.series"),
    ] {
        assert_eq!(
            names(&client, &format!("{CORE}?fieldSelector=source%3D{source}")).await,
            [selected]
        );
    }
    let core_in_group = client
        .get(&format!("{GROUP}?fieldSelector=involvedObject.name%3Dapi"))
        .await;
    insta::assert_snapshot!(core_in_group.refusal(), @"400 BadRequest: field label not supported: involvedObject.name");
    let group_in_core = client
        .get(&format!("{CORE}?fieldSelector=regarding.name%3Dapi"))
        .await;
    insta::assert_snapshot!(group_in_core.refusal(), @"400 BadRequest: field label not supported: regarding.name");
    server.shutdown().await;
}
