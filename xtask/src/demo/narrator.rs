use std::sync::atomic::{AtomicUsize, Ordering};

/// Tells what happens as it happens.
#[derive(Debug, Default)]
pub(super) struct Narrator {
    steps: AtomicUsize,
}

// === impl Narrator ===

impl Narrator {
    /// A numbered step.
    pub(super) fn step(&self, text: &str) {
        let number = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        println!("{number}. {text}");
    }

    /// Something that belongs to the last step.
    pub(super) fn detail(&self, text: &str) {
        println!("   {text}");
    }

    /// A line of the controller's log.
    pub(super) fn log(line: &str) {
        println!("     | {line}");
    }
}
