use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Parser;

use super::tally::Tally;
use crate::plugin::{self, Profile};
use crate::task::{Task, root};

/// Checks that each command in README.md's `sh` blocks is real: tasks parse, the plugin
/// knows the flags, files are there. Nothing is run but the plugin's `--help`.
pub(super) fn check() -> io::Result<Tally> {
    let text = std::fs::read_to_string(root().join("README.md"))?;
    let plugin = plugin::build(Profile::Dev)?;
    let mut tally = Tally::default();
    for line in commands(&text) {
        match verify(line, &plugin) {
            Ok(()) => {
                println!("ok {line}");
                tally.passed += 1;
            }
            Err(why) => {
                println!("FAILED {line}: {why}");
                tally.failed += 1;
            }
        }
    }
    Ok(tally)
}

/// The lines of the `sh` blocks, without comments.
fn commands(text: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside && line == "```sh";
            continue;
        }
        let command = line.split(" #").next().unwrap_or(line).trim();
        if inside && !command.is_empty() && !command.starts_with('#') {
            found.push(command);
        }
    }
    found
}

fn verify(line: &str, plugin: &Path) -> Result<(), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["cargo", "xtask", arguments @ ..] => {
            let typed = ["cargo xtask"].iter().chain(arguments);
            Task::try_parse_from(typed)
                .map(drop)
                .map_err(|error| error.to_string())
        }
        ["cargo", "install", "--path", path, "--locked"] => exists(&format!("{path}/src/main.rs")),
        ["kubectl", "minrep", arguments @ ..] => help(plugin, arguments),
        ["kubectl", "apply", "-f", path] => exists(path),
        ["kubectl", "get" | "scale" | "delete" | "label", ..] => Ok(()),
        _ => Err("nothing checks such a command: teach xtask/src/test/readme.rs to".to_owned()),
    }
}

fn exists(path: &str) -> Result<(), String> {
    let there = root().join(path).exists();
    there
        .then_some(())
        .ok_or_else(|| format!("there is no {path}"))
}

/// clap looks at the flags before it prints the help.
fn help(plugin: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(plugin)
        .args(arguments)
        .arg("--help")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shell_blocks_count_and_comments_do_not() {
        let text = "```sh\n# setup\ncargo xtask tidy   # checks\n```\ncargo xtask no\n\
                    ```rust\nfn main() {}\n```\n```sh\nkubectl get deploy\n```\n";
        assert_eq!(commands(text), ["cargo xtask tidy", "kubectl get deploy"]);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let verify = |line| verify(line, Path::new("/no/plugin"));
        assert_eq!(verify("cargo xtask tidy"), Ok(()));
        assert!(verify("cargo xtask tidyup").is_err());
        assert_eq!(verify("cargo install --path xtask --locked"), Ok(()));
        assert_eq!(
            verify("kubectl apply -f manifests/none.yaml"),
            Err("there is no manifests/none.yaml".into())
        );
        assert!(verify("kubectl minrep run").is_err(), "there is no plugin");
        assert!(verify("make all").is_err());
    }
}
