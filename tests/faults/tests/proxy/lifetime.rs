//! What ends when a client goes away, and when the proxy does.

use std::{io, time::Duration};

use bytes::Bytes;
use faults::{Faults, Proxy};
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{mpsc, oneshot},
    time::timeout,
};
use tower::service_fn;

const SOON: Duration = Duration::from_secs(10);

/// An upstream that never finishes; the channel closes when its future and its body are dropped.
async fn endless(headers_first: bool) -> (Proxy, mpsc::Receiver<oneshot::Receiver<()>>) {
    let (started, asked) = mpsc::channel(8);
    let upstream = service_fn(move |_: Request<Bytes>| {
        let (alive, dropped) = oneshot::channel::<()>();
        started.try_send(dropped).expect("room");
        async move {
            if !headers_first {
                let _alive = alive;
                return std::future::pending().await;
            }
            // It holds on to `alive` until it is dropped.
            let rest = stream::once(async move {
                let _alive = alive;
                std::future::pending().await
            });
            let first = stream::iter([Ok::<_, io::Error>(Frame::data(Bytes::from("one\n")))]);
            let frames = first.chain(rest);
            Ok::<_, io::Error>(Response::new(StreamBody::new(frames)))
        }
    });
    let proxy = Proxy::start(upstream, Faults::default()).await;
    (proxy.expect("a proxy"), asked)
}

#[tokio::test]
async fn a_client_that_goes_away_ends_the_upstream_request() {
    for headers_first in [false, true] {
        let (proxy, mut asked) = endless(headers_first).await;
        let mut socket = TcpStream::connect(proxy.address()).await.unwrap();
        socket
            .write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .await
            .unwrap();
        let dropped = asked.recv().await.expect("a request");
        if headers_first {
            socket.read_u8().await.expect("an answer");
        }
        drop(socket);
        timeout(SOON, dropped)
            .await
            .expect("in time")
            .expect_err("dropped");
        proxy.shutdown().await;
    }
}

#[tokio::test]
async fn shutdown_ends_what_is_open() {
    for headers_first in [false, true] {
        let (proxy, mut asked) = endless(headers_first).await;
        let address = proxy.address();
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket
            .write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .await
            .unwrap();
        let dropped = asked.recv().await.expect("a request");
        timeout(SOON, proxy.shutdown())
            .await
            .expect("every task ends");
        dropped.await.expect_err("dropped");
        TcpStream::connect(address)
            .await
            .expect_err("nobody listens");
    }
}

#[tokio::test]
async fn a_proxy_that_is_dropped_stops() {
    let (proxy, mut asked) = endless(false).await;
    let mut socket = TcpStream::connect(proxy.address()).await.unwrap();
    socket
        .write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let dropped = asked.recv().await.expect("a request");
    drop(proxy);
    timeout(SOON, dropped)
        .await
        .expect("in time")
        .expect_err("dropped");
}
