use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderValue, Request};
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::{Duration, Instant};
use tower::BoxError;
use tower::filter::{FilterLayer, Predicate};
use tracing::debug;

/// The kubelet rotates a service account's token; the new one is there long before the
/// old one expires.
const REREAD: Duration = Duration::from_secs(60);

/// Sends the token that stands in a file, without the line break that editors end it
/// with, and reads it again once a minute. A file that went away or became empty changes
/// nothing: some tools remove it after the start on purpose.
///
/// kube has such a layer too. It does not trim, so that a token written by an editor is
/// refused as an invalid header with the first request.
#[derive(Clone, Debug)]
pub(super) struct TokenFile {
    path: PathBuf,
    current: Arc<Mutex<Current>>,
}

pub(super) type TokenFileLayer = FilterLayer<TokenFile>;

/// The token as it is sent, and when it was read.
#[derive(Debug)]
struct Current {
    header: HeaderValue,
    read: Instant,
}

/// Why there is no token to start with. Names the file, never what is in it.
#[derive(Debug, thiserror::Error)]
pub(super) enum TokenFileError {
    #[error("cannot read the token file {}: {source}", .path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the token file {} is empty", .path.display())]
    Empty { path: PathBuf },
    #[error("the token file {} holds characters that no header can carry", .path.display())]
    Unsendable { path: PathBuf },
}

// === impl TokenFile ===

impl TokenFile {
    pub(super) fn open(path: PathBuf) -> Result<Self, TokenFileError> {
        let current = Current {
            header: read(&path)?,
            read: Instant::now(),
        };
        Ok(Self {
            path,
            current: Arc::new(Mutex::new(current)),
        })
    }

    pub(super) fn layer(self) -> TokenFileLayer {
        FilterLayer::new(self)
    }

    fn header(&self) -> HeaderValue {
        let mut current = self.current.lock();
        if current.read.elapsed() >= REREAD {
            // A few hundred bytes from memory, once a minute: no thread is worth it.
            match read(&self.path) {
                Ok(header) => current.header = header,
                Err(error) => debug!("keeping the last token: {error}"),
            }
            current.read = Instant::now();
        }
        current.header.clone()
    }
}

impl Predicate<Request<Body>> for TokenFile {
    type Request = Request<Body>;

    fn check(&mut self, mut request: Request<Body>) -> Result<Request<Body>, BoxError> {
        request.headers_mut().insert(AUTHORIZATION, self.header());
        Ok(request)
    }
}

fn read(path: &PathBuf) -> Result<HeaderValue, TokenFileError> {
    let text = fs::read_to_string(path).map_err(|source| TokenFileError::Unreadable {
        path: path.clone(),
        source,
    })?;
    let token = text.trim();
    if token.is_empty() {
        return Err(TokenFileError::Empty { path: path.clone() });
    }
    let mut header = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| TokenFileError::Unsendable { path: path.clone() })?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// AU-18.
    #[tokio::test(start_paused = true)]
    async fn a_rotated_token_is_used_within_a_minute_and_a_lost_file_keeps_the_last() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        fs::write(&path, "one\n").unwrap();
        let file = TokenFile::open(path.clone()).unwrap();
        assert_eq!(file.header(), "Bearer one");

        fs::write(&path, "two").unwrap();
        advance(Duration::from_secs(59)).await;
        assert_eq!(file.header(), "Bearer one");
        advance(Duration::from_secs(1)).await;
        assert_eq!(file.header(), "Bearer two");

        fs::remove_file(&path).unwrap();
        advance(REREAD).await;
        assert_eq!(file.header(), "Bearer two");
        fs::write(&path, "").unwrap();
        advance(REREAD).await;
        assert_eq!(file.header(), "Bearer two");
    }

    #[test]
    fn a_token_that_cannot_be_sent_is_told_at_once_and_not_shown() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        assert!(TokenFile::open(path.clone()).is_err());
        fs::write(&path, " \n").unwrap();
        assert!(
            TokenFile::open(path.clone())
                .unwrap_err()
                .to_string()
                .ends_with("is empty")
        );
        fs::write(&path, "s3cret\u{7}").unwrap();
        let error = TokenFile::open(path).unwrap_err().to_string();
        assert!(error.ends_with("holds characters that no header can carry"));
        assert!(!error.contains("s3cret"));
    }
}
