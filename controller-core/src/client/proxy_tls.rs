use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use kube::client::ConfigExt;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

use super::ConfigError;

/// Secures the connection to an https proxy. Inside it runs the tunnel, and in that
/// another TLS connection, to the server, with its own trust.
///
/// The proxy is trusted when the system or the cluster's authority vouches for it: it is
/// usually the company's, and Go accepts the cluster's. It never sees the user's client
/// certificate, and the cluster's `tls-server-name` is not its name.
pub(super) fn connector<C>(
    config: &kube::Config,
    connector: C,
) -> Result<HttpsConnector<C>, ConfigError> {
    let mut bare = kube::Config::new(config.cluster_url.clone());
    bare.accept_invalid_certs = config.accept_invalid_certs;
    let tls = match &config.root_cert {
        Some(roots) if !config.accept_invalid_certs => {
            let mut store = RootCertStore::empty();
            let system = rustls_native_certs::load_native_certs().certs;
            // Machines carry authorities that no one can parse; the rest will do.
            store.add_parsable_certificates(system);
            store.add_parsable_certificates(roots.iter().map(|der| CertificateDer::from(&**der)));
            ClientConfig::builder()
                .with_root_certificates(store)
                .with_no_client_auth()
        }
        _ => bare
            .rustls_client_config()
            .map_err(|error| ConfigError::Proxy {
                origin: "the https proxy".into(),
                problem: error.to_string(),
            })?,
    };
    Ok(HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(connector))
}
