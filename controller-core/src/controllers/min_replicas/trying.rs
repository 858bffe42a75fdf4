use std::thread;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::pacing::Pacing;
use super::raise::Raise;
use super::reporter::Reporter;
use super::verdict::Verdict;

/// The raise that a reconcile carries out, until what came of it is known.
///
/// A reconcile is dropped at its deadline and at the end of a run, and it may panic. If this
/// is dropped with it, the decision waits as after any failure, whatever wakes its object;
/// and a refusal that had come by then is told. What was asked after the refusal, in order to
/// decide anew, counts as not answered.
///
/// The answer of a write that is still under way then is not heard here:
/// [`ScaleWriter::on_late_answer`](crate::write::ScaleWriter::on_late_answer) is.
pub(super) struct Trying<'a> {
    pacing: &'a Pacing,
    reporter: &'a dyn Reporter,
    known: Mutex<Option<Known>>,
}

enum Known {
    /// It is tried.
    Due(Raise),
    /// The server has refused it, and nothing newer is known.
    Refused(Verdict),
}

// === impl Trying ===

impl<'a> Trying<'a> {
    pub(super) fn new(pacing: &'a Pacing, reporter: &'a dyn Reporter) -> Self {
        Self {
            pacing,
            reporter,
            known: Mutex::new(None),
        }
    }

    pub(super) fn pacing(&self) -> &'a Pacing {
        self.pacing
    }

    /// This is what is tried from now on.
    pub(super) fn begins(&self, raise: &Raise) {
        *self.known.lock() = Some(Known::Due(raise.clone()));
    }

    /// The write was answered with a refusal, or not at all. This is what is to be told of it
    /// if nothing better becomes known.
    pub(super) fn refused(&self, verdict: Verdict) {
        *self.known.lock() = Some(Known::Refused(verdict));
    }

    /// The call knows what came of it, and tells.
    pub(super) fn end(mut self) {
        *self.known.get_mut() = None;
    }
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        match self.known.get_mut().take() {
            None => {}
            Some(Known::Due(raise)) => self.pacing.cut_off(&raise, Instant::now()),
            Some(Known::Refused(verdict)) => {
                self.pacing.note(&verdict, Instant::now());
                // A reporter is not ours, and a second panic would end the program.
                if !thread::panicking() {
                    self.reporter.report(&verdict);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::client::ObjectKey;
    use crate::controllers::min_replicas::attempts::Clearance;
    use crate::controllers::min_replicas::{DryRun, Effect, Failure, Through};

    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Reporter for Told {
        fn report(&self, verdict: &Verdict) {
            self.0.lock().push(verdict.to_string());
        }
    }

    fn raise() -> Raise {
        Raise {
            key: ObjectKey::namespaced("shop", "web"),
            uid: "u".into(),
            resource_version: "7".into(),
            from: 1,
            to: 2,
            through: Through::Scale,
        }
    }

    fn refused() -> Verdict {
        let kept = Failure::Kept { kept: 1, asked: 2 };
        Verdict::of(&raise(), Effect::Failed(kept), DryRun::None)
    }

    fn is_held_back(pacing: &Pacing) -> bool {
        let clearance = pacing.clearance(&raise(), Instant::now());
        matches!(clearance, Clearance::Wait(_))
    }

    #[tokio::test(start_paused = true)]
    async fn a_raise_that_is_cut_off_waits_as_after_a_failure() {
        let (pacing, told) = (Pacing::default(), Told::default());
        let trying = Trying::new(&pacing, &told);
        trying.begins(&raise());
        drop(trying);
        assert!(is_held_back(&pacing));
        assert!(told.0.lock().is_empty(), "whoever cut it off tells");
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_that_had_come_before_the_cut_is_told() {
        let (pacing, told) = (Pacing::default(), Told::default());
        let trying = Trying::new(&pacing, &told);
        trying.begins(&raise());
        trying.refused(refused());
        drop(trying);
        assert!(is_held_back(&pacing));
        assert_eq!(
            told.0.lock().as_slice(),
            ["could not be raised from 1 to 2: the server kept 1 although 2 was asked"]
        );
    }

    /// A conflict was planned anew: what is under way is another write.
    #[tokio::test(start_paused = true)]
    async fn a_refusal_that_was_got_over_is_no_news() {
        let (pacing, told) = (Pacing::default(), Told::default());
        let trying = Trying::new(&pacing, &told);
        trying.begins(&raise());
        trying.refused(refused());
        trying.begins(&raise());
        drop(trying);
        assert!(told.0.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_a_failure_and_asks_nothing_of_a_reporter() {
        struct Panics;
        impl Reporter for Panics {
            fn report(&self, _: &Verdict) {
                panic!("a second panic")
            }
        }
        let pacing = Pacing::default();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let trying = Trying::new(&pacing, &Panics);
            trying.refused(refused());
            panic!("the first panic")
        }));
        assert!(panicked.is_err());
        assert!(is_held_back(&pacing));
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_an_end_is_left_to_the_caller() {
        let (pacing, told) = (Pacing::default(), Told::default());
        let trying = Trying::new(&pacing, &told);
        trying.refused(refused());
        trying.end();
        assert!(!is_held_back(&pacing));
        assert!(told.0.lock().is_empty());
    }
}
