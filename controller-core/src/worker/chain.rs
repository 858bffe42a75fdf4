use std::error::Error;
use std::fmt;

/// An error and its sources, each once, joined by colons.
pub(super) struct Chain<'a>(pub(super) &'a dyn Error);

// === impl Chain ===

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(source) = next {
            write!(f, ": {source}")?;
            next = source.source();
        }
        Ok(())
    }
}
