use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Waits for Ctrl-C, SIGTERM or the end of the terminal.
///
/// From the first call on these signals no longer end this program: whoever calls this
/// ends the children and returns.
pub(crate) async fn interrupted() -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}
