use super::build;
use super::contest::{
    Better::{self, Higher, Lower},
    Case, Contest,
    Goal::{self, AtMost, Times},
};
use super::subject::Entrant;

/// Ours first.
pub(super) const SUBJECTS: [&str; 2] = ["controller-core", "client-go"];

/// The work queue against client-go's typed rate-limiting queue.
pub(super) fn contest() -> Contest {
    let [ours, client_go] = SUBJECTS;
    Contest {
        name: "queue",
        cases: cases(),
        entrants: vec![
            Entrant {
                name: ours,
                subject: build::controller_core(),
            },
            Entrant {
                name: client_go,
                subject: build::peer(client_go),
            },
        ],
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("unique-add", "keys/s", Higher, Some(Times(3.0))),
        case("unique-add-1m", "keys/s", Higher, Some(Times(1.5))),
        case("get-done", "keys/s", Higher, None),
        case("2p1w", "keys/s", Higher, None),
        case("2p2w", "keys/s", Higher, Some(Times(5.0))),
        case("2p8w", "keys/s", Higher, None),
        case("dedup-add", "adds/s", Higher, Some(Times(1.0))),
        case("delayed-100k", "ms", Lower, Some(Times(5.0))),
        case("bytes-per-key", "bytes", Lower, Some(AtMost(100.0))),
        case("growth", "x", Lower, None),
    ]
}

fn case(name: &'static str, unit: &'static str, better: Better, goal: Option<Goal>) -> Case {
    Case {
        name,
        unit,
        better,
        goal,
    }
}
