use std::error::Error;

use clap::{Args, Subcommand};

use super::contest::{Case, Contest};
use super::machine::machine;
use super::queue;
use super::report::Report;
use super::rounds::{self, Failure};
use super::table::table;
use crate::task::root;

/// Measure controller-core beside its peers; each race prints a table and writes
/// target/race/NAME.json
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The work queue, and client-go's (needs Go)
    Queue(Flags),
}

/// How a race is run.
#[derive(Args, Debug)]
pub(crate) struct Flags {
    /// How often each case is measured, each time in a fresh process
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Only this case; may be repeated
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,
    /// Fail if a goal is missed
    #[arg(long)]
    check: bool,
}

/// There is no case of the name that was asked for.
#[derive(Debug, thiserror::Error)]
#[error("there is no case {name}; there are {known}")]
struct UnknownCase {
    name: String,
    known: String,
}

/// Runs a race. `Ok(false)`: a subject could not run, or a goal that is to be checked was
/// missed.
pub(crate) async fn run(command: Command) -> Result<bool, Box<dyn Error>> {
    match command {
        Command::Queue(flags) => {
            // Before minutes of building.
            let cases = select(queue::cases(), &flags.cases)?;
            let contest = Contest {
                cases,
                ..queue::contest()
            };
            race(contest, &flags).await
        }
    }
}

async fn race(contest: Contest, flags: &Flags) -> Result<bool, Box<dyn Error>> {
    let (race, rounds) = (contest.name, flags.rounds.into());
    let subjects: Vec<&'static str> = contest
        .entrants
        .iter()
        .map(|entrant| entrant.name)
        .collect();
    let mut outcome = rounds::run(contest, rounds).await;
    let failures = std::mem::take(&mut outcome.failures);
    let report = Report::new(race, machine(), rounds, &subjects, outcome);
    report.write(&root().join("target/race"))?;

    let plural = if rounds == 1 { "" } else { "s" };
    println!(
        "{race}: medians of {rounds} round{plural}, on {}",
        report.machine
    );
    for (name, version) in report.versions() {
        println!("{name} {version}");
    }
    print!("\n{}", table(&report, &subjects));
    for (case, name) in report.unsteady() {
        eprintln!("warning: {case}: the rounds of {name} differ by more than a quarter");
    }
    for failure in &failures {
        eprintln!("error: {}", explain(failure));
    }
    let reached = report
        .rows
        .iter()
        .all(|row| row.reached(&subjects) != Some(false));
    Ok(failures.is_empty() && (reached || !flags.check))
}

/// The cases of these names in the order of the race, or all if no name is given.
pub(super) fn select(cases: Vec<Case>, names: &[String]) -> Result<Vec<Case>, Box<dyn Error>> {
    for name in names {
        if !cases.iter().any(|case| case.name == name) {
            let known: Vec<&str> = cases.iter().map(|case| case.name).collect();
            let (name, known) = (name.clone(), known.join(", "));
            return Err(UnknownCase { name, known }.into());
        }
    }
    let wanted = |case: &Case| names.is_empty() || names.iter().any(|name| name == case.name);
    Ok(cases.into_iter().filter(wanted).collect())
}

/// A failure and its causes in one line.
pub(super) fn explain(failure: &Failure) -> String {
    let mut text = failure.subject.to_owned();
    if let Some(case) = failure.case {
        text.push_str(&format!(" in {case}"));
    }
    let mut next: Option<&dyn Error> = Some(&failure.why);
    while let Some(error) = next {
        text.push_str(&format!(": {error}"));
        next = error.source();
    }
    text
}
