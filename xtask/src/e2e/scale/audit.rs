use std::io;
use std::path::Path;

use serde::Deserialize;

/// What the plugin asked of the server, read from its audit log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Writes to Deployments, whatever came of them.
    pub(super) writes: usize,
    /// Of these, how many met another state than they were decided on.
    pub(super) conflicts: usize,
    /// Requests that the server had no time for.
    pub(super) throttled: usize,
    pub(super) lists: usize,
}

/// One line of an audit log, as far as it is looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    stage: String,
    verb: String,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
}

#[derive(Deserialize)]
struct ObjectRef {
    #[serde(default)]
    resource: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

// === impl Asked ===

impl Asked {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let mut asked = Self::default();
        for line in text.lines() {
            // The last line may be half written.
            if let Ok(entry) = serde_json::from_str::<Entry>(line) {
                asked.count(&entry);
            }
        }
        Ok(asked)
    }

    fn count(&mut self, entry: &Entry) {
        if entry.stage != "ResponseComplete" || !entry.user_agent.starts_with("kubectl-minrep/") {
            return;
        }
        let code = entry
            .response_status
            .as_ref()
            .map_or(0, |status| status.code);
        let resource = entry
            .object_ref
            .as_ref()
            .map(|object| object.resource.as_str());
        self.throttled += usize::from(code == 429);
        self.lists += usize::from(entry.verb == "list");
        if entry.verb == "patch" && resource == Some("deployments") {
            self.writes += 1;
            self.conflicts += usize::from(code == 409);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_plugin_was_answered_counts() {
        let entry = |agent: &str, verb: &str, stage: &str, code: u16| {
            format!(
                r#"{{"stage":"{stage}","verb":"{verb}","userAgent":"{agent}","objectRef":{{"resource":"deployments","subresource":"scale"}},"responseStatus":{{"code":{code}}}}}"#
            )
        };
        let ours = "kubectl-minrep/0.1.0 (linux/amd64)";
        let done = "ResponseComplete";
        let lines = [
            entry(ours, "patch", done, 200),
            entry(ours, "patch", done, 409),
            entry(ours, "patch", "RequestReceived", 0),
            entry(ours, "list", done, 429),
            entry("kubectl/v1.36.1", "patch", done, 200),
            "{\"stage\":\"Resp".to_owned(),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        std::fs::write(&path, lines.join("\n")).unwrap();
        let expected = Asked {
            writes: 2,
            conflicts: 1,
            throttled: 1,
            lists: 1,
        };
        assert_eq!(Asked::read(&path).unwrap(), expected);
    }
}
