//! Whether the server has a kind that many servers do not have.

use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::{Duration, sleep};

use super::NotSynced;
use super::error::is_hopeless;
use crate::client::{ApiError, Call, ResourceType, Scope, Target, fetch};
use crate::controllers::min_replicas::{HpaPolicy, ScaledObject, Settings};
use crate::watch::ListError;

/// How long to wait after an answer that is no answer.
const BETWEEN_TRIES: Duration = Duration::from_secs(5);

/// The discovery document of one group and version, as far as it is needed.
#[derive(Deserialize)]
struct Resources {
    resources: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Whether ScaledObjects are to be looked at.
///
/// # Errors
/// If that cannot be found out, or if they are there and may not be listed: not to know of
/// them is not that there are none.
pub(super) async fn has_scaled_objects(
    client: &kube::Client,
    settings: &Settings,
    scope: &Scope,
) -> Result<bool, NotSynced> {
    if settings.hpa == HpaPolicy::Ignore {
        return Ok(false);
    }
    let resource = ScaledObject::RESOURCE;
    is_served(client, &resource, scope)
        .await
        .map_err(|error| NotSynced {
            resource,
            source: ListError::Api(error).into(),
        })
}

/// The same for a loop, which waits until it is told.
pub(super) async fn has_scaled_objects_in_the_end(
    client: &kube::Client,
    settings: &Settings,
    scope: &Scope,
) -> Result<bool, NotSynced> {
    let mut told = false;
    loop {
        match has_scaled_objects(client, settings, scope).await {
            Err(error) if !is_hopeless(&error.source) => {
                if !told {
                    tracing::warn!("{error}: {}; waiting for it", error.source);
                    told = true;
                }
                sleep(BETWEEN_TRIES).await;
            }
            known => return known,
        }
    }
}

/// Asks for the objects themselves first: who works in one namespace asks for nothing
/// outside of it. Only a refusal says nothing, for a server refuses to list what it does not
/// have as well; then the discovery document tells, which everybody may read.
async fn is_served(
    client: &kube::Client,
    resource: &ResourceType,
    scope: &Scope,
) -> Result<bool, ApiError> {
    let probe = Call::list(resource, scope).with_query([("limit", "1")]);
    match fetch::<IgnoredAny>(client, probe).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(refusal) if refusal.is_forbidden() => match discovered(client, resource).await? {
            true => Err(refusal),
            false => Ok(false),
        },
        Err(error) => Err(error),
    }
}

async fn discovered(client: &kube::Client, resource: &ResourceType) -> Result<bool, ApiError> {
    let path = format!("/apis/{}/{}", resource.group, resource.version);
    let document = Call {
        target: Target {
            resource: path.clone(),
            ..Target::default()
        },
        path_and_query: path,
        ..Call::get(resource, &crate::client::ObjectKey::cluster(""))
    };
    match fetch::<Resources>(client, document).await {
        Ok(document) => {
            let mut names = document.resources.iter().map(|it| it.name.as_str());
            Ok(names.any(|name| name == resource.plural))
        }
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}
