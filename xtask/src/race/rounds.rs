use super::contest::{Case, Contest};
use super::stats::Stats;
use super::subject::SubjectError;

/// What came out of a contest.
pub(super) struct Outcome {
    /// One a case, in order.
    pub(super) rows: Vec<Row>,
    /// Who could not run, and why; at most one a subject and case.
    pub(super) failures: Vec<Failure>,
}

/// One case.
pub(super) struct Row {
    pub(super) case: Case,
    /// One an entrant, in order; `None` if it could not run.
    pub(super) entries: Vec<Option<Entry>>,
}

/// One subject in one case.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) stats: Stats,
    pub(super) version: String,
}

/// Why a subject is missing.
pub(super) struct Failure {
    pub(super) subject: &'static str,
    /// All of them if there is none.
    pub(super) case: Option<&'static str>,
    pub(super) why: SubjectError,
}

/// The values of one subject in one case, or nothing from its first failure on.
type Samples = Option<Vec<f64>>;

/// Runs every case `rounds` times with every subject.
///
/// The subjects take turns, and who is first changes from round to round: what the machine
/// does beside then meets them all. A subject that fails in a case is not asked for that
/// case again, and everything else still runs.
pub(super) async fn run(contest: Contest, rounds: usize) -> Outcome {
    let Contest {
        name: race,
        cases,
        entrants,
    } = contest;
    let mut failures = Vec::new();
    let mut ready = Vec::new();
    for entrant in entrants {
        let described = match entrant.subject {
            Ok(subject) => subject.version().await.map(|version| (subject, version)),
            Err(why) => Err(why),
        };
        let described = described.map_err(|why| {
            failures.push(Failure {
                subject: entrant.name,
                case: None,
                why,
            });
        });
        ready.push((entrant.name, described.ok()));
    }

    let mut samples: Vec<Vec<Samples>> = vec![vec![Some(Vec::new()); ready.len()]; cases.len()];
    for round in 0..rounds {
        for (case, samples) in cases.iter().zip(&mut samples) {
            for turn in 0..ready.len() {
                let at = (turn + round) % ready.len();
                let (name, Some((subject, _))) = &ready[at] else {
                    continue;
                };
                let Some(values) = &mut samples[at] else {
                    continue;
                };
                match subject.sample(race, case).await {
                    Ok(value) => {
                        let (round, case, unit) = (round + 1, case.name, case.unit);
                        eprintln!("round {round} of {rounds}: {case}: {name}: {value:.1} {unit}");
                        values.push(value);
                    }
                    Err(why) => {
                        samples[at] = None;
                        failures.push(Failure {
                            subject: name,
                            case: Some(case.name),
                            why,
                        });
                    }
                }
            }
        }
    }

    let row = |(case, samples): (Case, Vec<Samples>)| Row {
        case,
        entries: samples
            .iter()
            .zip(&ready)
            .map(|(values, (_, described))| {
                Some(Entry {
                    stats: Stats::of(values.as_ref()?)?,
                    version: described.as_ref()?.1.clone(),
                })
            })
            .collect(),
    };
    Outcome {
        rows: cases.into_iter().zip(samples).map(row).collect(),
        failures,
    }
}
