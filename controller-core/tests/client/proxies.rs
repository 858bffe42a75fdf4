use std::sync::Arc;

use controller_core::client::{ApiError, build, fetch};
use parking_lot::Mutex;
use rustls::ServerConfig;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::scripted::{list, options};
use crate::server::{Authority, Server, data, empty_list, load};

/// `svc:p@ss`.
const EXPECTED: &str = "Proxy-Authorization: Basic c3ZjOnBAc3M=";

/// A proxy that opens tunnels for those who know the password.
struct Proxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    async fn start(tls: Option<ServerConfig>) -> Self {
        let tls = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&heads);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut tunnels = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let (tls, log) = (tls.clone(), Arc::clone(&log));
                tunnels.spawn(async move {
                    match tls {
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(socket).await {
                                tunnel(stream, log).await;
                            }
                        }
                        None => tunnel(socket, log).await,
                    }
                });
            }
        });
        Self {
            address,
            heads,
            _tasks: tasks,
        }
    }
}

async fn tunnel<S: AsyncRead + AsyncWrite + Unpin>(mut client: S, log: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    let target = head.split(' ').nth(1).unwrap().to_owned();
    let known = head.contains(EXPECTED);
    log.lock().push(head);
    if !known {
        let answer = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n";
        client.write_all(answer).await.unwrap();
        return;
    }
    let mut server = TcpStream::connect(target).await.unwrap();
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    let _ = copy_bidirectional(&mut client, &mut server).await;
}

/// C-41.
#[tokio::test]
async fn a_proxy_gets_the_decoded_password_and_nobody_else_sees_it() {
    let authority = Authority::new();
    let identity = authority.issue("127.0.0.1");
    let server = Server::https(identity.server(None), empty_list()).await;
    for (scheme, tls) in [("http", None), ("https", Some(identity.server(None)))] {
        let proxy = Proxy::start(tls).await;
        let with = |password: &str| {
            format!(
                "server: 'https://{}', certificate-authority-data: {}, \
                 proxy-url: '{scheme}://svc:{password}@{}'",
                server.address,
                data(&authority.pem),
                proxy.address
            )
        };

        let (loaded, _directory) = load(&with("p%40ss"), "token: t");
        assert!(!format!("{loaded:?}").contains("p%40ss"));
        let client = build(&loaded, &options()).unwrap();
        let _: Value = fetch(&client, list()).await.unwrap();
        let head = proxy.heads.lock()[0].clone();
        assert!(
            head.starts_with(&format!("CONNECT {} ", server.address)),
            "{head}"
        );

        let (loaded, _directory) = load(&with("wr%40ng"), "token: t");
        let client = build(&loaded, &options()).unwrap();
        let error = fetch::<Value>(&client, list()).await.unwrap_err();
        assert!(matches!(error, ApiError::Proxy { .. }), "{error:?}");
        let text = format!("{error} {error:?}");
        assert!(text.contains(&proxy.address.to_string()), "{text}");
        assert!(text.contains("407"), "{text}");
        for secret in ["wr%40ng", "wr@ng", &data("svc:wr@ng")] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_not_taken_for_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for (scheme, why) in [
        ("http", "connection refused"),
        ("https", "connection refused"),
        (
            "socks5",
            "SOCKS error: failed to create underlying connection",
        ),
    ] {
        let cluster = format!("server: 'https://10.0.0.5:6443', proxy-url: '{scheme}://{address}'");
        let (loaded, _directory) = load(&cluster, "token: t");
        let client = build(&loaded, &options()).unwrap();
        let error = fetch::<Value>(&client, list()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the proxy {address} does not connect to the server: {why}")
        );
    }
}

/// The trust that a proxy needs is its own: here nobody vouches for it.
#[tokio::test]
async fn an_https_proxy_is_verified() {
    let authority = Authority::new();
    let server = Server::https(authority.issue("127.0.0.1").server(None), empty_list()).await;
    let proxy = Proxy::start(Some(Authority::new().issue("127.0.0.1").server(None))).await;
    let cluster = format!(
        "server: 'https://{}', certificate-authority-data: {}, proxy-url: 'https://{}'",
        server.address,
        data(&authority.pem),
        proxy.address
    );
    let (loaded, _directory) = load(&cluster, "token: t");
    let client = build(&loaded, &options()).unwrap();
    let error = fetch::<Value>(&client, list()).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.ends_with("its certificate is issued by an unknown authority"),
        "{text}"
    );
    assert!(proxy.heads.lock().is_empty());
}
