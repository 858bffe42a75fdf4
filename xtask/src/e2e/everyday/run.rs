use snapbox::assert::Action;
use snapbox::report::Palette;
use snapbox::{Assert, Data};

use super::session::{Section, Session, Step};
use crate::e2e::cluster::Cluster;
use crate::e2e::need::Need;
use crate::e2e::report::Report;
use crate::task::root;

/// What is typed, and what kubectl answers.
pub(super) const SESSION: &str = include_str!("session.console");

/// Runs the session, a scenario for each of its sections, if `needs` are given.
pub(in crate::e2e) async fn run(
    cluster: &Cluster,
    report: &mut Report<'_>,
    needs: &[Need],
) -> Result<(), String> {
    let session = Session::parse(SESSION)?;
    for section in &session.sections {
        let count = section.steps.len();
        let name = format!("everyday kubectl: {} ({count} commands)", section.title);
        report
            .scenario_with(needs, &name, play(cluster, section))
            .await;
    }
    Ok(())
}

async fn play(cluster: &Cluster, section: &Section) -> Result<(), String> {
    for step in &section.steps {
        check(cluster, step).await?;
    }
    Ok(())
}

/// Later commands build on this one: the first difference ends the section.
async fn check(cluster: &Cluster, step: &Step) -> Result<(), String> {
    let arguments: Vec<&str> = step.arguments.iter().map(String::as_str).collect();
    let folder = root().join("xtask/src/e2e/everyday");
    let mut command = cluster.command(&arguments);
    command.current_dir(folder);
    let output = Cluster::finish(command, "").await?;
    let place = |what: &str| {
        let line = step.line;
        format!(
            "session.console, line {line}: kubectl {}\n{what}",
            arguments.join(" ")
        )
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = text(&output.stdout) + &text(&output.stderr);
    if output.status.code() != Some(step.code) {
        let status = output.status;
        return Err(place(&format!("{status}, not {}\n{printed}", step.code)));
    }
    let compared = Assert::new()
        .action(Action::Verify)
        .normalize_paths(false)
        .palette(Palette::plain())
        .try_eq(
            None,
            Data::text(lines(&printed)),
            Data::text(lines(&step.output)),
        );
    compared.map_err(|difference| place(&difference.to_string()))
}

/// Empty lines at the end say nothing; the last line ends as any other, or `...` after it
/// would not match.
fn lines(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() {
        return String::new();
    }
    format!("{text}\n")
}
