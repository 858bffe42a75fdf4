use std::error::Error;
use std::pin::pin;

use clap::{Args, Subcommand};
use serde_json::json;
use tokio::time::Instant;

use super::answer::Content;
use super::compare::differences;
use super::fixtures::Fixtures;
use super::kept::Kept;
use super::play::Play;
use super::real::{self, Real};
use super::report::{self, GroupReport, Report};
use super::script::{Case, Group, Step};
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
const TOPICS: [(&str, &str); 1] = [("reads.http", include_str!("cases/reads.http"))];
const FIXTURES: &str = include_str!("cases/fixtures.yaml");
const KEPT: &str = include_str!("cases/kept.yaml");

/// Runs the comparison. `Ok(false)`: something differs that nobody has explained.
pub(crate) async fn run(command: Command) -> Result<bool, Box<dyn Error>> {
    let Command::Sim(flags) = command;
    let started = Instant::now();
    let fixtures = Fixtures::parse(FIXTURES)?;
    let groups = groups(&fixtures)?;
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

async fn compare_all(
    real: &Side,
    simulated: &Side,
    groups: &[(&str, Group)],
    mut kept: Kept,
    flags: &Flags,
) -> Result<Report, String> {
    let mut report = Report::default();
    for (file, group) in groups {
        if !format!("{file}: {}", group.title).contains(&flags.only) {
            continue;
        }
        let mut of_group = GroupReport {
            file: (*file).to_owned(),
            title: group.title.clone(),
            ..GroupReport::default()
        };
        let texts = compare_group(real, simulated, group, &mut kept, flags, &mut of_group).await?;
        println!("{}", report.group(of_group));
        print!("{}", texts.concat());
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

/// Plays a group on both servers at once, step by step, and returns what there is to read.
async fn compare_group(
    real: &Side,
    simulated: &Side,
    group: &Group,
    kept: &mut Kept,
    flags: &Flags,
    report: &mut GroupReport,
) -> Result<Vec<String>, String> {
    let namespace = group.namespace();
    let mut plays = (
        Play::new(real, namespace.clone()),
        Play::new(simulated, namespace),
    );
    let mut texts = Vec::new();
    for case in [&Case::namespace()].into_iter().chain(&group.cases) {
        let (real, simulated) = tokio::join!(plays.0.step(case), plays.1.step(case));
        let (real, simulated) = (real?, simulated?);
        let answers = (real.answer, simulated.answer);
        let (Some(real_answer), Some(simulated_answer)) = answers else {
            continue;
        };
        report.requests += usize::from(!matches!(case.step, Step::Read(_)));
        report.watches += usize::from(matches!(case.step, Step::Watch(_) | Step::Open));
        if let Content::Events { events, .. } = &real_answer.content {
            report.events += events.len();
        }
        if flags.answers {
            let (real, simulated) = (real_answer.text(), simulated_answer.text());
            let place = &case.place;
            let title = &case.title;
            texts.push(format!(
                "{place}: {title}\n--- real\n{real}--- simulated\n{simulated}\n"
            ));
        }
        let id = case.id(group);
        let mut all = differences(&real_answer, &simulated_answer, case.scope);
        let found = all.len();
        all.retain(|difference| !kept.explains(&id, difference));
        if case.status != 0 && real.status != case.status {
            let (expected, answered) = (case.status, real.status);
            all.push(format!(
                "the script says {expected}, the real server {answered}"
            ));
        }
        match (found, all.len()) {
            (0, 0) => report.same += 1,
            (_, 0) => report.kept += 1,
            _ => {
                report.different += 1;
                texts.push(report::difference(
                    &case.place,
                    &case.title,
                    &all,
                    &real_answer,
                    &simulated_answer,
                ));
            }
        }
    }
    Ok(texts)
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
        assert!(cases >= 19, "only {cases} cases");
        Kept::parse(KEPT).unwrap();
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
