//! Certificates and keys, from files or from the kubeconfig itself.
//!
//! They are read when the configuration is loaded and not with the first connection, so
//! that what is wrong with one is told with its field and file. Line ends, comments
//! around the blocks and a byte-order mark do not matter.
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::text;

/// The PEM text of a field, wherever it is kept. Data beats file, as everywhere in
/// Kubernetes.
pub(super) fn pem(data: Option<&str>, file: Option<&str>) -> Result<Option<String>, String> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        // Go skips line breaks in base64, and YAML folds them into blanks.
        let compact: String = data.split_ascii_whitespace().collect();
        let bytes = STANDARD
            .decode(compact)
            .map_err(|_| "its data is not base64".to_owned())?;
        let text = String::from_utf8(bytes).map_err(|_| "its data is not PEM".to_owned())?;
        return Ok(Some(without_mark(text)));
    }
    match file.filter(|file| !file.is_empty()) {
        Some(file) => read(Path::new(file)).map(Some),
        None => Ok(None),
    }
}

/// The certificates in a PEM text. Text around the blocks is skipped.
pub(super) fn certificates(pem: &str) -> Result<Vec<Vec<u8>>, String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .map(|certificate| certificate.map(|der| der.to_vec()))
        .collect();
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err("it holds no PEM certificate".into()),
        Ok(certificates) => Ok(certificates),
        Err(_) => Err("a PEM block in it is damaged".into()),
    }
}

/// The certificates in a PEM file; the problem names the file.
pub(super) fn certificates_in(file: &Path) -> Result<Vec<Vec<u8>>, String> {
    certificates(&read(file)?).map_err(|problem| format!("{}: {problem}", file.display()))
}

/// Whether a PEM text holds a private key.
pub(super) fn check_key(pem: &str) -> Result<(), String> {
    match PrivateKeyDer::from_pem_slice(pem.as_bytes()) {
        Ok(_) => Ok(()),
        Err(rustls::pki_types::pem::Error::NoItemsFound) => {
            Err("it holds no PEM private key".into())
        }
        Err(_) => Err("its PEM block is damaged".into()),
    }
}

/// The form in which kube takes a PEM text.
pub(super) fn encoded(pem: &str) -> String {
    STANDARD.encode(pem)
}

fn read(file: &Path) -> Result<String, String> {
    text::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

fn without_mark(text: String) -> String {
    match text.strip_prefix('\u{FEFF}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate() -> String {
        rcgen::generate_simple_self_signed(["a.example".to_owned()])
            .unwrap()
            .cert
            .pem()
    }

    /// C-20.
    #[test]
    fn windows_files_and_comments_around_the_blocks_are_no_obstacle() {
        let pem = certificate();
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("plain", pem.clone()),
            ("mark", format!("\u{FEFF}{pem}")),
            ("crlf", pem.replace('\n', "\r\n")),
            ("comments", format!("# the CA\r\n{pem}trailing text\n{pem}")),
        ] {
            let file = directory.path().join(name);
            std::fs::write(&file, content).unwrap();
            let found = certificates_in(&file).unwrap().len();
            assert_eq!(found, if name == "comments" { 2 } else { 1 }, "{name}");
        }
    }

    /// KC-21.
    #[test]
    fn data_beats_the_file_and_may_be_folded() {
        let mut data = encoded("inline");
        data.insert(4, '\n');
        assert_eq!(
            pem(Some(&data), Some("/absent")).unwrap().unwrap(),
            "inline"
        );
        assert_eq!(pem(Some(""), None).unwrap(), None);
        assert_eq!(pem(None, Some("")).unwrap(), None);
    }

    #[test]
    fn what_cannot_be_used_is_told_apart() {
        let problem = |result: Result<Vec<Vec<u8>>, String>| result.unwrap_err();
        assert_eq!(pem(Some("%"), None).unwrap_err(), "its data is not base64");
        assert_eq!(
            problem(certificates("hello")),
            "it holds no PEM certificate"
        );
        let damaged = certificate().replace("MII", "M!I");
        assert_eq!(
            problem(certificates(&damaged)),
            "a PEM block in it is damaged"
        );
        assert!(problem(certificates_in(Path::new("/absent/ca.crt"))).contains("/absent/ca.crt"));
        assert_eq!(
            check_key(&certificate()).unwrap_err(),
            "it holds no PEM private key"
        );
    }
}
