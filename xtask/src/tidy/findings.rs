use std::fmt;

/// What one check has to say about the tree.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// What has to be mended.
    pub(super) violations: Vec<Violation>,
    /// Numbers worth showing even when all is well, one a line.
    pub(super) measured: Vec<String>,
}

/// One broken rule, at one place.
#[derive(Debug)]
pub(super) struct Violation {
    /// The file, relative to the workspace.
    pub(super) path: String,
    /// Counted from 1; a rule about the whole file names line 1.
    pub(super) line: usize,
    /// What is wrong here.
    pub(super) what: String,
    /// Why there is such a rule.
    pub(super) why: &'static str,
    /// How to mend it.
    pub(super) mend: String,
}

// === impl Findings ===

impl Findings {
    /// Adds a violation.
    pub(super) fn add(
        &mut self,
        path: &str,
        line: usize,
        what: impl Into<String>,
        why: &'static str,
        mend: impl Into<String>,
    ) {
        self.violations.push(Violation {
            path: path.to_owned(),
            line,
            what: what.into(),
            why,
            mend: mend.into(),
        });
    }

    /// The violations as a test reads them: `path:line what`.
    #[cfg(test)]
    pub(super) fn brief(&self) -> String {
        let lines: Vec<String> = self
            .violations
            .iter()
            .map(|v| format!("{}:{} {}", v.path, v.line, v.what))
            .collect();
        lines.join("\n")
    }
}

// === impl Violation ===

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            what,
            why,
            mend,
        } = self;
        write!(f, "{path}:{line}: {what}\n    why: {why}\n    mend: {mend}")
    }
}
