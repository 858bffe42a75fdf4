//! The Docker Engine, on this machine or where `DOCKER_HOST` says.
//!
//! Containers are started by testcontainers; this is what it has no function for: whether an
//! Engine answers, and why not; what an image needs; and the removal of all that a run has made.
mod connect;
mod engine;
mod image_name;

pub(crate) use engine::Engine;
pub(crate) use image_name::ImageName;
