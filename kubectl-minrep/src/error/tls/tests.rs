use controller_core::client::ApiError;
use insta::assert_snapshot;

use super::*;
use crate::error::api::tests::laptop;
use crate::error::explain;

fn told(error: &ApiError) -> (Exit, String) {
    let report = explain(error, &laptop()).at_verbosity(0);
    (report.exit, report.to_string())
}

fn tls_failure(why: TlsFailure) -> ApiError {
    ApiError::Tls {
        server: "10.0.0.5:6443".into(),
        why,
    }
}

#[test]
fn certificates_that_cannot_be_verified() {
    let (exit, text) = told(&tls_failure(TlsFailure::UnknownIssuer));
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r#"
    error: cannot verify the certificate of https://10.0.0.5:6443: issued by an unknown authority

    hint: cluster "prod-eu" has no certificate-authority(-data); the system trust store was used
    hint: `kubectl config set-cluster prod-eu --certificate-authority=FILE` (safe) or `kubectl config set-cluster prod-eu --insecure-skip-tls-verify` (not safe)
    "#);

    let mut place = laptop();
    place.has_authority = true;
    let report = explain(&tls_failure(TlsFailure::UnknownIssuer), &place);
    assert_snapshot!(report, @r#"
    error: cannot verify the certificate of https://10.0.0.5:6443: issued by an unknown authority
    caused by: its certificate is issued by an unknown authority

    hint: the certificate-authority of cluster "prod-eu" did not issue it: if the cluster was made anew, fetch its kubeconfig again
    hint: `kubectl config set-cluster prod-eu --certificate-authority=FILE` (safe) or `kubectl config set-cluster prod-eu --insecure-skip-tls-verify` (not safe)
    "#);

    place.kubeconfig = Some("/tmp/my config".into());
    let report = explain(&tls_failure(TlsFailure::UnknownIssuer), &place).at_verbosity(0);
    assert_snapshot!(report, @r#"
    error: cannot verify the certificate of https://10.0.0.5:6443: issued by an unknown authority

    hint: the certificate-authority of cluster "prod-eu" did not issue it: if the cluster was made anew, fetch its kubeconfig again
    hint: `kubectl config set-cluster prod-eu --kubeconfig '/tmp/my config' --certificate-authority=FILE` (safe) or `kubectl config set-cluster prod-eu --kubeconfig '/tmp/my config' --insecure-skip-tls-verify` (not safe)
    "#);

    let report = explain(&tls_failure(TlsFailure::UnknownIssuer), &Place::default());
    assert_snapshot!(report.at_verbosity(0), @r"
    error: cannot verify the certificate of https://10.0.0.5:6443: issued by an unknown authority

    hint: the ca.crt of the pod's service account did not issue it: is KUBERNETES_SERVICE_HOST the right server?
    ");

    let (_, text) = told(&tls_failure(TlsFailure::NameMismatch {
        expected: "10.0.0.5".into(),
        presented: vec!["kubernetes.default".into(), "10.96.0.1".into()],
    }));
    assert_snapshot!(text, @r"
    error: cannot verify the certificate of https://10.0.0.5:6443: it is not valid for 10.0.0.5, only for kubernetes.default, 10.96.0.1

    hint: if it is the right server: `kubectl config set-cluster prod-eu --tls-server-name=kubernetes.default`
    ");

    let (_, text) = told(&tls_failure(TlsFailure::Expired {
        not_after: Some(1_767_225_600),
    }));
    assert_snapshot!(text, @r"
    error: cannot verify the certificate of https://10.0.0.5:6443: it expired at 2026-01-01T00:00:00Z

    hint: the server needs a new certificate, unless the clock here is wrong (`date -u`)
    ");

    let (_, text) = told(&tls_failure(TlsFailure::NotYetValid));
    assert_snapshot!(text, @r"
    error: cannot verify the certificate of https://10.0.0.5:6443: it is not valid yet

    hint: is the clock of this machine right? (`date -u`)
    ");
}

#[test]
fn other_ends_of_a_handshake() {
    let (exit, text) = told(&tls_failure(TlsFailure::ClientCertificate(
        "CertificateExpired".into(),
    )));
    assert_eq!(exit, Exit::Unreachable);
    assert_snapshot!(text, @r#"
    error: the server 10.0.0.5:6443 refused the client certificate (CertificateExpired)

    hint: user "ana-sso" in context "prod" was rejected. Log in again, then `kubectl auth whoami --context prod`
    "#);
    let (_, text) = told(&tls_failure(TlsFailure::NotTls));
    assert_snapshot!(text, @r#"
    error: the server 10.0.0.5:6443 does not speak TLS at this port

    hint: context "prod" → cluster "prod-eu" has the address https://10.0.0.5:6443: is the port right?
    "#);
    let (_, text) = told(&tls_failure(TlsFailure::Other("handshake failure".into())));
    assert_snapshot!(text, @r#"
    error: no secure connection to the server 10.0.0.5:6443: handshake failure

    hint: context "prod" → cluster "prod-eu"
    "#);
}
