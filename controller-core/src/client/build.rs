use kube::Client;
use kube::client::ConfigExt;
use tower::{BoxError, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::auth::Credentials;
use super::config::{ConfigError, Loaded};
use super::connect::{self, Tls};
use super::stack::{ClientOptions, assemble};

/// Makes the client: the layers of [`layered`](super::layered), and below them what a
/// network needs.
///
/// Blocks while the user's credential helper runs, and must be called within a tokio
/// runtime, where kube's client has a task. Nothing is sent yet: that the server refuses
/// connections or the token shows with the first request.
///
/// A clone of the client is cheap and shares its connections. Make a second client only
/// for what must not queue behind the first one's requests, or for other
/// [`ClientOptions`]: the renewal of a Lease, for example, wants no retries and a short
/// timeout.
///
/// A rotated token is followed, for token files and helpers alike. A rotated *client
/// certificate* is not: it is part of the connections, and the client has to be built anew.
///
/// # Errors
/// [`ConfigError`] for credentials, certificates and keys that cannot be used.
pub fn build(loaded: &Loaded, options: &ClientOptions) -> Result<Client, ConfigError> {
    // Where two TLS back ends are compiled in, rustls refuses to choose. Fails when the
    // program has chosen already, which is as well.
    let _ = rustls::crypto::ring::default_provider().install_default();

    let config = &loaded.config;
    let credentials = Credentials::of(loaded)?;
    let headers = config
        .extra_headers_layer()
        .map_err(|_| ConfigError::BadUser {
            user: loaded.user_name().to_owned(),
            problem: "it impersonates with characters that no header can carry".into(),
        })?;
    let wire = connect::wire(
        config,
        &Tls {
            config: &credentials.tls,
            user: loaded.user_name(),
            cluster: loaded.cluster.as_deref().unwrap_or("in-cluster"),
        },
        options.connect_timeout,
    )?;
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        // Asks for gzip unless the request says otherwise, as a watch does.
        .layer(
            DecompressionLayer::new()
                .no_br()
                .no_deflate()
                .no_zstd()
                .gzip(!config.disable_compression),
        )
        .layer(credentials.layer)
        .layer(headers)
        .map_err(BoxError::from)
        .service(wire);
    Ok(assemble(service, options, &loaded.namespace))
}
