use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Limited};
use kube::Client;
use kube::client::Body;
use serde::de::DeserializeOwned;
use tokio::time::{Duration, timeout};

use super::{ApiError, Call};

/// The largest error body that is looked at. A Status is a few hundred bytes; a gateway's
/// HTML page may be anything.
const MAX_ERROR_BODY: usize = 256 * 1024;

/// How long the body of a refusal may take to arrive. Only a watch needs it, because its
/// body has no deadline otherwise.
const ERROR_BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Sends `call` and returns the answer's head with its body still streaming.
///
/// This is for bodies that are read as they come: a watch, or a page of a list that is
/// decoded item by item. Everything else is easier with [`fetch`].
///
/// An answer outside 2xx is an error and has been read to its end. Every layer of the
/// client applies: see the [module's](super) list for deadlines and retries.
///
/// Dropping the future, or later the body, gives the request up and closes its
/// connection. That is no way to take a write back: the server may have applied it.
///
/// ```text
/// wrong   timeout(SECOND, send(&client, patch)).await     the answer is lost, the write is not
/// right   tasks.spawn(send(client, patch))                awaited to its end by someone
/// ```
///
/// # Errors
/// Every failure, classified; see [`ApiError`]. What breaks *within* the body is an error
/// of the body, [`kube::Error::Service`], which the reader has to expect.
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
/// The answer is held in memory as a whole while it is decoded. For one object or one
/// page that is nothing; do not fetch a list without a `limit`. `T` may be a projection:
/// what it does not name is skipped.
///
/// ```no_run
/// use controller_core::client::{Call, ObjectKey, ResourceType, fetch};
/// use k8s_openapi::api::apps::v1::Deployment;
///
/// const DEPLOYMENTS: ResourceType =
///     ResourceType::namespaced("apps", "v1", "deployments", "Deployment");
///
/// # async fn example(client: kube::Client) -> Result<(), controller_core::client::ApiError> {
/// let key = ObjectKey::namespaced("shop", "web");
/// let web: Deployment = fetch(&client, Call::get(&DEPLOYMENTS, &key)).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`send`]; [`ApiError::Malformed`] when the answer is not a `T`. It says where the
/// answer went wrong, never what stood there: a body can hold a Secret.
pub async fn fetch<T: DeserializeOwned>(client: &Client, call: Call) -> Result<T, ApiError> {
    let line = call.line();
    let response = send(client, call).await?;
    let body = response
        .into_body()
        .collect()
        .await
        .map_err(|error| ApiError::from_body(&line, Box::new(error)))?
        .to_bytes();
    serde_json::from_slice(&body).map_err(|error| ApiError::malformed(&line, &error))
}
