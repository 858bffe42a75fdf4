use bytes::Bytes;
use controller_core::client::{ApiError, ClientOptions, build, fetch, send, user_agent};
use http::{Response, header};
use http_body_util::{BodyExt, Full};
use kube::Client;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::time::Duration;

use crate::scripted::{list, options, patch, watch};
use crate::server::{Server, empty_list, load};

fn client_of(server: &str, options: &ClientOptions) -> Client {
    let (loaded, _directory) = load(&format!("server: '{server}'"), "");
    build(&loaded, options).unwrap()
}

async fn failure(server: &str) -> ApiError {
    let client = client_of(server, &options());
    fetch::<Value>(&client, list()).await.unwrap_err()
}

#[tokio::test]
async fn a_refused_connection_names_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for scheme in ["http", "https"] {
        let error = failure(&format!("{scheme}://{address}")).await;
        assert_eq!(
            error.to_string(),
            format!("the connection to the server {address} was refused")
        );
        assert!(!error.answer_lost());
    }
}

/// A label may not be empty, so that no resolver is asked.
#[tokio::test]
async fn a_host_without_address_is_named() {
    let error = failure("http://kube..invalid:6443").await;
    let ApiError::Dns { host, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(host, "kube..invalid");
}

#[tokio::test]
async fn a_handshake_that_hangs_is_given_up() {
    let server = Server::silent().await;
    let mut options = options();
    options.connect_timeout = Duration::from_millis(200);
    let client = client_of(&format!("https://{}", server.address), &options);
    let error = fetch::<Value>(&client, list()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("no connection to the server {} after 200ms", server.address)
    );
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_answer_loses_it() {
    let server = Server::raw(b"").await;
    let client = client_of(&format!("http://{}", server.address), &options());
    let error = fetch::<Value>(&client, patch()).await.unwrap_err();
    assert!(
        matches!(error, ApiError::Disconnected { sent: true, .. }),
        "{error:?}"
    );
    assert!(error.answer_lost());
}

#[tokio::test]
async fn a_connection_that_breaks_within_the_body_loses_it() {
    let server = Server::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"items\":").await;
    let error = failure(&format!("http://{}", server.address)).await;
    assert!(
        matches!(error, ApiError::Disconnected { sent: true, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_server_sees_who_asks_and_what_it_may_answer() {
    let server = Server::http(empty_list()).await;
    let options = ClientOptions::new(user_agent("kubectl-minrep", "0.1.0"));
    let client = client_of(&format!("http://{}/base", server.address), &options);
    let _: Value = fetch(&client, list()).await.unwrap();
    send(&client, watch()).await.unwrap();

    let seen = server.seen();
    let (list, watch) = (&seen[0], &seen[1]);
    assert_eq!(list.uri, "/base/apis/apps/v1/deployments");
    assert_eq!(
        list.headers[header::USER_AGENT],
        user_agent("kubectl-minrep", "0.1.0")
    );
    assert_eq!(list.headers[header::ACCEPT], "application/json");
    assert_eq!(list.headers[header::ACCEPT_ENCODING], "gzip");
    assert_eq!(watch.uri.query(), Some("watch=true"));
    assert_eq!(watch.headers[header::ACCEPT_ENCODING], "identity");
}

#[test]
fn the_user_agent_has_kubectls_shape() {
    let agent = user_agent("kubectl-minrep", "0.1.0");
    let rest = agent.strip_prefix("kubectl-minrep/0.1.0 (").unwrap();
    let (os, arch) = rest.strip_suffix(')').unwrap().split_once('/').unwrap();
    assert!(!os.is_empty() && !arch.is_empty(), "{agent}");
    assert_ne!(arch, "x86_64", "Go calls it amd64");
}

#[tokio::test]
async fn compressed_lists_are_unpacked() {
    // printf '{"items":[]}' | gzip -n
    const GZIPPED: &[u8] = &[
        31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 171, 86, 202, 44, 73, 205, 45, 86, 178, 138, 142, 173, 5,
        0, 29, 31, 67, 234, 12, 0, 0, 0,
    ];
    let server = Server::http(Arc::new(|_| {
        let mut response = Response::new(Full::new(Bytes::from_static(GZIPPED)));
        let gzip = header::HeaderValue::from_static("gzip");
        response
            .headers_mut()
            .insert(header::CONTENT_ENCODING, gzip);
        response
    }))
    .await;
    let client = client_of(&format!("http://{}", server.address), &options());
    let answer: Value = fetch(&client, list()).await.unwrap();
    assert_eq!(answer, json!({ "items": [] }));
    let body = send(&client, list()).await.unwrap().into_body();
    assert_eq!(body.collect().await.unwrap().to_bytes(), r#"{"items":[]}"#);
}

/// C-46.
#[tokio::test]
async fn an_ipv6_server_without_brackets_is_dialled_with_them() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else {
        // A machine without IPv6 has nothing to show.
        return;
    };
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let error = failure(&format!("http://::1:{port}")).await;
    assert_eq!(
        error.to_string(),
        format!("the connection to the server [::1]:{port} was refused")
    );
}
