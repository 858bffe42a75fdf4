use std::fmt::{self, Display};

use super::call_error::caught;

/// A key as text, whatever its `Display` does: a log line must not cost a worker.
pub(super) struct KeyText<'a, K>(pub(super) &'a K);

// === impl KeyText ===

impl<K: Display> Display for KeyText<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match caught(|| self.0.fmt(f)) {
            Ok(written) => written,
            Err(_) => f.write_str("<a key that panics when it is displayed>"),
        }
    }
}
