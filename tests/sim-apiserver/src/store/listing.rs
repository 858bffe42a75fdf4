//! Lists: pages, consistent at one revision.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::{AsOf, Object, State, key_range::KeyRange, past::Undone};
use crate::{kinds::KindId, selector::Filter, status::ApiStatus};

/// What a list asks for, beside kind and filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListRequest {
    pub(crate) limit: usize,
    pub(crate) continue_token: Option<String>,
    pub(crate) revision: RevisionMatch,
    /// What the endpoint that is asked has seen.
    pub(crate) as_of: AsOf,
}

/// Which state a list is to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RevisionMatch {
    /// The newest.
    #[default]
    MostRecent,
    /// Any; the real server answers from its cache and ignores `limit`.
    Any,
    /// This or a newer one.
    NotOlderThan(u64),
    /// Exactly this one.
    Exact(u64),
}

/// One page.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) items: Vec<Arc<Object>>,
    pub(crate) revision: u64,
    pub(crate) continue_token: Option<String>,
    pub(crate) remaining: Option<u64>,
}

/// The real server's token, field by field.
#[derive(Deserialize, Serialize)]
struct ContinueToken {
    #[serde(default)]
    v: String,
    /// -1: go on at the present state, whatever it is.
    #[serde(default)]
    rv: i64,
    #[serde(default)]
    start: String,
}

// === impl Listing ===

impl Listing {
    /// Reads one page under the lock that `state` stands for.
    pub(crate) fn read(
        state: &State,
        kind: KindId,
        filter: &Filter,
        request: &ListRequest,
    ) -> Result<Self, ApiStatus> {
        let now = match (&request.continue_token, request.revision) {
            // Read from etcd, whatever the endpoint has seen. So are most pages.
            (Some(_), _) | (None, RevisionMatch::MostRecent) => state.revision(),
            _ => request.as_of.newest(state.revision()),
        };
        let (revision, from) = match (&request.continue_token, request.revision) {
            (Some(token), _) => {
                let token = ContinueToken::decode(token)?;
                let revision = u64::try_from(token.rv).unwrap_or(now);
                (revision, Some(token.start))
            }
            (None, RevisionMatch::Exact(revision)) => (revision, None),
            (None, RevisionMatch::NotOlderThan(revision)) => (now.max(revision), None),
            (None, RevisionMatch::MostRecent | RevisionMatch::Any) => (now, None),
        };
        if revision > now {
            return Err(ApiStatus::too_large_resource_version(revision, now));
        }
        let limit = match request.revision {
            RevisionMatch::Any if request.continue_token.is_none() => 0,
            _ => request.limit,
        };
        let Some(undone) = Undone::at(state, kind, revision) else {
            return Err(match from {
                Some(start) => {
                    ApiStatus::inconsistent_continue(ContinueToken::at_present(start).encode())
                }
                None => ApiStatus::expired("The resourceVersion for the provided list is too old."),
            });
        };
        let range = KeyRange::new(filter.namespace(), from.as_deref());
        let mut page = Self {
            items: Vec::new(),
            revision,
            continue_token: None,
            remaining: None,
        };
        let table = state.table(kind);
        let mut objects = undone.merge(table, range.clone());
        for object in objects.by_ref().filter(|object| filter.matches(object)) {
            page.items.push(Arc::clone(object));
            if page.items.len() == limit {
                break;
            }
        }
        if let (Some(_), Some(last)) = (objects.next(), page.items.last()) {
            let last = last.key.as_str();
            page.continue_token = Some(ContinueToken::after(last, revision).encode());
            // What follows may not match: the real server counts only where there is no selector.
            page.remaining = filter
                .is_everything()
                .then(|| undone.count(table, range.behind(last)) as u64);
        }
        Ok(page)
    }
}

// === impl ContinueToken ===

impl ContinueToken {
    fn after(key: &str, revision: u64) -> Self {
        // The smallest key behind `key`, as etcd clients write it.
        let rv = i64::try_from(revision).unwrap_or(i64::MAX);
        Self {
            v: "meta.k8s.io/v1".to_owned(),
            rv,
            start: format!("{key}\0"),
        }
    }

    fn at_present(start: String) -> Self {
        Self {
            v: "meta.k8s.io/v1".to_owned(),
            rv: -1,
            start,
        }
    }

    fn encode(&self) -> String {
        let json = serde_json::to_vec(self).expect("invariant: a token is plain JSON");
        URL_SAFE_NO_PAD.encode(json)
    }

    fn decode(text: &str) -> Result<Self, ApiStatus> {
        let invalid = |why: &str| {
            ApiStatus::bad_request(format!(
                "invalid continue token: continue key is not valid{why}"
            ))
        };
        let json = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|error| invalid(&format!(": {error}")))?;
        let token: Self =
            serde_json::from_slice(&json).map_err(|error| invalid(&format!(": {error}")))?;
        if token.v != "meta.k8s.io/v1" {
            return Err(invalid(&format!(
                ": server does not recognize this encoded version {}",
                token.v
            )));
        }
        if token.rv == 0 {
            return Err(invalid(
                ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ));
        }
        if token.start.is_empty() {
            return Err(invalid(
                ": encoded start key empty (version meta.k8s.io/v1)",
            ));
        }
        Ok(token)
    }
}
