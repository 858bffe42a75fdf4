use testcontainers_modules::testcontainers::bollard::Docker;
use testcontainers_modules::testcontainers::bollard::errors::Error as ApiError;
use testcontainers_modules::testcontainers::core::client::docker_client_instance;

use super::ImageName;
use super::connect::{host, no_answer, no_client};
use crate::missing::Missing;

/// Not to be found, in the Engine's API.
const NOT_FOUND: u16 = 404;

/// A Docker Engine that has answered.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    api: Docker,
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

    /// The size of an image in bytes, or `None` if it is not here.
    pub(crate) async fn size(&self, image: &ImageName) -> Result<Option<i64>, ApiError> {
        match self.api.inspect_image(&image.to_string()).await {
            Ok(found) => Ok(found.size),
            Err(ApiError::DockerResponseServerError { status_code, .. })
                if status_code == NOT_FOUND =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
