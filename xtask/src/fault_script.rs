//! `--faults FILE`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sim_apiserver::faults::{Script, ScriptError};

/// Why a fault script cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FaultScriptError {
    /// It cannot be read.
    #[error("cannot read the fault script {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It makes no sense.
    #[error("cannot use the fault script {path}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        source: ScriptError,
    },
}

/// Reads a fault script.
///
/// # Errors
/// [`FaultScriptError`].
pub(crate) fn load(path: &Path) -> Result<Script, FaultScriptError> {
    let owned = || path.to_owned();
    let text = fs::read_to_string(path).map_err(|source| FaultScriptError::Read {
        path: owned(),
        source,
    })?;
    Script::parse(&text).map_err(|source| FaultScriptError::Invalid {
        path: owned(),
        source,
    })
}
