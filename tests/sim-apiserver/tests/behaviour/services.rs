//! Services: their addresses, ports and types.

use http::StatusCode;
use serde_json::json;

use crate::{
    client::{Client, MERGE, shop},
    kinds::{CORE, created, named, refusal, row},
};

#[tokio::test]
async fn a_service_gets_an_address_that_nobody_else_has() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = format!("{CORE}/services");
    let spec = json!({"spec": {"ports": [{"port": 80}], "selector": {"app": "web"}}});
    let web = created(&client, &path, &named("web", &spec)).await;
    let address = web["spec"]["clusterIP"].as_str().unwrap();
    assert!(address.starts_with("10.96."), "{address}");
    assert_eq!(web["spec"]["clusterIPs"], json!([address]));
    assert_eq!(
        web["spec"]["ports"],
        json!([{"port": 80, "protocol": "TCP", "targetPort": 80}])
    );

    let mut wanted = named("api", &spec);
    wanted["spec"]["clusterIP"] = address.into();
    let taken = refusal(&client, &path, &wanted).await;
    assert_eq!(taken.matches(address).count(), 2, "{taken}");
    assert!(
        taken.ends_with("provided IP is already allocated"),
        "{taken}"
    );
    wanted["spec"]["clusterIP"] = "1.2.3.4".into();
    insta::assert_snapshot!(refusal(&client, &path, &wanted).await, @r#"422 Invalid: Service "api" is invalid: spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.96.0.0/16"#);

    // A replacement that leaves the address out keeps it; another one is refused.
    let replaced = client
        .put(&format!("{path}/web"), &named("web", &spec))
        .await;
    assert_eq!(replaced.json()["spec"]["clusterIP"], address);
    let moved = client
        .patch(
            &format!("{path}/web"),
            MERGE,
            &json!({"spec": {"clusterIP": "10.96.0.9"}}),
        )
        .await;
    assert_eq!(
        moved.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        moved.text
    );
    server.shutdown().await;
}

#[tokio::test]
async fn services_of_every_type_are_shown_as_kubectl_shows_them() {
    let server = shop().await;
    let client = Client::memory(&server);
    let path = format!("{CORE}/services");
    let ports = json!([{"port": 80, "nodePort": 30080}]);
    for (name, spec) in [
        (
            "node",
            json!({"type": "NodePort", "clusterIP": "10.96.0.2", "ports": ports}),
        ),
        (
            "external",
            json!({"type": "ExternalName", "externalName": "example.com"}),
        ),
        (
            "headless",
            json!({"clusterIP": "None", "selector": {"a": "b"}}),
        ),
    ] {
        created(&client, &path, &named(name, &json!({"spec": spec}))).await;
    }
    insta::assert_snapshot!(row(&client, &format!("{path}/node")).await, @"Name=node | Type=NodePort | Cluster-IP=10.96.0.2 | External-IP=<none> | Port(s)=80:30080/TCP | Selector=<none>");
    insta::assert_snapshot!(row(&client, &format!("{path}/external")).await, @"Name=external | Type=ExternalName | Cluster-IP=<none> | External-IP=example.com | Port(s)=<none> | Selector=<none>");
    insta::assert_snapshot!(row(&client, &format!("{path}/headless")).await, @"Name=headless | Type=ClusterIP | Cluster-IP=None | External-IP=<none> | Port(s)=<none> | Selector=a=b");
    let again = named(
        "again",
        &json!({"spec": {"type": "NodePort", "ports": ports}}),
    );
    insta::assert_snapshot!(refusal(&client, &path, &again).await, @r#"422 Invalid: Service "again" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated"#);
    let wrong = named(
        "w",
        &json!({"spec": {"type": "X", "ports": [{"port": 0}, {"name": "A", "port": 1}]}}),
    );
    insta::assert_snapshot!(refusal(&client, &path, &wrong).await, @r#"422 Invalid: Service "w" is invalid: [spec.ports[0].name: Required value, spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive, spec.ports[1].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?'), spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]"#);
    insta::assert_snapshot!(refusal(&client, &path, &named("a.b", &json!({"spec": {"ports": [{"port": 1}]}}))).await, @r#"422 Invalid: Service "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots"#);
    server.shutdown().await;
}
