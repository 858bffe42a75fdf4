//! Sockets → [`SimService`].

mod socket;

use std::{io, time::Duration};

use faults::{BoxError, ResetSwitch};
use http::{HeaderValue, Request, header};
use http_body_util::BodyExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Service;

use self::socket::Socket;
use crate::SimService;

/// How long a connection may take to finish what it sends when the server shuts down.
const DRAIN: Duration = Duration::from_millis(500);

/// Accepts connections until the server closes; each is served by a task of `tasks`.
pub(crate) async fn accept(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    service: SimService,
    tasks: TaskTracker,
    closed: CancellationToken,
) {
    for number in 1.. {
        let accepted = tokio::select! {
            () = closed.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        // A connection that is gone before it was accepted is the client's affair.
        let Ok((stream, _)) = accepted else {
            continue;
        };
        let service = service.on_connection(number);
        tasks.spawn(connection(
            stream,
            acceptor.clone(),
            service,
            closed.clone(),
        ));
    }
}

async fn connection(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    service: SimService,
    closed: CancellationToken,
) {
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

async fn speak_http<S>(
    stream: S,
    service: SimService,
    reset: ResetSwitch,
    closed: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(reset.clone());
        let mut service = service.clone();
        async move {
            // A nameable error type: the compiler cannot see that a task with boxed ones is `Send`.
            let response = Service::<Request<Incoming>>::call(&mut service, request).await;
            let mut response = response
                .map_err(nameable)?
                .map(|body| body.map_err(nameable));
            response
                .headers_mut()
                .entry(header::CACHE_CONTROL)
                .or_insert(NO_CACHE);
            Ok::<_, io::Error>(response)
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

const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache, private");

fn nameable(error: BoxError) -> io::Error {
    io::Error::other(error)
}
