use super::{Exit, Report, did_you_mean};
use crate::out::escape_line;

/// A namespace that was named and does not exist. `known` are the ones that do, empty
/// where they may not be listed.
pub fn namespace_not_found(name: &str, known: &[String]) -> Report {
    let report = Report::error(Exit::NotFound, format_args!("namespace {name:?} not found"));
    match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(meant) => report.hint(format_args!(
            "did you mean {:?}? (`kubectl get ns`)",
            escape_line(meant)
        )),
        None => report.hint("`kubectl get ns` shows the ones that exist"),
    }
}
