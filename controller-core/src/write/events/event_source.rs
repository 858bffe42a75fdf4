use std::borrow::Cow;

use super::cut::cut;
use crate::watch::{is_qualified, is_subdomain};

/// Who reports: a controller, and which of its instances.
///
/// ```
/// use controller_core::write::events::EventSource;
///
/// let hostname = "minrep-7d9c-x2x"; // the Pod's name, from HOSTNAME or the downward API
/// let source = EventSource::new("minrep.dev/min-replicas", hostname)?;
/// assert_eq!(source.instance(), "minrep-7d9c-x2x");
///
/// let error = EventSource::new("my controller", hostname).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"the name "my controller" of a reporting controller is not of the form [PREFIX/]NAME"#,
/// );
/// # Ok::<(), controller_core::write::events::SourceError>(())
/// ```
///
/// Choose the controller's name once and keep it: people filter by it, and it is part of
/// what makes two events one series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EventSource {
    controller: String,
    instance: String,
}

/// A source whose every event the server would refuse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The server wants a qualified name there, such as `example.com/my-controller`.
    #[error("the name {0:?} of a reporting controller is not of the form [PREFIX/]NAME")]
    Controller(String),

    /// The server wants to know which instance.
    #[error("the reporting instance has no name")]
    NoInstance,
}

/// `ReportingInstanceLengthLimit` of `k8s.io/kubernetes/pkg/apis/core/validation/events.go`.
const INSTANCE_LIMIT: usize = 128;

/// The longest name and prefix of apimachinery's `IsQualifiedName`.
const NAME_LIMIT: usize = 63;
const PREFIX_LIMIT: usize = 253;

// === impl EventSource ===

impl EventSource {
    /// `controller` is a qualified name: at most 63 letters, digits, `-`, `_`, `.`, and
    /// perhaps a DNS name and a slash before it. `instance` is cut to 128 bytes; the host's
    /// or the Pod's name is a good one.
    ///
    /// # Errors
    /// When the server would refuse every event of this source. Better to hear of it at the
    /// start.
    pub fn new(
        controller: impl Into<String>,
        instance: impl Into<String>,
    ) -> Result<Self, SourceError> {
        let (controller, instance) = (controller.into(), instance.into());
        if !is_qualified_name(&controller) {
            return Err(SourceError::Controller(controller));
        }
        if instance.is_empty() {
            return Err(SourceError::NoInstance);
        }
        let instance = cut(Cow::Owned(instance), INSTANCE_LIMIT).into_owned();
        Ok(Self {
            controller,
            instance,
        })
    }

    /// `reportingController`.
    pub fn controller(&self) -> &str {
        &self.controller
    }

    /// `reportingInstance`.
    pub fn instance(&self) -> &str {
        &self.instance
    }
}

fn is_qualified_name(text: &str) -> bool {
    let name = match text.split_once('/') {
        Some((prefix, name)) if prefix.len() <= PREFIX_LIMIT && is_subdomain(prefix) => name,
        Some(_) => return false,
        None => text,
    };
    name.len() <= NAME_LIMIT && is_qualified(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_has_a_qualified_name() {
        let (name, prefix) = ("n".repeat(63), "p".repeat(253));
        for good in [
            "minrep",
            "minrep.dev/min-replicas",
            "k8s.io/kube_foo.X",
            &name,
            &format!("{prefix}/{name}"),
        ] {
            assert!(EventSource::new(good, "i").is_ok(), "{good}");
        }
        for bad in [
            "",
            "/a",
            "a/",
            "a/b/c",
            "my controller",
            "-a",
            "UPPER/a",
            &format!("{name}n"),
            &format!("{prefix}p/a"),
        ] {
            let error = EventSource::new(bad, "i");
            assert_eq!(error, Err(SourceError::Controller(bad.into())));
        }
    }

    #[test]
    fn an_instance_is_named_and_cut() {
        let error = EventSource::new("a", "").unwrap_err();
        insta::assert_snapshot!(error, @"the reporting instance has no name");
        let source = EventSource::new("a", "é".repeat(100)).unwrap();
        assert_eq!(source.instance().len(), 127);
        assert!(source.instance().ends_with("é…"));
    }
}
