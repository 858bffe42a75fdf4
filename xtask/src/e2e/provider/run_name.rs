use std::fmt;
use std::time::SystemTime;

/// The name of one run: of its container, its kind cluster or its namespace. Whatever has it
/// may be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunName(String);

// === impl RunName ===

impl RunName {
    /// Another one each time, on whichever machine.
    pub(super) fn new() -> Self {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Self(format!(
            "minrep-e2e-{:x}-{:x}",
            since.as_secs(),
            since.subsec_nanos() ^ std::process::id()
        ))
    }

    #[cfg(test)]
    pub(super) fn of_test(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is a namespace's name as well as a container's.
    #[test]
    fn it_is_a_dns_label() {
        let name = RunName::new();
        assert!(name.as_str().len() <= 63, "{name}");
        assert!(
            name.as_str()
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{name}"
        );
    }
}
