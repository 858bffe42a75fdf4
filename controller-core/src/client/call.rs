use std::fmt;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt, Limited};
use kube::Client;
use kube::client::Body;
use serde::de::DeserializeOwned;
use tokio::time::{Duration, timeout};

use super::{ApiError, ObjectKey, ResourceType, Scope};

/// What RBAC calls a request: the word that a Role must list for it to be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read a collection.
    List,
    /// Follow a collection.
    Watch,
    /// Make an object.
    Create,
    /// Replace an object.
    Update,
    /// Change parts of an object.
    Patch,
    /// Remove an object.
    Delete,
}

/// What a request is about, in the words of RBAC, so that a refusal can name the rule
/// that is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    /// `deployments.apps`, `deployments.apps/scale`, `pods`.
    pub resource: String,
    /// The namespace, `None` for all of them and for kinds without namespaces.
    pub namespace: Option<String>,
    /// The object, `None` for a collection.
    pub name: Option<String>,
}

/// One request, described well enough that its failure can be explained.
///
/// Reads have constructors here. Writes are put together in [`crate::write`], the one
/// place that may send them.
///
/// The dangerous mistake is a `path_and_query` that was not percent-encoded: use
/// [`Call::with_query`], which encodes.
#[derive(Clone, Debug)]
pub struct Call {
    /// The RBAC verb; also tells a watch, which may last, from everything that must end.
    pub verb: Verb,
    /// The HTTP method.
    pub method: Method,
    /// Path and query below the server's base address, percent-encoded.
    pub path_and_query: String,
    /// What to name when the request fails.
    pub target: Target,
    /// The body's media type, `None` without a body.
    pub content_type: Option<&'static str>,
    /// The media types that the caller can read.
    pub accept: &'static str,
    /// The body, empty for reads.
    pub body: Bytes,
}

/// The largest error body that is looked at. A Status is a few hundred bytes; a gateway's
/// HTML page may be anything.
const MAX_ERROR_BODY: usize = 256 * 1024;

/// How long the body of a refusal may take to arrive. Only a watch needs it, because its
/// body has no deadline otherwise.
const ERROR_BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Sends `call` and returns the answer's head with its body still streaming.
///
/// An answer outside 2xx is an error and has been read to its end. Every layer of the
/// client applies: see the [module's](super) list for deadlines and retries.
///
/// # Errors
/// Every failure, classified; see [`ApiError`].
pub async fn send(client: &Client, call: Call) -> Result<Response<Body>, ApiError> {
    let verb = call.verb;
    let target = call.target.clone();
    let line = call.line();
    let request = call.into_request()?;
    // Not `client.request`: that one logs the whole body when it cannot be decoded.
    let response = client
        .send(request)
        .await
        .map_err(|error| ApiError::from_transport(&line, Box::new(error)))?;
    if response.status().is_success() {
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = timeout(
        ERROR_BODY_DEADLINE,
        Limited::new(body, MAX_ERROR_BODY).collect(),
    )
    .await;
    // The status line alone is enough of an answer when its body does not arrive.
    let body = match body {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(_)) | Err(_) => Bytes::new(),
    };
    Err(ApiError::from_response(verb, target, &head, &body))
}

/// Sends `call` and decodes the whole answer as JSON.
///
/// # Errors
/// As [`send`]; [`ApiError::Malformed`] when the answer is not a `T`. It says where the
/// answer went wrong, never what stood there: a body can hold a Secret.
pub async fn fetch<T: DeserializeOwned>(client: &Client, call: Call) -> Result<T, ApiError> {
    fetch_with(client, call, |body| serde_json::from_slice(body)).await
}

/// Sends `call` and hands the whole answer to `decode`, for answers that are read piece by
/// piece.
///
/// # Errors
/// As [`fetch`].
pub(crate) async fn fetch_with<T>(
    client: &Client,
    call: Call,
    decode: impl FnOnce(&[u8]) -> Result<T, serde_json::Error>,
) -> Result<T, ApiError> {
    let line = call.line();
    let response = send(client, call).await?;
    let body = response
        .into_body()
        .collect()
        .await
        .map_err(|error| ApiError::from_body(&line, Box::new(error)))?
        .to_bytes();
    decode(&body).map_err(|error| ApiError::malformed(&line, &error))
}

// === impl Verb ===

impl Verb {
    /// The verb as a Role lists it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

// === impl Target ===

impl fmt::Display for Target {
    /// `deployments.apps "web" in namespace shop`, as much of it as is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource)?;
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, " in namespace {namespace}")?;
        }
        Ok(())
    }
}

// === impl Call ===

impl Call {
    /// Reads one object.
    pub fn get(resource: &ResourceType, key: &ObjectKey) -> Self {
        Self::read(
            Verb::Get,
            resource.object_path(key),
            Target {
                resource: resource.to_string(),
                namespace: key.namespace().map(str::to_owned),
                name: Some(key.name().to_owned()),
            },
        )
    }

    /// Reads a collection. Give `limit`, `continue`, `labelSelector` and the like with
    /// [`Call::with_query`].
    pub fn list(resource: &ResourceType, scope: &Scope) -> Self {
        Self::collection(Verb::List, resource, scope)
    }

    /// Follows a collection: the answer's body has no deadline and no compression.
    pub fn watch(resource: &ResourceType, scope: &Scope) -> Self {
        Self::collection(Verb::Watch, resource, scope).with_query([("watch", "true")])
    }

    /// Adds query parameters, percent-encoded. Keep the order stable: tests and caches
    /// of intermediaries see it.
    #[must_use]
    pub fn with_query<K, V>(mut self, pairs: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs);
        let query = query.finish();
        if !query.is_empty() {
            let separator = if self.path_and_query.contains('?') {
                '&'
            } else {
                '?'
            };
            self.path_and_query.push(separator);
            self.path_and_query.push_str(&query);
        }
        self
    }

    /// Asks for another media type than JSON.
    #[must_use]
    pub fn with_accept(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    fn collection(verb: Verb, resource: &ResourceType, scope: &Scope) -> Self {
        Self::read(
            verb,
            resource.path(scope),
            Target {
                resource: resource.to_string(),
                namespace: match scope {
                    Scope::Namespace(namespace) if resource.namespaced => Some(namespace.clone()),
                    _ => None,
                },
                name: None,
            },
        )
    }

    fn read(verb: Verb, path: String, target: Target) -> Self {
        Self {
            verb,
            method: Method::GET,
            path_and_query: path,
            target,
            content_type: None,
            accept: "application/json",
            body: Bytes::new(),
        }
    }

    /// `GET /apis/apps/v1/deployments`: the request line that errors show, without the
    /// query, whose continue token would fill the screen.
    pub(crate) fn line(&self) -> String {
        let path = self.path_and_query.split('?').next().unwrap_or_default();
        format!("{} {path}", self.method)
    }

    fn into_request(self) -> Result<Request<Body>, ApiError> {
        let line = self.line();
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.path_and_query)
            .body(Body::from(self.body))
            .map_err(|error| ApiError::Unsendable {
                request: line,
                source: error,
            })?;
        // Layers below tell calls apart by it: metrics by verb, deadlines by watch.
        request.extensions_mut().insert(self.verb);
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT, HeaderValue::from_static(self.accept));
        if let Some(content_type) = self.content_type {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        if self.verb == Verb::Watch {
            // A compressor between us and the server would hold events back until its
            // window is full.
            headers.insert(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static("identity"),
            );
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEPLOYMENTS: ResourceType =
        ResourceType::namespaced("apps", "v1", "deployments", "Deployment");

    #[test]
    fn query_values_are_encoded() {
        let call = Call::watch(&DEPLOYMENTS, &Scope::All).with_query([
            ("labelSelector", "demo/min-replicas in (a,b)"),
            ("resourceVersion", "7"),
        ]);
        assert_eq!(
            call.path_and_query,
            "/apis/apps/v1/deployments?watch=true\
             &labelSelector=demo%2Fmin-replicas+in+%28a%2Cb%29&resourceVersion=7"
        );
    }

    #[test]
    fn a_cluster_scoped_kind_ignores_the_namespace() {
        const NODES: ResourceType = ResourceType::cluster("", "v1", "nodes", "Node");
        let call = Call::list(&NODES, &Scope::Namespace("shop".into()));
        assert_eq!(call.path_and_query, "/api/v1/nodes");
        assert_eq!(call.target.namespace, None);
    }

    #[test]
    fn only_a_watch_refuses_compression() {
        let encoding = |call: Call| {
            call.into_request()
                .unwrap()
                .headers()
                .get(header::ACCEPT_ENCODING)
                .cloned()
        };
        assert_eq!(encoding(Call::list(&DEPLOYMENTS, &Scope::All)), None);
        assert_eq!(
            encoding(Call::watch(&DEPLOYMENTS, &Scope::All)).unwrap(),
            "identity"
        );
    }

    #[test]
    fn a_target_reads_like_a_sentence() {
        let key = ObjectKey::namespaced("shop", "web");
        assert_eq!(
            Call::get(&DEPLOYMENTS, &key).target.to_string(),
            r#"deployments.apps "web" in namespace shop"#
        );
    }
}
