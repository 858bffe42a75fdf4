use std::error::Error;

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// Creates `object` by an HTTP request to `url`, as kubectl does. A refusal is an error
/// with the server's own sentence.
pub(super) async fn create(url: &str, object: &Value) -> Result<(), Box<dyn Error>> {
    let request = Request::post(url)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(object.to_string())))?;
    let client = Client::builder(TokioExecutor::new()).build_http();
    let response = client.request(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    if status.is_success() {
        return Ok(());
    }
    let refusal: Value = serde_json::from_slice(&body).unwrap_or_default();
    let message = refusal["message"].as_str().unwrap_or("no reason given");
    Err(format!("the server answered {status}: {message}").into())
}
