use bytes::Bytes;
use http::{HeaderValue, Method, Request, header};
use kube::client::Body;
use tokio_util::sync::CancellationToken;

use super::retry::{Retried, StopRetrying};
use super::{ApiError, ObjectKey, ResourceType, Scope, Target, Verb};

/// One request, described well enough that its failure can be explained.
///
/// Reads have constructors here. Writes are put together in [`crate::write`], the one
/// place in this crate that may send them. All fields are public, so that an embedder's own
/// write is a struct literal over one of the reads: see the example on the
/// [front page](crate#write-your-own-controller). It needs a precondition.
///
/// ```
/// use controller_core::client::{Call, ResourceType, Scope};
///
/// const PODS: ResourceType = ResourceType::namespaced("", "v1", "pods", "Pod");
/// let page = Call::list(&PODS, &Scope::Namespace("shop".into()))
///     .with_query([("limit", "500"), ("labelSelector", "app in (web,api)")]);
/// assert_eq!(
///     page.path_and_query,
///     "/api/v1/namespaces/shop/pods?limit=500&labelSelector=app+in+%28web%2Capi%29",
/// );
/// ```
///
/// The dangerous mistake is a `path_and_query` that was not percent-encoded: use
/// [`Call::with_query`], which encodes.
///
/// ```
/// # use controller_core::client::{Call, ResourceType, Scope};
/// # const PODS: ResourceType = ResourceType::namespaced("", "v1", "pods", "Pod");
/// let selector = "tier=web&limit=1"; // from a user
/// let mut wrong = Call::list(&PODS, &Scope::All);
/// wrong.path_and_query += &format!("?labelSelector={selector}"); // two parameters
/// let right = Call::list(&PODS, &Scope::All).with_query([("labelSelector", selector)]);
/// assert_eq!(right.path_and_query, "/api/v1/pods?labelSelector=tier%3Dweb%26limit%3D1");
/// ```
#[derive(Clone, Debug)]
pub struct Call {
    /// The RBAC verb, for the error of a refusal and for spans. A watch also goes
    /// uncompressed by it. That its body has no deadline is decided by the query.
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
    /// Once it is cancelled the client does not send the request again, whoever asks for that:
    /// a wait for the next try ends at once, and the last answer is the answer. What was sent
    /// is awaited. `None` is never.
    pub stop_retrying: Option<CancellationToken>,
    /// Whose business it is to send it again.
    pub retried: Retried,
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
    ///
    /// A parameter that is there already is not replaced: the server takes the first.
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

    /// Is sent once more, if it has to be, only for as long as `stop` is not cancelled: see
    /// [`stop_retrying`](Self::stop_retrying).
    #[must_use]
    pub fn with_retries_until(mut self, stop: CancellationToken) -> Self {
        self.stop_retrying = Some(stop);
        self
    }

    /// Is sent again by `by` alone, see [`Retried`].
    #[must_use]
    pub fn with_retries_by(mut self, by: Retried) -> Self {
        self.retried = by;
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
            stop_retrying: None,
            retried: Retried::ByClient,
        }
    }

    /// `GET /apis/apps/v1/deployments`: the request line that errors show, without the
    /// query, whose continue token would fill the screen.
    pub(crate) fn line(&self) -> String {
        let path = self.path_and_query.split('?').next().unwrap_or_default();
        format!("{} {path}", self.method)
    }

    pub(super) fn into_request(self) -> Result<Request<Body>, ApiError> {
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
        request.extensions_mut().insert(self.retried);
        if let Some(stop) = self.stop_retrying {
            request.extensions_mut().insert(StopRetrying(stop));
        }
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
