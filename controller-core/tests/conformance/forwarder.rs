use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Passes TCP connections on to a server: for what happens below HTTP and TLS.
pub(crate) struct Forwarder {
    address: SocketAddr,
    mode: watch::Sender<Mode>,
    accepted: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

/// What becomes of connections.
#[derive(Clone, Copy, Default)]
struct Mode {
    /// What is older than the newest is ended.
    generation: u32,
    refuses: bool,
}

// === impl Forwarder ===

impl Forwarder {
    pub(crate) async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mode = watch::Sender::new(Mode::default());
        let accepted = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(
            listener,
            server,
            mode.subscribe(),
            Arc::clone(&accepted),
        ));
        Self {
            address,
            mode,
            accepted,
            _tasks: tasks,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections were made so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Ends what is open with a FIN: over TLS without the farewell that belongs before it.
    pub(crate) fn cut(&self) {
        self.mode.send_modify(|mode| mode.generation += 1);
    }

    /// From now on resets each connection at once, or no longer.
    pub(crate) fn refuse(&self, refuses: bool) {
        self.mode.send_modify(|mode| mode.refuses = refuses);
    }
}

async fn accept(
    listener: TcpListener,
    server: SocketAddr,
    mode: watch::Receiver<Mode>,
    accepted: Arc<AtomicUsize>,
) {
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        accepted.fetch_add(1, Ordering::Relaxed);
        let now = *mode.borrow();
        if now.refuses {
            client.set_zero_linger().unwrap();
            continue;
        }
        connections.spawn(pass_on(client, server, now, mode.clone()));
    }
}

async fn pass_on(
    mut client: TcpStream,
    server: SocketAddr,
    then: Mode,
    mut mode: watch::Receiver<Mode>,
) {
    client.set_nodelay(true).unwrap();
    let passing = async {
        let mut server = TcpStream::connect(server).await.unwrap();
        server.set_nodelay(true).unwrap();
        // Either side may go away at any time.
        let _ = copy_bidirectional(&mut client, &mut server).await;
    };
    let is_cut = tokio::select! {
        () = passing => false,
        cut = mode.wait_for(|mode| mode.generation > then.generation) => cut.is_ok(),
    };
    if is_cut {
        let _ = client.shutdown().await;
    }
}
