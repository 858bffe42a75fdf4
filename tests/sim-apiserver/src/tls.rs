//! https.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;

/// The identity with which a server speaks https, and the authority that its kubeconfig names.
///
/// Beside the one that is as it should be there are three that a client must refuse.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    authority: String,
}

/// Why an identity was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The certificates or the key are no PEM.
    #[error("cannot read the PEM data")]
    Pem(#[source] rustls::pki_types::pem::Error),
    /// rustls does not take them: the key does not fit the certificate, for one.
    #[error("cannot use the certificate and its key")]
    Identity(#[source] rustls::Error),
    /// A certificate could not be made.
    #[error("cannot make a certificate")]
    Generate(#[source] rcgen::Error),
}

/// The names that a certificate is made for.
const NAMES: [&str; 3] = ["127.0.0.1", "::1", "localhost"];

// === impl Tls ===

impl Tls {
    /// A fresh authority and a certificate of it for 127.0.0.1, ::1 and localhost.
    ///
    /// # Errors
    ///
    /// [`TlsError::Generate`], if the system has no randomness.
    pub fn generated() -> Result<Self, TlsError> {
        Self::issued(&NAMES, |_| {})
    }

    /// As [`generated`](Self::generated), but the certificate expired in 2001.
    ///
    /// # Errors
    ///
    /// As [`generated`](Self::generated).
    pub fn expired() -> Result<Self, TlsError> {
        Self::issued(&NAMES, |certificate| {
            certificate.not_before = date_time_ymd(2000, 1, 1);
            certificate.not_after = date_time_ymd(2001, 1, 1);
        })
    }

    /// As [`generated`](Self::generated), but the certificate is for `wrong.example.com`.
    ///
    /// # Errors
    ///
    /// As [`generated`](Self::generated).
    pub fn wrong_name() -> Result<Self, TlsError> {
        Self::issued(&["wrong.example.com"], |_| {})
    }

    /// As [`generated`](Self::generated), but the kubeconfig names another authority.
    ///
    /// # Errors
    ///
    /// As [`generated`](Self::generated).
    pub fn unknown_issuer() -> Result<Self, TlsError> {
        let stranger = Self::generated()?;
        Ok(Self {
            authority: stranger.authority,
            ..Self::generated()?
        })
    }

    /// A caller's own identity: the certificate chain and the key that the server shows, and the certificate
    /// that its kubeconfig names, all in PEM.
    ///
    /// # Errors
    ///
    /// [`TlsError::Pem`] or [`TlsError::Identity`].
    pub fn identity(chain_pem: &str, key_pem: &str, authority_pem: &str) -> Result<Self, TlsError> {
        let chain = CertificateDer::pem_slice_iter(chain_pem.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(TlsError::Pem)?;
        let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).map_err(TlsError::Pem)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Identity)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(TlsError::Identity)?;
        Ok(Self {
            config: Arc::new(config),
            authority: authority_pem.to_owned(),
        })
    }

    /// The authority's certificate.
    #[must_use]
    pub fn authority_pem(&self) -> &str {
        &self.authority
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    fn issued(
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Result<Self, TlsError> {
        let authority_key = KeyPair::generate().map_err(TlsError::Generate)?;
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        authority
            .distinguished_name
            .push(DnType::CommonName, "sim-apiserver-ca");
        let authority_pem = authority
            .self_signed(&authority_key)
            .map_err(TlsError::Generate)?
            .pem();
        let issuer = Issuer::new(authority, authority_key);

        let key = KeyPair::generate().map_err(TlsError::Generate)?;
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut certificate = CertificateParams::new(names).map_err(TlsError::Generate)?;
        certificate
            .distinguished_name
            .push(DnType::CommonName, "sim-apiserver");
        change(&mut certificate);
        let certificate_pem = certificate
            .signed_by(&key, &issuer)
            .map_err(TlsError::Generate)?
            .pem();
        Self::identity(&certificate_pem, &key.serialize_pem(), &authority_pem)
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
