//! How a rule reaches the TCP connection under a request.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A flag that a server puts into the extensions of each request of a connection.
///
/// A rule that resets the connection trips it; the server that sees it tripped closes the socket with RST
/// instead of FIN. Without it the client sees the connection end in the middle of an answer, which is close
/// to but not the same as a reset.
#[derive(Clone, Debug, Default)]
pub struct ResetSwitch(Arc<AtomicBool>);

// === impl ResetSwitch ===

impl ResetSwitch {
    /// Asks for the connection to be reset when it closes.
    pub fn trip(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a reset was asked for.
    #[must_use]
    pub fn is_tripped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The error that stands for a reset connection, for clients that are called without a socket.
pub(crate) fn connection_reset() -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionReset,
        "connection reset by a fault rule",
    )
}

/// The same for one that is closed in the middle of an answer.
pub(crate) fn connection_torn() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "connection closed by a fault rule",
    )
}
