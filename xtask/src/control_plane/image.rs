//! `docker build` of the binary.

use std::io;
use std::process::{Command, ExitStatus, Stdio};

use tokio::time::Instant;

use super::build::{Binary, module};
use crate::docker::{Engine, ImageName};
use crate::missing::{Missing, has};

/// The image's name and tag unless another is asked for.
pub(crate) const IMAGE: &str = "minrep-control-plane:latest";

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    /// There is no Docker.
    #[error("docker is needed")]
    Docker(#[from] Missing),
    /// `docker` could not be started.
    #[error("cannot run docker")]
    Run(#[source] io::Error),
    /// It refused; it has printed why.
    #[error("docker build failed ({0})")]
    Failed(ExitStatus),
}

/// Puts the binary into an image `FROM scratch`. `docker` prints what it does only if it
/// fails.
///
/// # Errors
/// [`ImageError`].
pub(crate) async fn build_image(binary: &Binary, image: &ImageName) -> Result<(), ImageError> {
    check().await?;
    let mut build = Command::new("docker");
    build.args(arguments(binary, image));
    if !has_buildx() {
        // Without this a new docker command explains at length that it has no buildx.
        build.env("DOCKER_BUILDKIT", "0");
    }
    let output = build
        .stdin(Stdio::null())
        .output()
        .map_err(ImageError::Run)?;
    if output.status.success() {
        return Ok(());
    }
    eprint!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    Err(ImageError::Failed(output.status))
}

/// Looks for a Docker that can build.
///
/// # Errors
/// [`ImageError::Docker`].
pub(super) async fn check() -> Result<Engine, ImageError> {
    let engine = Engine::connect().await?;
    if has("docker") {
        Ok(engine)
    } else {
        Err(Missing::DockerCommand.into())
    }
}

/// Builds it and says how large it is and how long that took.
///
/// # Errors
/// [`ImageError`].
pub(super) async fn report_image(binary: &Binary, image: &ImageName) -> Result<(), ImageError> {
    let start = Instant::now();
    build_image(binary, image).await?;
    let seconds = start.elapsed().as_secs_f64();
    let engine = check().await?;
    let size = engine.image(image).await.map_or(0, |image| image.size);
    println!(
        "{image} ({} MB) in {seconds:.1} s after the binary",
        size / 1_000_000
    );
    println!("use it: cargo xtask e2e --provider k3s --image {image}");
    Ok(())
}

/// The context is the folder of the binary: nothing else is sent to the daemon.
fn arguments(binary: &Binary, image: &ImageName) -> Vec<String> {
    let folder = binary.path().with_file_name("");
    vec![
        "build".into(),
        "--file".into(),
        module().join("Dockerfile").display().to_string(),
        "--tag".into(),
        image.to_string(),
        folder.display().to_string(),
    ]
}

fn has_buildx() -> bool {
    Command::new("docker")
        .args(["buildx", "version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_the_binary_is_sent_to_the_daemon() {
        let Ok(image) = "a/b:c".parse();
        let arguments = arguments(&Binary::at(Path::new("/repo/bin/control-plane")), &image);
        let arguments = arguments.join(" ");
        let module = module().display().to_string();
        insta::assert_snapshot!(arguments.replace(&module, "MODULE"), @"build --file MODULE/Dockerfile --tag a/b:c /repo/bin/");
    }

    #[test]
    fn the_name_is_the_one_that_texts_tell() {
        let Ok(image) = "minrep-control-plane".parse::<ImageName>();
        assert_eq!(image.to_string(), IMAGE);
    }
}
