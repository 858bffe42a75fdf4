//! The way to the wire: name resolution, TCP, proxy, TLS, connection pool.
//!
//! From the inside out: `Resolver` → TCP with keepalive → tunnel through the proxy → TLS
//! → connect timeout → pool. kube's own stack has no keepalive, so that a connection that
//! a firewall forgot hangs until the kernel gives up, a quarter of an hour later.
//!
//! Failures are wrapped where what they are about is known: the host at the resolver, the
//! proxy at the tunnel, the server at the pool. `error/transport.rs` unwraps them.
use std::sync::Arc;

use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::dns::GaiResolver;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::legacy::{Builder, Error as PoolError};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, ConfigExt};
use tokio::time::Duration;
use tower::timeout::error::Elapsed;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceBuilder};

use super::ConfigError;
use super::error::{ConnectDeadline, Unreachable, ViaProxy, refused_by_alert};
use super::proxy_tls;
use super::resolver::Resolver;

/// What sends one request and knows nothing of layers.
pub(super) type Wire = BoxCloneSyncService<Request<Body>, Response<Incoming>, BoxError>;

/// A silent peer is found out after 30 s + 3 × 15 s, whoever waits on it.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(30);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(15);
const KEEPALIVE_PROBES: u32 = 3;

/// An idle connection is closed before a load balancer forgets it.
const POOL_IDLE: Duration = Duration::from_secs(60);
const POOL_CONNECTIONS: usize = 8;

/// Connects to the server of `config`, through its proxy where it has one.
pub(super) fn wire(
    config: &kube::Config,
    tls: &Tls<'_>,
    connect_timeout: Duration,
) -> Result<Wire, ConfigError> {
    let mut tcp = HttpConnector::new_with_resolver(Resolver::new(GaiResolver::new()));
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEPALIVE_AFTER));
    tcp.set_keepalive_interval(Some(KEEPALIVE_EVERY));
    tcp.set_keepalive_retries(Some(KEEPALIVE_PROBES));

    let Some(address) = &config.proxy_url else {
        return over(tcp, tls, connect_timeout);
    };
    let proxy = Proxy::of(address);
    let name = Arc::clone(&proxy.name);
    let via = move |error: BoxError| ViaProxy {
        proxy: name.to_string(),
        source: error,
    };
    match proxy.uri.scheme_str() {
        Some("socks5") => {
            let mut socks = SocksV5::new(proxy.uri, tcp);
            if let Some((user, password)) = proxy.raw {
                socks = socks.with_auth(user, password);
            }
            let connector = ServiceBuilder::new()
                .map_err(move |error| via(Box::new(error)))
                .service(socks);
            over(connector, tls, connect_timeout)
        }
        Some("https") => {
            let to_proxy = proxy_tls::connector(config, tcp)?;
            let connector = ServiceBuilder::new()
                .map_err(move |error| via(Box::new(error)))
                .service(tunnel(proxy.uri, proxy.basic, to_proxy));
            over(connector, tls, connect_timeout)
        }
        _ => {
            let connector = ServiceBuilder::new()
                .map_err(move |error| via(Box::new(error)))
                .service(tunnel(proxy.uri, proxy.basic, tcp));
            over(connector, tls, connect_timeout)
        }
    }
}

/// The configuration that TLS is set up from, and whose it is when that fails.
pub(super) struct Tls<'a> {
    pub(super) config: &'a kube::Config,
    pub(super) user: &'a str,
    pub(super) cluster: &'a str,
}

/// A proxy's address taken apart, so that its credentials go no further than its headers:
/// errors, spans and `Debug` see `name` and `uri` only.
struct Proxy {
    uri: Uri,
    /// `host:port` for errors.
    name: Arc<str>,
    basic: Option<HeaderValue>,
    raw: Option<(String, String)>,
}

/// Secures `connector`, limits it in time and pools what it makes.
fn over<C>(connector: C, tls: &Tls<'_>, connect_timeout: Duration) -> Result<Wire, ConfigError>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError>,
{
    let https = tls
        .config
        .rustls_https_connector_with_connector(connector)
        .map_err(|error| tls.problem(&error))?;
    let limited = ServiceBuilder::new()
        .map_err(move |error: BoxError| match error.downcast::<Elapsed>() {
            Ok(_) => ConnectDeadline {
                after: connect_timeout,
            }
            .into(),
            Err(error) => error,
        })
        .timeout(connect_timeout)
        .service(https);
    let pool = Builder::new(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(POOL_IDLE)
        .pool_max_idle_per_host(POOL_CONNECTIONS)
        .build(BoxCloneSyncService::new(limited));

    let server: Arc<str> = authority(&tls.config.cluster_url).into();
    let named = ServiceBuilder::new()
        .map_err(move |error: PoolError| {
            // A TLS 1.3 server refuses a client certificate only after the handshake.
            if error.is_connect() || refused_by_alert(&error) {
                BoxError::from(Unreachable {
                    server: server.to_string(),
                    source: error.into(),
                })
            } else {
                error.into()
            }
        })
        .service(pool);
    Ok(BoxCloneSyncService::new(named))
}

/// A connector whose every connection begins with `CONNECT host:port`.
fn tunnel<C>(proxy: Uri, basic: Option<HeaderValue>, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy, connector);
    match basic {
        Some(credentials) => tunnel.with_auth(credentials),
        None => tunnel,
    }
}

/// `host:port`, the port also where the scheme implies it.
fn authority(uri: &Uri) -> String {
    let host = uri.host().unwrap_or_default();
    let port = uri.port_u16().unwrap_or(match uri.scheme_str() {
        Some("http") => 80,
        Some("socks5") => 1080,
        _ => 443,
    });
    format!("{host}:{port}")
}

// === impl Tls ===

impl Tls<'_> {
    /// Names the field at fault: by now every PEM block has been read, so that only its
    /// content can be wrong.
    fn problem(&self, error: &kube::Error) -> ConfigError {
        use kube::client::RustlsTlsError as Problem;
        let user = format!("user {:?}", self.user);
        let cluster = format!("cluster {:?}", self.cluster);
        let (owner, field, problem) = match error {
            kube::Error::RustlsTls(problem) => match problem {
                Problem::InvalidPrivateKey(why) => (user, "client-key", why.to_string()),
                Problem::UnknownPrivateKeyFormat | Problem::MissingPrivateKey => {
                    (user, "client-key", problem.to_string())
                }
                Problem::InvalidIdentityPem(_) | Problem::MissingCertificate => {
                    (user, "client-certificate", problem.to_string())
                }
                Problem::InvalidServerName(why) => (cluster, "tls-server-name", why.to_string()),
                Problem::AddRootCertificate(why) => {
                    (cluster, "certificate-authority", why.to_string())
                }
                other => (cluster, "certificate-authority", other.to_string()),
            },
            other => (user, "client-certificate", other.to_string()),
        };
        ConfigError::TlsMaterial {
            owner,
            field,
            problem,
        }
    }
}

// === impl Proxy ===

impl Proxy {
    fn of(address: &Uri) -> Self {
        // hyper-util decodes the credentials; it is asked about any address at all.
        let found = Matcher::builder()
            .all(address.to_string())
            .build()
            .intercept(&Uri::from_static("https://server.invalid"));
        let (uri, basic, raw) = match found {
            Some(found) => (
                found.uri().clone(),
                found.basic_auth().cloned(),
                found
                    .raw_auth()
                    .map(|(user, password)| (user.to_owned(), password.to_owned())),
            ),
            None => (address.clone(), None, None),
        };
        let name = authority(&uri).into();
        Self {
            uri,
            name,
            basic,
            raw,
        }
    }
}
