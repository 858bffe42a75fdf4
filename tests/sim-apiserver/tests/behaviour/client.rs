//! A small JSON client for the tests: over the in-memory service or over a real socket.

use bytes::Bytes;
use faults::FaultBody;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client as HyperClient, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};
use sim_apiserver::{ApiBody, BoxError, SimApiServer, SimService};
use tower::ServiceExt;

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/shop/deployments";

/// How a client reaches the server.
#[derive(Clone)]
pub(crate) enum Client {
    Memory(SimService),
    Socket(Box<HyperClient<HttpConnector, Full<Bytes>>>, String),
}

pub(crate) type Body = Either<FaultBody<ApiBody>, Incoming>;

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// An open watch.
pub(crate) struct Watch {
    pub(crate) status: StatusCode,
    body: Body,
    buffer: Vec<u8>,
    /// Why the stream ended, once it has.
    pub(crate) error: Option<String>,
}

impl Client {
    pub(crate) fn memory(server: &SimApiServer) -> Self {
        Self::Memory(server.service())
    }

    pub(crate) fn socket(server: &SimApiServer) -> Self {
        Self::Socket(
            Box::new(HyperClient::builder(TokioExecutor::new()).build_http()),
            server.url(),
        )
    }

    /// Both, for tests that hold for either.
    pub(crate) fn both(server: &SimApiServer) -> [Self; 2] {
        [Self::memory(server), Self::socket(server)]
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<http::Response<Body>, BoxError> {
        let uri = match self {
            Self::Memory(_) => path.to_owned(),
            Self::Socket(_, url) => format!("{url}{path}"),
        };
        let mut request = Request::builder()
            .method(method.parse::<Method>()?)
            .uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into()))?;
        Ok(match self {
            Self::Memory(service) => service.clone().oneshot(request).await?.map(Either::Left),
            Self::Socket(client, _) => client.request(request).await?.map(Either::Right),
        })
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let response = self
            .send(method, path, headers, body)
            .await
            .expect("an answer");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).expect("UTF-8"),
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [(header::CONTENT_TYPE.as_str(), "application/json")];
        self.call("POST", path, &headers, body.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        let headers = [(header::CONTENT_TYPE.as_str(), "application/json")];
        self.call("PUT", path, &headers, body.to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, content_type: &str, body: &Value) -> Answer {
        let headers = [
            (header::CONTENT_TYPE.as_str(), content_type),
            ("user-agent", "tester/1.0"),
        ];
        self.call("PATCH", path, &headers, body.to_string()).await
    }

    pub(crate) async fn delete(&self, path: &str, options: &Value) -> Answer {
        let body = if options.is_null() {
            String::new()
        } else {
            options.to_string()
        };
        self.call(
            "DELETE",
            path,
            &[(header::CONTENT_TYPE.as_str(), "application/json")],
            body,
        )
        .await
    }

    pub(crate) async fn watch(&self, path: &str) -> Watch {
        Watch::new(self.send("GET", path, &[], "").await.expect("an answer"))
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// `CODE REASON: MESSAGE` of a Status.
    pub(crate) fn refusal(&self) -> String {
        let status = self.json();
        assert_eq!(status["kind"], "Status", "{}", self.text);
        assert_eq!(status["code"], self.status.as_u16());
        let text = |field: &str| status[field].as_str().unwrap_or_default().to_owned();
        format!(
            "{} {}: {}",
            self.status.as_u16(),
            text("reason"),
            text("message")
        )
    }
}

impl Watch {
    pub(crate) fn new(response: http::Response<Body>) -> Self {
        let status = response.status();
        Self {
            status,
            body: response.into_body(),
            buffer: Vec::new(),
            error: None,
        }
    }

    /// The next line; `None` when the stream has ended.
    pub(crate) async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=at).collect();
                return Some(String::from_utf8_lossy(&line[..at]).into_owned());
            }
            match self.body.frame().await {
                None => return None,
                Some(Err(error)) => {
                    self.error = Some(error.to_string());
                    return None;
                }
                Some(Ok(frame)) => self
                    .buffer
                    .extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new())),
            }
        }
    }

    pub(crate) async fn event(&mut self) -> Option<Value> {
        let line = self.line().await?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// `TYPE NAME RESOURCE-VERSION` of the next event, or `end`.
    pub(crate) async fn told(&mut self) -> String {
        match self.event().await {
            None => "end".to_owned(),
            Some(event) => {
                let metadata = &event["object"]["metadata"];
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let told = [
                    text(&event["type"]),
                    text(&metadata["name"]),
                    text(&metadata["resourceVersion"]),
                ];
                told.join(" ")
            }
        }
    }

    /// What has arrived and is no whole line.
    pub(crate) fn rest(&self) -> String {
        String::from_utf8_lossy(&self.buffer).into_owned()
    }
}

/// A Deployment as a person writes it.
pub(crate) fn deployment(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": {"demo/min-replicas": "true"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "i:1"}]},
            },
        },
    })
}

/// A server with the namespace `shop`.
pub(crate) async fn shop() -> SimApiServer {
    let server = SimApiServer::builder().start().await.expect("a server");
    add_shop(&server);
    server
}

pub(crate) fn add_shop(server: &SimApiServer) {
    server.seed(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"},
        "status": {"phase": "Active"}}),
    );
}
