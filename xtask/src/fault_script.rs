//! `--faults FILE`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use sim_apiserver::faults::{ProxyCannot, Script, ScriptError};

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
    /// It asks a proxy for what only the simulated server can do.
    #[error("cannot use the fault script {path} before a real server")]
    Proxy {
        /// The file.
        path: PathBuf,
        /// Which rule, and which word.
        #[source]
        source: ProxyCannot,
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

/// Reads a fault script that a proxy is to carry out.
///
/// # Errors
/// [`FaultScriptError`].
pub(crate) fn load_for_proxy(path: &Path) -> Result<Script, FaultScriptError> {
    let script = load(path)?;
    script
        .check_for_proxy()
        .map_err(|source| FaultScriptError::Proxy {
            path: path.to_owned(),
            source,
        })?;
    Ok(script)
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;
    use crate::task::root;

    fn chain(error: &dyn Error) -> String {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        // Without the folder of this checkout.
        text.replace(&format!("{}/", root().display()), "")
    }

    fn example(name: &str) -> PathBuf {
        root().join("tests/faults/examples").join(name)
    }

    #[test]
    fn a_word_that_is_no_word_is_refused_with_its_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.yaml");
        fs::write(&path, "rules:\n  - match: {verb: watch}\n    do: explode\n").unwrap();
        let refusal = chain(&load(&path).unwrap_err()).replace(&path.display().to_string(), "FILE");
        assert!(
            refusal.starts_with(
                "cannot use the fault script FILE: line 3, column 5: unknown variant `explode`"
            ),
            "{refusal}"
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let refusal = chain(&load(&example("none.yaml")).unwrap_err());
        insta::assert_snapshot!(refusal, @"cannot read the fault script tests/faults/examples/none.yaml: No such file or directory (os error 2)");
    }

    #[test]
    fn what_a_proxy_cannot_do_is_refused_by_its_name() {
        assert!(load_for_proxy(&example("cut-watches.yaml")).is_ok());
        let refusal = chain(&load_for_proxy(&example("stale-endpoint.yaml")).unwrap_err());
        insta::assert_snapshot!(refusal, @r#"cannot use the fault script tests/faults/examples/stale-endpoint.yaml before a real server: rule 1 ("stale endpoint"), line 4: a proxy cannot do `answer_from`, only the simulated server can"#);
    }
}
