use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::process::Command;

use super::{Findings, RustFile};

/// The two crates that users get.
const PRODUCT: [&str; 2] = ["controller-core/src/", "kubectl-minrep/src/"];

/// Every text file of the workspace that git does not ignore.
pub(super) struct Tree {
    /// Sorted by path.
    pub(super) files: Vec<SourceFile>,
    /// The Rust files that could not be parsed.
    pub(super) unparsed: Findings,
}

/// One text file.
pub(super) struct SourceFile {
    /// Relative to the workspace, with `/` between the parts.
    pub(super) path: String,
    /// The whole text.
    pub(super) text: String,
    /// Present for a Rust file that parses.
    pub(super) rust: Option<RustFile>,
    /// Whether the whole file is test code, an example or a benchmark.
    pub(super) is_test: bool,
}

// === impl Tree ===

impl Tree {
    /// Reads what git knows under `root`, and what it would add.
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let listed = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .output()?;
        if !listed.status.success() {
            return Err(io::Error::other(
                String::from_utf8_lossy(&listed.stderr).trim().to_owned(),
            ));
        }
        let names = String::from_utf8_lossy(&listed.stdout).into_owned();
        let mut files = Vec::new();
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            // A file that was deleted but not yet committed as deleted is listed too, and
            // one that is no UTF-8 is no text.
            if let Ok(text) = std::fs::read_to_string(root.join(name)) {
                files.push((name.to_owned(), text));
            }
        }
        Ok(Self::new(files))
    }

    /// A tree of these paths and texts.
    pub(super) fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut unparsed = Findings::default();
        let mut files: Vec<SourceFile> = files
            .into_iter()
            .map(|(path, text)| SourceFile::new(path, text, &mut unparsed))
            .collect();
        let test_files: HashSet<String> =
            files.iter().flat_map(SourceFile::declared_tests).collect();
        for file in &mut files {
            file.is_test |= test_files.contains(&file.path);
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files, unparsed }
    }

    /// A tree of samples.
    #[cfg(test)]
    pub(super) fn sample(files: &[(&str, &str)]) -> Self {
        Self::new(
            files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned())),
        )
    }

    /// The Rust files that are not tests as a whole.
    pub(super) fn shipped(&self) -> impl Iterator<Item = (&SourceFile, &RustFile)> {
        self.files
            .iter()
            .filter(|file| !file.is_test)
            .filter_map(|file| Some((file, file.rust.as_ref()?)))
    }

    /// [`shipped`](Self::shipped), of the two product crates.
    pub(super) fn product(&self) -> impl Iterator<Item = (&SourceFile, &RustFile)> {
        self.shipped()
            .filter(|(file, _)| PRODUCT.iter().any(|prefix| file.path.starts_with(prefix)))
    }
}

// === impl SourceFile ===

impl SourceFile {
    fn new(path: String, text: String, unparsed: &mut Findings) -> Self {
        let is_rust = path.ends_with(".rs");
        let rust = is_rust.then(|| RustFile::parse(&text)).and_then(|parsed| {
            parsed
                .map_err(|(line, error)| {
                    unparsed.add(
                        &path,
                        line,
                        error,
                        "no check can read it",
                        "mend the syntax",
                    );
                })
                .ok()
        });
        Self {
            is_test: is_test_path(&path),
            path,
            text,
            rust,
        }
    }

    /// The file's name without its folders.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The module that the file holds, as path from the crate's root: `watch/mod.rs` is
    /// `["watch"]`, `lib.rs` is empty.
    pub(super) fn module(&self) -> Vec<&str> {
        let inside = self.path.split_once("src/").map_or("", |(_, rest)| rest);
        let mut parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
        if let Some("mod" | "lib" | "main") = parts.last().copied() {
            parts.pop();
        }
        parts
    }

    /// The number of lines that are not tests.
    pub(super) fn shipped_lines(&self) -> usize {
        let is_test = |line| {
            self.rust
                .as_ref()
                .is_some_and(|rust| rust.is_test_line(line))
        };
        (1..=self.text.lines().count())
            .filter(|line| !is_test(*line))
            .count()
    }

    /// The files behind this file's `#[cfg(test)] mod name;`.
    fn declared_tests(&self) -> Vec<String> {
        let Some(rust) = &self.rust else {
            return Vec::new();
        };
        let folder = match self.path.rsplit_once('/') {
            Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder,
            _ => self.path.trim_end_matches(".rs"),
        };
        rust.test_modules
            .iter()
            .flat_map(|name| {
                [
                    format!("{folder}/{name}.rs"),
                    format!("{folder}/{name}/mod.rs"),
                ]
            })
            .collect()
    }
}

/// `tests.rs`, and everything under a `tests`, `examples` or `benches` folder. The crates
/// that live in the workspace's own `tests/` are code like any other.
fn is_test_path(path: &str) -> bool {
    let inside = path.strip_prefix("tests/").unwrap_or(path);
    inside
        .split('/')
        .any(|part| matches!(part, "tests" | "examples" | "benches" | "tests.rs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_file_is_known_by_its_place_or_its_declaration() {
        let tree = Tree::sample(&[
            (
                "controller-core/src/watch/mod.rs",
                "#[cfg(test)]\nmod scripted;\n",
            ),
            ("controller-core/src/watch/scripted.rs", ""),
            ("controller-core/src/watch/list/tests.rs", ""),
            ("controller-core/tests/relist.rs", ""),
            ("tests/sim-apiserver/src/lib.rs", ""),
            ("tests/sim-apiserver/tests/watch.rs", ""),
        ]);
        let shipped: Vec<&str> = tree.shipped().map(|(file, _)| file.path.as_str()).collect();
        assert_eq!(
            shipped,
            [
                "controller-core/src/watch/mod.rs",
                "tests/sim-apiserver/src/lib.rs"
            ]
        );
    }

    #[test]
    fn a_module_is_told_from_the_path() {
        let tree = Tree::sample(&[
            ("a/src/lib.rs", ""),
            ("a/src/watch/list.rs", ""),
            ("a/src/watch/mod.rs", ""),
        ]);
        let modules: Vec<Vec<&str>> = tree.files.iter().map(SourceFile::module).collect();
        assert_eq!(modules, [vec![], vec!["watch", "list"], vec!["watch"]]);
    }
}
