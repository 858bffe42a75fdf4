//! Sockets → a service of requests: HTTP/1.1 on connections that a rule can reset.
//!
//! [`accept`] is what stands under the simulated server and under [`Proxy`](crate::Proxy). Every request
//! carries its connection's [`ResetSwitch`] in its extensions, so that a [`FaultLayer`](crate::FaultLayer)
//! above it resets for real.

mod socket;

use std::{io, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Service, ServiceExt};

use self::socket::Socket;
use crate::{BoxError, ResetSwitch};

/// How long a connection may take to finish what it sends when the server shuts down.
const DRAIN: Duration = Duration::from_millis(500);

/// How long nothing is accepted when there was nothing to accept it with.
const FULL: Duration = Duration::from_millis(50);

/// Accepts connections until `closed` is cancelled, with TLS where there is an acceptor.
///
/// `service` makes the service of each connection; it is given the connection's number, counted from 1. Each
/// connection is served by a task of `tasks`: whoever cancels `closed` waits for them. Then idle connections
/// end at once, the others when they have sent what they are sending, but no later than half a second.
///
/// A service that fails, or a body that does, ends the connection in the middle of the answer.
pub async fn accept<M, S, B>(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    mut service: M,
    tasks: TaskTracker,
    closed: CancellationToken,
) where
    M: FnMut(u64) -> S + Send,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    for number in 1.. {
        let accepted = tokio::select! {
            () = closed.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            // A connection that is gone before it was accepted is the client's affair.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            // No file descriptor is left: it would be so again at once, and again.
            Err(_) => {
                let _ = tokio::time::timeout(FULL, closed.cancelled()).await;
                continue;
            }
        };
        tasks.spawn(connection(
            stream,
            acceptor.clone(),
            service(number),
            closed.clone(),
        ));
    }
}

async fn connection<S, B>(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    service: S,
    closed: CancellationToken,
) where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    // Without it small answers wait for the acknowledgement of the one before.
    let _ = stream.set_nodelay(true);
    let reset = ResetSwitch::default();
    let socket = Socket::new(stream, reset.clone());
    match acceptor {
        None => speak_http(socket, service, reset, closed).await,
        Some(acceptor) => {
            let secured = tokio::select! {
                () = closed.cancelled() => return,
                secured = acceptor.accept(socket) => secured,
            };
            // A client that does not trust the certificate says so by closing.
            if let Ok(stream) = secured {
                speak_http(stream, service, reset, closed).await;
            }
        }
    }
}

async fn speak_http<T, S, B>(stream: T, service: S, reset: ResetSwitch, closed: CancellationToken)
where
    T: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(reset.clone());
        let service = service.clone();
        async move {
            // A nameable error type: the compiler cannot see that a task with boxed ones is `Send`.
            let response = service.oneshot(request).await.map_err(nameable)?;
            Ok::<_, io::Error>(response.map(|body| body.map_err(nameable)))
        }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // How it ended is the client's affair.
        _ = connection.as_mut() => {}
        () = closed.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(DRAIN, connection).await;
        }
    }
}

fn nameable(error: impl Into<BoxError>) -> io::Error {
    io::Error::other(error)
}
