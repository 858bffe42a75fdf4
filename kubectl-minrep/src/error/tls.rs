//! A handshake that failed → what a person reads.

use controller_core::client::TlsFailure;

use super::access::shell_word;
use super::api::rejected;
use super::{Exit, Place, Report};

/// Explains why `server` was not believed, or did not believe us.
pub(super) fn tls(server: &str, why: &TlsFailure, place: &Place) -> Report {
    let set = place.set_cluster();
    let unverified = |why: &dyn std::fmt::Display| {
        Report::error(
            Exit::Unreachable,
            format_args!("cannot verify the certificate of https://{server}: {why}"),
        )
    };
    match why {
        TlsFailure::UnknownIssuer => {
            unknown_issuer(unverified(&"issued by an unknown authority"), place)
        }
        TlsFailure::NameMismatch {
            expected,
            presented,
        } => {
            let only = if presented.is_empty() {
                String::new()
            } else {
                format!(", only for {}", presented.join(", "))
            };
            let name = presented
                .first()
                .map_or_else(|| "NAME".into(), |name| shell_word(name));
            unverified(&format_args!("it is not valid for {expected}{only}")).hint(format_args!(
                "if it is the right server: \
                 `{set} --tls-server-name={name}`"
            ))
        }
        TlsFailure::Expired { .. } => {
            // The sentence of the failure has the date; here it is the subject's.
            let why = why
                .to_string()
                .replace("its certificate has expired", "it expired");
            unverified(&why).hint(
                "the server needs a new certificate, unless the clock here is wrong (`date -u`)",
            )
        }
        TlsFailure::NotYetValid => unverified(&"it is not valid yet")
            .hint("is the clock of this machine right? (`date -u`)"),
        TlsFailure::ClientCertificate(alert) => Report::error(
            Exit::Unreachable,
            format_args!("the server {server} refused the client certificate ({alert})"),
        )
        .hint(rejected(place)),
        TlsFailure::NotTls => Report::error(
            Exit::Unreachable,
            format_args!("the server {server} does not speak TLS at this port"),
        )
        .hint(format_args!(
            "{} has the address {}: is the port right?",
            place.route(),
            place.server
        )),
        _ => Report::error(
            Exit::Unreachable,
            format_args!("no secure connection to the server {server}: {why}"),
        )
        .hint(place.route()),
    }
}

fn unknown_issuer(report: Report, place: &Place) -> Report {
    let Some(cluster) = &place.cluster else {
        return report.hint(
            "the ca.crt of the pod's service account did not issue it: is \
             KUBERNETES_SERVICE_HOST the right server?",
        );
    };
    let trusted = if place.has_authority {
        format!(
            "the certificate-authority of cluster {cluster:?} did not issue it: if the cluster was \
             made anew, fetch its kubeconfig again"
        )
    } else {
        format!(
            "cluster {cluster:?} has no certificate-authority(-data); \
             the system trust store was used"
        )
    };
    let set = place.set_cluster();
    report.hint(trusted).hint(format_args!(
        "`{set} --certificate-authority=FILE` (safe) or \
         `{set} --insecure-skip-tls-verify` (not safe)"
    ))
}

#[cfg(test)]
mod tests;
