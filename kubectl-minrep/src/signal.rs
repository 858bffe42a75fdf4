//! SIGINT and SIGTERM: the first asks, the second insists.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio_util::sync::CancellationToken;

use crate::error::Exit;

/// The signals of this process from [`Signals::install`] on.
pub(crate) struct Signals {
    listener: Listener,
    first: Asked,
}

/// Whether a first signal has arrived. A clone sees the same.
#[derive(Clone)]
pub(crate) struct Asked {
    token: CancellationToken,
    /// The exit code of the first signal; 0 before it.
    exit: Arc<AtomicU8>,
}

// === impl Signals ===

impl Signals {
    /// Takes both signals over from the system, which would end the process.
    ///
    /// # Errors
    ///
    /// The system refuses to register a handler.
    pub(crate) fn install() -> io::Result<Self> {
        Ok(Self {
            listener: Listener::install()?,
            first: Asked {
                token: CancellationToken::new(),
                exit: Arc::new(AtomicU8::new(0)),
            },
        })
    }

    /// What a command looks at to know that it should end.
    pub(crate) fn asked(&self) -> Asked {
        self.first.clone()
    }

    /// Passes the first signal on and returns at the second one. Until then this future
    /// must be polled, or no signal is seen.
    pub(crate) async fn second(mut self) -> Exit {
        let exit = self.listener.next().await;
        self.first.exit.store(exit.code(), Ordering::Release);
        self.first.token.cancel();
        self.listener.next().await
    }
}

// === impl Asked ===

impl Asked {
    /// Cancelled by the first signal.
    pub(crate) fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Runs `work` to its end, and tells `say` once when the first signal arrives.
    pub(crate) async fn tell_while<T>(
        &self,
        work: impl Future<Output = T>,
        say: impl FnOnce(),
    ) -> T {
        let told = async {
            self.token.cancelled().await;
            say();
            std::future::pending().await
        };
        tokio::select! {
            done = work => done,
            never = told => never,
        }
    }

    /// The exit code of a command that was cut short, `None` before any signal.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let code = self.exit.load(Ordering::Acquire);
        [Exit::Interrupted, Exit::Terminated]
            .into_iter()
            .find(|exit| exit.code() == code)
    }
}

#[cfg(unix)]
struct Listener {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Listener {
    fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
        }
    }
}

#[cfg(windows)]
struct Listener(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Listener {
    fn install() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) -> Exit {
        self.0.recv().await;
        Exit::Interrupted
    }
}
