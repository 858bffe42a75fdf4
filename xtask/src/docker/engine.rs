use std::collections::HashMap;
use std::path::Path;

use testcontainers_modules::testcontainers::bollard::Docker;
use testcontainers_modules::testcontainers::bollard::errors::Error as ApiError;
use testcontainers_modules::testcontainers::bollard::query_parameters::{
    ListContainersOptionsBuilder, RemoveContainerOptionsBuilder,
};
use testcontainers_modules::testcontainers::core::client::docker_client_instance;

use super::ImageName;
use super::connect::{host, is_socket, no_answer, no_client};
use crate::missing::Missing;

/// The label of an image that says that it needs no privileges.
const UNPRIVILEGED: &str = "dev.minrep.unprivileged";

/// Not to be found, in the Engine's API.
const NOT_FOUND: u16 = 404;

/// A Docker Engine that has answered.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    api: Docker,
}

/// What is known of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// It needs not be pulled.
    pub(crate) here: bool,
    /// Containers run inside of its container.
    pub(crate) privileged: bool,
    /// In bytes; 0 if it is not here.
    pub(crate) size: i64,
}

// === impl Engine ===

impl Engine {
    /// Finds the Engine that testcontainers uses, too, and asks whether it is there.
    ///
    /// # Errors
    /// [`Missing`] says why it cannot be used.
    pub(crate) async fn connect() -> Result<Self, Missing> {
        let api = docker_client_instance()
            .await
            .map_err(|error| no_client(&error))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        api.ping()
            .await
            .map_err(|error| no_answer(&error, &host(), &path))?;
        Ok(Self { api })
    }

    /// Whether a port that is published on loopback can be reached from here.
    pub(crate) async fn is_local(&self) -> bool {
        if !is_socket(&host()) {
            return false;
        }
        // Docker puts that file into each of its containers. The socket may be that of the
        // Engine outside then, or of one beside us.
        !Path::new("/.dockerenv").exists() || self.has_our_name().await
    }

    /// Whether the Engine's machine is called what this one is: a container is not.
    async fn has_our_name(&self) -> bool {
        let ours = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let theirs = self.api.info().await.ok().and_then(|info| info.name);
        theirs.is_some_and(|name| name == ours.trim_end())
    }

    /// Looks at an image. One that is not here is taken for what k3s is: privileged.
    pub(crate) async fn image(&self, image: &ImageName) -> Result<Image, ApiError> {
        let found = match self.api.inspect_image(&image.to_string()).await {
            Ok(found) => found,
            Err(ApiError::DockerResponseServerError { status_code, .. })
                if status_code == NOT_FOUND =>
            {
                return Ok(Image {
                    here: false,
                    privileged: true,
                    size: 0,
                });
            }
            Err(error) => return Err(error),
        };
        let labels = found.config.and_then(|config| config.labels);
        let label = labels.as_ref().and_then(|labels| labels.get(UNPRIVILEGED));
        Ok(Image {
            here: true,
            privileged: label.is_none_or(|value| value != "true"),
            size: found.size.unwrap_or_default(),
        })
    }

    /// Whether there is a container with this label, running or not.
    pub(crate) async fn has_labelled(&self, label: &str, value: &str) -> Result<bool, ApiError> {
        Ok(!self.labelled(label, value).await?.is_empty())
    }

    /// Removes all containers with this label, running or not, and their volumes.
    ///
    /// # Errors
    /// What the Engine says. One that is already gone is not an error.
    pub(crate) async fn remove_labelled(&self, label: &str, value: &str) -> Result<(), ApiError> {
        let force = RemoveContainerOptionsBuilder::new().force(true).v(true);
        for id in self.labelled(label, value).await? {
            let removed = self.api.remove_container(&id, Some(force.clone().build()));
            match removed.await {
                Err(ApiError::DockerResponseServerError { status_code, .. })
                    if status_code == NOT_FOUND => {}
                removed => removed?,
            }
        }
        Ok(())
    }

    async fn labelled(&self, label: &str, value: &str) -> Result<Vec<String>, ApiError> {
        let filters = HashMap::from([("label", vec![format!("{label}={value}")])]);
        let all = ListContainersOptionsBuilder::new()
            .all(true)
            .filters(&filters)
            .build();
        let containers = self.api.list_containers(Some(all)).await?;
        Ok(containers.into_iter().filter_map(|one| one.id).collect())
    }

    /// Whether there is a network of this name.
    pub(crate) async fn has_network(&self, name: &str) -> Result<bool, ApiError> {
        match self.api.inspect_network(name, None).await {
            Ok(_) => Ok(true),
            Err(ApiError::DockerResponseServerError { status_code, .. })
                if status_code == NOT_FOUND =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Removes a network; the Engine refuses while a container is in it.
    pub(crate) async fn remove_network(&self, name: &str) -> Result<(), ApiError> {
        self.api.remove_network(name).await
    }
}
