use http::Request;
use http_body_util::{BodyExt, Empty};
use serde_json::Value;
use sim_apiserver::faults::{Action, Past, Rule, Verb};
use sim_apiserver::{Recorded, SimApiServer};
use tower::ServiceExt;

use super::stage::{MIN, opted_in};

/// Holds every write that was sent against what it was decided on. How many there were.
pub(super) async fn writes(server: &SimApiServer) -> Result<usize, String> {
    let writes = server.requests_where(|request| request.verb().is_mutating());
    for write in &writes {
        judge(server, write)
            .await
            .map_err(|why| format!("{} {}: {why}", write.info.path, write.json()))?;
    }
    Ok(writes.len())
}

async fn judge(server: &SimApiServer, write: &Recorded) -> Result<(), String> {
    if !write.is_about("deployments/scale") {
        return Err("nothing else may be written".to_owned());
    }
    let body = write.json();
    let (metadata, replicas) = (&body["metadata"], &body["spec"]["replicas"]);
    let revision = metadata["resourceVersion"].as_str().unwrap_or_default();
    let revision: u64 = revision.parse().map_err(|_| "it names no revision")?;
    let name = write.info.name.as_deref().unwrap_or_default();
    let then = object_at(server, name, revision).await?;
    if then["metadata"]["uid"] != metadata["uid"] {
        return Err(format!("at that revision another object was there: {then}"));
    }
    if !opted_in(&then) {
        return Err("it had not opted in".to_owned());
    }
    if !then["metadata"]["deletionTimestamp"].is_null() {
        return Err("it was being deleted".to_owned());
    }
    let had = then["spec"]["replicas"].as_i64().unwrap();
    if replicas.as_i64() != Some(MIN) || had >= MIN {
        return Err(format!("it had {had} replicas"));
    }
    Ok(())
}

/// The Deployment as the server had it just after that revision.
async fn object_at(server: &SimApiServer, name: &str, revision: u64) -> Result<Value, String> {
    let past = Rule::new(Action::AnswerFrom(Past::Revision(revision))).verb(Verb::Get);
    let rule = server.faults().add(past);
    let path = format!("/apis/apps/v1/namespaces/shop/deployments/{name}");
    let request = Request::get(path).body(Empty::new()).unwrap();
    let answer = server.service().oneshot(request).await.unwrap();
    server.faults().remove(rule);
    let status = answer.status();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let object = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    if status.is_success() {
        Ok(object)
    } else {
        Err(format!("nothing was there at that revision: {object}"))
    }
}
