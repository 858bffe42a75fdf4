//! Whether the server has a kind that many servers do not have.

use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::{Duration, sleep};

use super::NotSynced;
use super::error::is_hopeless;
use crate::client::{ApiError, Call, ObjectKey, ResourceType, Scope, Target, fetch};
use crate::controllers::min_replicas::{HpaPolicy, ScaledObject, Settings};
use crate::watch::ListError;

/// How long to wait after an answer that is no answer.
const BETWEEN_TRIES: Duration = Duration::from_secs(5);

/// The list of all groups, as far as it is needed.
#[derive(Deserialize)]
struct Groups {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    version: String,
}

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
/// outside of it. A refusal says nothing, for a server refuses to list what it does not
/// have as well. Nor does a 404: the server's own is plain text where it does not have the
/// group, and so is that of a gateway before it. Then discovery tells.
async fn is_served(
    client: &kube::Client,
    resource: &ResourceType,
    scope: &Scope,
) -> Result<bool, ApiError> {
    let probe = Call::list(resource, scope).with_query([("limit", "1")]);
    match fetch::<IgnoredAny>(client, probe).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => is_discovered(client, resource).await,
        Err(refusal) if refusal.is_forbidden() => match is_discovered(client, resource).await? {
            true => Err(refusal),
            false => Ok(false),
        },
        Err(error) => Err(error),
    }
}

/// Whether discovery, which everybody may read, has the kind. It is absent only by a list
/// that can be read and does not name it; whatever else is answered is an error.
async fn is_discovered(client: &kube::Client, resource: &ResourceType) -> Result<bool, ApiError> {
    let all: Groups = fetch(client, document(resource, "/apis".to_owned())).await?;
    let mut groups = all.groups.iter();
    let has_version = groups.any(|group| group.has(resource));
    if !has_version {
        return Ok(false);
    }
    Ok(resources(client, resource).await?.has(resource))
}

/// Whether a kind that was absent is there by now. Answers that say nothing (a gateway's
/// 404 among them) leave it at what is known.
pub(super) async fn has_appeared(client: &kube::Client, resource: &ResourceType) -> bool {
    match resources(client, resource).await {
        Ok(resources) => resources.has(resource),
        Err(error) => {
            tracing::trace!(%resource, %error, "still not served");
            false
        }
    }
}

/// Whether a kind that was there is surely gone.
pub(super) async fn has_gone(client: &kube::Client, resource: &ResourceType) -> bool {
    matches!(is_discovered(client, resource).await, Ok(false))
}

async fn resources(client: &kube::Client, resource: &ResourceType) -> Result<Resources, ApiError> {
    let path = format!("/apis/{}/{}", resource.group, resource.version);
    fetch(client, document(resource, path)).await
}

fn document(resource: &ResourceType, path: String) -> Call {
    Call {
        target: Target {
            resource: path.clone(),
            ..Target::default()
        },
        path_and_query: path,
        ..Call::get(resource, &ObjectKey::cluster(""))
    }
}

// === impl Group ===

impl Group {
    fn has(&self, resource: &ResourceType) -> bool {
        let mut versions = self.versions.iter();
        self.name == resource.group && versions.any(|it| it.version == resource.version)
    }
}

// === impl Resources ===

impl Resources {
    fn has(&self, resource: &ResourceType) -> bool {
        self.resources.iter().any(|it| it.name == resource.plural)
    }
}
