//! Servers on the loopback, and certificates for them.
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use controller_core::client::{Environment, Loaded, Loader};
use http::{Request, Response, request};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// A server that ends with the test.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<request::Parts>>>,
    _tasks: JoinSet<()>,
}

/// A certificate authority of the test's own.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key, in PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

type Answer = Arc<dyn Fn(&request::Parts) -> Response<Full<Bytes>> + Send + Sync>;

/// Loads a kubeconfig with one context. `cluster` and `user` are YAML flow mappings
/// without their braces.
pub(crate) fn load(cluster: &str, user: &str) -> (Loaded, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("config");
    let text = format!(
        "current-context: c\n\
         contexts: [{{name: c, context: {{cluster: k, user: ana}}}}]\n\
         clusters: [{{name: k, cluster: {{{cluster}}}}}]\n\
         users: [{{name: ana, user: {{{user}}}}}]\n"
    );
    std::fs::write(&file, text).unwrap();
    let mut loader = Loader::new();
    loader.environment = Environment::empty();
    loader.kubeconfig = Some(file);
    (loader.load().unwrap(), directory)
}

/// A kubeconfig value for PEM.
pub(crate) fn data(pem: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(pem)
}

/// Answers every request with an empty list.
pub(crate) fn empty_list() -> Answer {
    Arc::new(|_| Response::new(Full::from(r#"{"items":[]}"#)))
}

// === impl Server ===

impl Server {
    pub(crate) async fn http(answer: Answer) -> Self {
        Self::start(None, answer).await
    }

    pub(crate) async fn https(config: ServerConfig, answer: Answer) -> Self {
        Self::start(Some(TlsAcceptor::from(Arc::new(config))), answer).await
    }

    /// Reads one request head on every connection, writes `answer` and closes.
    pub(crate) async fn raw(answer: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = socket.read_u8().await else {
                        break;
                    };
                    head.push(byte);
                }
                let _ = socket.write_all(answer).await;
            }
        });
        Self {
            address,
            seen: Arc::default(),
            _tasks: tasks,
        }
    }

    /// Accepts connections and says nothing.
    pub(crate) async fn silent() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = Vec::new();
            loop {
                open.push(listener.accept().await.unwrap());
            }
        });
        Self {
            address,
            seen: Arc::default(),
            _tasks: tasks,
        }
    }

    /// The heads of the requests so far.
    pub(crate) fn seen(&self) -> Vec<request::Parts> {
        self.seen.lock().clone()
    }

    async fn start(tls: Option<TlsAcceptor>, answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<request::Parts>>> = Arc::default();
        let log = Arc::clone(&seen);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let (tls, answer, log) = (tls.clone(), Arc::clone(&answer), Arc::clone(&log));
                connections.spawn(async move {
                    match tls {
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(socket).await {
                                serve(stream, answer, log).await;
                            }
                        }
                        None => serve(socket, answer, log).await,
                    }
                });
            }
        });
        Self {
            address,
            seen,
            _tasks: tasks,
        }
    }
}

async fn serve<S>(stream: S, answer: Answer, log: Arc<Mutex<Vec<request::Parts>>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let (head, _) = request.into_parts();
        let response = answer(&head);
        log.lock().push(head);
        async move { Ok::<_, Infallible>(response) }
    });
    // A client that goes away is no failure of the test.
    let _ = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

// === impl Authority ===

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("kubernetes")
    }

    pub(crate) fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    pub(crate) fn issue(&self, name: &str) -> Identity {
        self.issue_with(name, |_| ())
    }

    pub(crate) fn issue_with(
        &self,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        Identity {
            certificate: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }
}

// === impl Identity ===

impl Identity {
    /// A server with this certificate, which wants one of `clients` from its clients.
    pub(crate) fn server(&self, clients: Option<&Authority>) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            Some(authority) => {
                let mut roots = rustls::RootCertStore::empty();
                let der = CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap();
                roots.add(der).unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                        .build()
                        .unwrap();
                builder.with_client_cert_verifier(verifier)
            }
            None => builder.with_no_client_auth(),
        };
        let chain = vec![CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap();
        builder.with_single_cert(chain, key).unwrap()
    }
}
