use std::error::Error;
use std::path::Path;
use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::task::spawn_blocking;
use tokio::time::{interval, timeout};

use super::media;
use super::side::Side;
use crate::control_plane::{self, ControlPlane, Options};

/// etcd and kube-apiserver, and nobody who acts by himself.
pub(super) struct Real(ControlPlane);

/// How long the server may take over what it does in the background.
const PATIENCE: Duration = Duration::from_secs(30);

// === impl Real ===

impl Real {
    /// Starts it; builds it first if need be, which takes minutes the first time.
    pub(super) async fn start() -> Result<Self, Box<dyn Error>> {
        let started = spawn_blocking(|| {
            let binary = control_plane::build()?;
            let options = Options {
                api_only: true,
                ..Options::default()
            };
            Ok::<_, Box<dyn Error + Send + Sync>>(ControlPlane::start(&binary, &options)?)
        });
        match started.await? {
            Ok(started) => Ok(Self(started)),
            Err(error) => Err(error),
        }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        self.0.kubeconfig()
    }

    /// Has etcd forget what was before now, and waits until kube-apiserver knows.
    pub(super) async fn compact(&self, side: &Side) -> Result<(), String> {
        let namespaces = get(side, "/api/v1/namespaces").await?;
        let revision = namespaces["metadata"]["resourceVersion"].as_str();
        let revision = revision.ok_or("a list without a resourceVersion")?;
        self.tell_etcd("/v3/kv/compaction", &json!({"revision": revision}))
            .await?;
        // So would another kube-apiserver tell: what the watch cache remembers is dropped then.
        let note =
            json!({"key": STANDARD.encode("compact_rev_key"), "value": STANDARD.encode(revision)});
        self.tell_etcd("/v3/kv/put", &note).await?;
        let before = revision.parse::<u64>().map_err(|error| error.to_string())? - 1;
        let forgotten = format!(
            "/api/v1/configmaps?resourceVersion={before}&resourceVersionMatch=Exact&limit=1"
        );
        let until_forgotten = async {
            let mut again = interval(Duration::from_millis(50));
            while get(side, &forgotten).await.is_ok() {
                again.tick().await;
            }
        };
        timeout(PATIENCE, until_forgotten)
            .await
            .map_err(|_| "kube-apiserver does not notice that etcd forgot".to_owned())
    }

    pub(super) fn stop(self) -> Result<(), Box<dyn Error>> {
        Ok(self.0.stop()?)
    }

    /// Sends a request to etcd's JSON gateway, which listens on a socket in the instance's
    /// directory.
    async fn tell_etcd(&self, path: &str, body: &Value) -> Result<(), String> {
        let socket = self.kubeconfig().with_file_name("etcd:1");
        let body = body.to_string();
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let exchange = async {
            let mut stream = UnixStream::connect(&socket).await?;
            stream.write_all(request.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            Ok::<_, std::io::Error>(answer)
        };
        let answer = timeout(PATIENCE, exchange)
            .await
            .map_err(|_| "etcd does not answer".to_owned())?
            .map_err(|error| format!("{}: {error}", socket.display()))?;
        let first = answer.lines().next().unwrap_or_default();
        match first.contains(" 200 ") {
            true => Ok(()),
            false => Err(format!("etcd refuses {path}: {answer}")),
        }
    }
}

/// Has the real server serve the custom resource that the simulated one was started with.
pub(super) async fn define(side: &Side, definition: &Value) -> Result<(), String> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let json = ("Content-Type".to_owned(), media::JSON.to_owned());
    let response = side
        .send(&Method::POST, path, &[json], definition.to_string())
        .await?;
    if !response.status().is_success() {
        return Err(format!("the definition is refused: {}", response.status()));
    }
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, version) = (text(&spec["group"]), text(&spec["versions"][0]["name"]));
    let served = format!("/apis/{group}/{version}");
    let listed = format!("{served}/{}", text(&spec["names"]["plural"]));
    // A new kind is served within some tenths of a second, and described a second later;
    // there is no event that says when.
    let until_served = async {
        let mut again = interval(Duration::from_millis(50));
        loop {
            again.tick().await;
            let documents = get(side, "/openapi/v3").await.unwrap_or_default();
            let described = !documents["paths"][served.trim_start_matches('/')].is_null();
            if described && get(side, &listed).await.is_ok() {
                return;
            }
        }
    };
    timeout(PATIENCE, until_served)
        .await
        .map_err(|_| format!("{listed} is not served"))
}

async fn get(side: &Side, path: &str) -> Result<Value, String> {
    let response = side.send(&Method::GET, path, &[], String::new()).await?;
    let status = response.status();
    let body = response.into_body().collect().await;
    let body = body.map_err(|error| error.to_string())?.to_bytes();
    match status.is_success() {
        true => serde_json::from_slice(&body).map_err(|error| error.to_string()),
        false => Err(format!("GET {path}: {status}")),
    }
}
