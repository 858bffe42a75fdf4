use std::error::Error;
use std::pin::pin;

use clap::error::ErrorKind;
use clap::{Args, Subcommand};
use futures::{StreamExt, stream};
use serde_json::json;
use tokio::time::Instant;

use super::fixtures::Fixtures;
use super::kept::Kept;
use super::real::{self, Real};
use super::report::Report;
use super::round::Round;
use super::script::Group;
use super::side::Side;
use super::simulated::Simulated;
use crate::process::interrupted;
use crate::task::root;

/// Hold something that stands for a real API server to a real one.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send the same requests to the simulated and to the real server, and compare
    Sim(Flags),
}

/// Flags of `judge sim`.
#[derive(Debug, Args)]
pub(crate) struct Flags {
    /// Only groups with this text in their file's name or their title
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Print every answer of both servers, symbols and all
    #[arg(long)]
    answers: bool,
}

/// The topics, in the order in which they are played.
const TOPICS: [(&str, &str); 11] = [
    ("discovery.http", include_str!("cases/discovery.http")),
    ("refusals.http", include_str!("cases/refusals.http")),
    ("lists.http", include_str!("cases/lists.http")),
    ("watches.http", include_str!("cases/watches.http")),
    ("patches.http", include_str!("cases/patches.http")),
    ("deletes.http", include_str!("cases/deletes.http")),
    ("validation.http", include_str!("cases/validation.http")),
    ("forms.http", include_str!("cases/forms.http")),
    ("kinds.http", include_str!("cases/kinds.http")),
    ("kubectl.http", include_str!("cases/kubectl.http")),
    ("past.http", include_str!("cases/past.http")),
];
const FIXTURES: &str = include_str!("cases/fixtures.yaml");
const KEPT: &str = include_str!("cases/kept.yaml");

/// Most of the time is spent waiting for watches to end.
const AT_ONCE: usize = 16;

/// Runs the comparison. `Ok(false)`: something differs that nobody has explained.
pub(crate) async fn run(command: Command) -> Result<bool, Box<dyn Error>> {
    let Command::Sim(flags) = command;
    let started = Instant::now();
    let fixtures = Fixtures::parse(FIXTURES)?;
    let groups = wanted(groups(&fixtures)?, &flags.only)?;
    let kept = Kept::parse(KEPT)?;

    let mut stop = pin!(interrupted());
    let real = tokio::select! {
        biased;
        stopped = &mut stop => return Err(stopped.err().map_or("interrupted".into(), Into::into)),
        real = Real::start() => Side::real(real?).await?,
    };
    let simulated = Side::simulated(Simulated::start().await?).await?;
    let compared = async {
        let definition = fixtures.object("scaledObjectDefinition", &json!({}))?;
        real::define(&real, &definition).await?;
        compare_all(&real, &simulated, &groups, kept, &flags).await
    };
    let compared = tokio::select! {
        biased;
        _ = &mut stop => Err("interrupted".to_owned()),
        compared = compared => compared,
    };
    let stopped = (simulated.stop().await, real.stop().await);
    let mut report = compared?;
    stopped.0?;
    stopped.1?;

    report.seconds = started.elapsed().as_secs_f64();
    println!("{}", report.summary());
    report.write(&root().join("target/judge/sim.json"))?;
    Ok(report.is_well())
}

fn groups(fixtures: &Fixtures) -> Result<Vec<(&'static str, Group)>, String> {
    let mut groups = Vec::new();
    for (file, text) in TOPICS {
        let of_file = Group::parse(file, text, fixtures)?;
        groups.extend(of_file.into_iter().map(|group| (file, group)));
    }
    Ok(groups)
}

/// The groups with a text in their file's name or their title; none is a mistake.
fn wanted(
    mut groups: Vec<(&'static str, Group)>,
    only: &str,
) -> Result<Vec<(&'static str, Group)>, clap::Error> {
    groups.retain(|(file, group)| format!("{file}: {}", group.title).contains(only));
    if groups.is_empty() {
        let why =
            format!("--only {only}: no group has this in its title, nor its file in its name\n");
        return Err(clap::Error::raw(ErrorKind::InvalidValue, why));
    }
    Ok(groups)
}

async fn compare_all(
    real: &Side,
    simulated: &Side,
    groups: &[(&'static str, Group)],
    mut kept: Kept,
    flags: &Flags,
) -> Result<Report, String> {
    // What makes a server forget its past does so for all: it comes last, one by one.
    let (together, alone): (Vec<_>, Vec<_>) =
        groups.iter().partition(|(_, group)| !group.forgets());
    let mut report = Report::default();
    for (groups, at_once) in [(together, AT_ONCE), (alone, 1)] {
        let rounds = stream::iter(groups)
            .map(|(file, group)| Round::play(real, simulated, file, group))
            .buffered(at_once);
        let mut rounds = pin!(rounds);
        while let Some(round) = rounds.next().await {
            let verdict = round?.judge(&mut kept, flags.answers);
            println!("{}", report.group(verdict.report));
            print!("{}", verdict.text);
        }
    }
    // Of some groups only, most entries match nothing.
    let stale = if flags.only.is_empty() {
        kept.stale()
    } else {
        Vec::new()
    };
    report.kept(&kept, stale);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_scripts_and_tables_of_this_repository_can_be_read() {
        let fixtures = Fixtures::parse(FIXTURES).unwrap();
        let groups = groups(&fixtures).unwrap();
        let cases: usize = groups.iter().map(|(_, group)| group.cases.len()).sum();
        assert!(cases >= 150, "only {cases} cases");
        Kept::parse(KEPT).unwrap();
    }

    #[test]
    fn a_text_that_no_group_has_is_an_error() {
        let fixtures = Fixtures::parse(FIXTURES).unwrap();
        let chosen = |only| wanted(groups(&fixtures).unwrap(), only);
        let of_file = chosen("past.http").unwrap();
        assert!(of_file.iter().all(|(file, _)| *file == "past.http"));
        assert_eq!(chosen("Bookmarks").unwrap().len(), 1);
        assert!(chosen("").unwrap().len() > 50);
        let refused = chosen("nowhere").err().unwrap().to_string();
        assert!(refused.starts_with("error: --only nowhere: no group has this"));
    }

    #[test]
    fn every_group_has_a_namespace_of_its_own_and_every_case_a_name() {
        let fixtures = Fixtures::parse(FIXTURES).unwrap();
        let groups = groups(&fixtures).unwrap();
        let mut namespaces = BTreeSet::new();
        for (_, group) in &groups {
            assert!(namespaces.insert(group.namespace()), "{}", group.title);
            assert!(!group.cases.is_empty(), "{}", group.title);
        }
    }
}
