use std::env::consts::{ARCH, OS};
use std::io;

use serde::Serialize;

use crate::cli::OutputArg;
use crate::out::Io;

/// The Kubernetes minor versions whose API this program was written against.
const KUBERNETES_OLDEST: &str = "1.33";
/// The newest of them, which the end-to-end tests run.
const KUBERNETES_NEWEST: &str = "1.36";

/// `version -o json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    api_version: &'static str,
    kind: &'static str,
    client_version: Client,
    kubernetes: Range,
}

#[derive(Serialize)]
struct Client {
    version: &'static str,
    platform: String,
    debug: bool,
}

#[derive(Serialize)]
struct Range {
    oldest: &'static str,
    newest: &'static str,
}

/// Says which build this is. Reads no kubeconfig and asks no server.
///
/// # Errors
///
/// stdout cannot be written to.
pub(crate) fn version(output: OutputArg, io: &Io) -> io::Result<()> {
    let version = Version {
        api_version: "minrep.dev/v1alpha1",
        kind: "Version",
        client_version: Client {
            version: env!("CARGO_PKG_VERSION"),
            platform: platform(),
            debug: cfg!(debug_assertions),
        },
        kubernetes: Range {
            oldest: KUBERNETES_OLDEST,
            newest: KUBERNETES_NEWEST,
        },
    };
    match output {
        OutputArg::Table | OutputArg::Wide | OutputArg::Name => io.data(format_args!(
            "kubectl-minrep {} ({})\nKubernetes {KUBERNETES_OLDEST} to {KUBERNETES_NEWEST}\n",
            version.client_version.version, version.client_version.platform,
        )),
        OutputArg::Json => {
            let text = serde_json::to_string_pretty(&version).map_err(io::Error::other)?;
            io.data(format_args!("{text}\n"))
        }
        OutputArg::Yaml => io.data(serde_saphyr::to_string(&version).map_err(io::Error::other)?),
    }
}

/// `linux/amd64`: as kubectl's own version names it, so in Go's words.
fn platform() -> String {
    let os = match OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}/{arch}")
}
