use tokio::time::Duration;

use crate::client::{Answer, ApiError};

/// Why a list brought nothing, or a watch ended.
///
/// | variant | who can mend it |
/// |---|---|
/// | `Api` | see the table at [`ApiError`]; for 403 whoever grants permissions |
/// | `Stale` | time: the lagging server catches up, usually within seconds |
/// | `NoVersion`, `NotAList`, `OtherKind`, `NotJson` | nobody here: what answers is not a Kubernetes API server, or a broken one |
/// | `PagesExpire` | a bigger [`page_size`](super::WatchOptions::page_size), or a narrower selection |
/// | `PagesRepeat` | nobody here: the server's paging is broken |
/// | `CutShort`, `WatchesEndAtOnce`, `Restless` | whoever runs the proxy in between |
///
/// None of them changes the cache: what was known stays known.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The request failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The answer is older than what an earlier answer already told: another API server
    /// behind the same address lags. Taking it would bring deleted objects back to life.
    #[error("the server answered with version {got}, older than version {known} seen before")]
    Stale {
        /// The version of the answer.
        got: String,
        /// The version that was known.
        known: String,
    },
    /// The list carries no version, or `0`, so no watch can start from it.
    #[error("the list has no resourceVersion")]
    NoVersion,
    /// The answer is JSON, but no list. As an empty one it would delete everything.
    #[error("the answer is no list ({kind})")]
    NotAList {
        /// What it says to be.
        kind: String,
    },
    /// The answer is a list of another kind. As one of this kind it would delete everything.
    #[error("the answer is a list of another kind ({kind})")]
    OtherKind {
        /// What it says to be.
        kind: String,
    },
    /// The answer is of a media type that was not asked for, a gateway's page for example.
    #[error("the answer is {media_type}, which is not JSON")]
    NotJson {
        /// Its media type, at most 60 characters of it.
        media_type: String,
    },
    /// Pages expire faster than they can be read, even when none were asked for.
    #[error("the pages of the list expire before they are read")]
    PagesExpire,
    /// A page names one as the next that has been read already, itself for example; or one page
    /// after the other brings nothing that has a name, and there is always another. So it was in
    /// one piece, too.
    #[error("the pages of the list go in a circle")]
    PagesRepeat,
    /// A streamed list ended before the server said that it was complete.
    #[error("the list was cut short")]
    CutShort,
    /// Something between here and the server answers a watch and closes it: the cache
    /// would never change again.
    #[error("watches end as soon as they are open; does a proxy cut them?")]
    WatchesEndAtOnce,
    /// Each list is soon followed by the need for another one: its version expires, or its
    /// watch brings lines that nobody can read.
    #[error("no watch lasts for long; does the server forget, or a proxy garble what it says?")]
    Restless,
}

// === impl ListError ===

impl ListError {
    /// The refusal that only a person can lift: a permission is missing (403), or the
    /// credentials are not taken (401). It names the verb, the resource and the namespace.
    pub fn denial(&self) -> Option<&Answer> {
        match self {
            Self::Api(ApiError::Unauthorized(answer) | ApiError::Forbidden(answer)) => Some(answer),
            _ => None,
        }
    }

    /// How long the server asked to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Api(error) => error.retry_after(),
            _ => None,
        }
    }
}

/// 410, or a version from the future, which a server that was restored or that lags does
/// not have.
pub(super) fn lacks_version(error: &ApiError) -> bool {
    error.is_gone() || is_too_large(error)
}

fn is_too_large(error: &ApiError) -> bool {
    let Some(answer) = error.answer() else {
        return false;
    };
    let said_so = |text: &str| text.contains("Too large resource version");
    // The three shapes that servers have used, see RF-30.
    let causes = answer.details.iter().flat_map(|details| &details.causes);
    answer.code == 504
        && (said_so(&answer.message)
            || causes
                .into_iter()
                .any(|cause| cause.reason == "ResourceVersionTooLarge" || said_so(&cause.message)))
}
