//! The query of a list or watch, checked as the real server checks it.

use std::time::Duration;

use super::call::Call;
use crate::{
    selector::{FieldSelector, Filter, LabelSelector},
    status::{ApiStatus, FieldError},
    store::{AsOf, ListRequest, RevisionMatch},
    strconv,
};

/// A checked query.
#[derive(Clone, Debug)]
pub(super) struct ListOptions {
    pub(super) filter: Filter,
    /// Empty where it was not given.
    pub(super) resource_version: String,
    revision_match: String,
    limit: usize,
    continue_token: String,
    pub(super) bookmarks: bool,
    pub(super) send_initial_events: Option<bool>,
    pub(super) timeout: Option<Duration>,
}

const EXACT: &str = "Exact";
const NOT_OLDER_THAN: &str = "NotOlderThan";

// === impl ListOptions ===

impl ListOptions {
    pub(super) fn parse(call: &Call<'_>) -> Result<Self, ApiStatus> {
        let info = &call.info;
        let text = |key: &str| info.query(key).unwrap_or_default().to_owned();
        let number = |key: &str| -> Result<Option<i64>, ApiStatus> {
            match info.query(key).filter(|value| !value.is_empty()) {
                None => Ok(None),
                Some(value) => value
                    .parse()
                    .map(Some)
                    .map_err(|_| ApiStatus::bad_request(strconv::refusal("ParseInt", value))),
            }
        };
        let labels =
            LabelSelector::parse(&text("labelSelector")).map_err(ApiStatus::bad_request)?;
        let fields = FieldSelector::parse(
            &text("fieldSelector"),
            call.kind,
            call.served.field_labels(call.kind),
        )
        .map_err(ApiStatus::bad_request)?;
        let namespace = call.info.namespace.clone().filter(|_| call.kind.namespaced);
        let limit = number("limit")?.unwrap_or(0);
        let timeout = number("timeoutSeconds")?.filter(|seconds| *seconds > 0);
        let options = Self {
            filter: Filter::new(namespace, labels, fields),
            resource_version: text("resourceVersion"),
            revision_match: text("resourceVersionMatch"),
            limit: usize::try_from(limit).unwrap_or(0),
            continue_token: text("continue"),
            bookmarks: info.flag("allowWatchBookmarks"),
            send_initial_events: info
                .query("sendInitialEvents")
                .map(|_| info.flag("sendInitialEvents")),
            timeout: timeout.map(|seconds| Duration::from_secs(seconds.unsigned_abs())),
        };
        Ok(options)
    }

    /// What the list asks of the store, where the endpoint has seen `as_of`.
    pub(super) fn list_request(&self, as_of: AsOf) -> Result<ListRequest, ApiStatus> {
        self.check_list()?;
        let token = Some(self.continue_token.clone()).filter(|token| !token.is_empty());
        if token.is_some() && !matches!(self.resource_version.as_str(), "" | "0") {
            return Err(ApiStatus::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let revision = match (self.resource_version.as_str(), self.revision_match.as_str()) {
            ("", _) => RevisionMatch::MostRecent,
            ("0", _) => RevisionMatch::Any,
            (given, matching) => {
                let revision = given.parse().map_err(|_| {
                    let why = strconv::refusal("ParseUint", given);
                    ApiStatus::bad_request(format!(
                        "invalid resource version: resourceVersion: Invalid value: {given:?}: {why}"
                    ))
                })?;
                match matching {
                    EXACT => RevisionMatch::Exact(revision),
                    // Before resourceVersionMatch there was, a limit meant exactly this one.
                    "" if self.limit > 0 => RevisionMatch::Exact(revision),
                    _ => RevisionMatch::NotOlderThan(revision),
                }
            }
        };
        Ok(ListRequest {
            limit: self.limit,
            continue_token: token,
            revision,
            as_of,
        })
    }

    /// As a server reads it that knows of neither parameter.
    pub(super) fn forget_streaming(&mut self) {
        self.send_initial_events = None;
        self.revision_match.clear();
    }

    fn check_list(&self) -> Result<(), ApiStatus> {
        let mut errors = Vec::new();
        let matching = self.revision_match.as_str();
        if !matching.is_empty() {
            let field = "resourceVersionMatch";
            if self.resource_version.is_empty() {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.push(FieldError::forbidden(field, why));
            }
            if !self.continue_token.is_empty() {
                errors.push(FieldError::forbidden(
                    field,
                    "resourceVersionMatch is forbidden when continue is provided",
                ));
            }
            if !matches!(matching, EXACT | NOT_OLDER_THAN) {
                errors.push(FieldError::not_supported(
                    field,
                    format!("{matching:?}"),
                    &[EXACT, NOT_OLDER_THAN, ""],
                ));
            }
            if matching == EXACT && self.resource_version == "0" {
                let why = r#"resourceVersionMatch "exact" is forbidden for resourceVersion "0""#;
                errors.push(FieldError::forbidden(field, why));
            }
        }
        if self.send_initial_events.is_some() {
            let why = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden("sendInitialEvents", why));
        }
        refuse(&errors)
    }

    /// Checks what a watch may not ask for; `streaming_lists` is the server's feature.
    pub(super) fn check_watch(&self, streaming_lists: bool) -> Result<(), ApiStatus> {
        let mut errors = Vec::new();
        let matching = self.revision_match.as_str();
        let field = "resourceVersionMatch";
        if self.send_initial_events.is_some() {
            if matching != NOT_OLDER_THAN {
                let why = format!(
                    "sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}"
                );
                errors.push(FieldError::forbidden(field, why));
            }
            if !streaming_lists {
                let why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
                errors.push(FieldError::forbidden("sendInitialEvents", why));
            }
        }
        if !matching.is_empty() {
            if self.send_initial_events.is_none() {
                let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                errors.push(FieldError::forbidden(field, why));
            }
            if matching != NOT_OLDER_THAN {
                errors.push(FieldError::not_supported(
                    field,
                    format!("{matching:?}"),
                    &[NOT_OLDER_THAN],
                ));
            }
            if !self.continue_token.is_empty() {
                errors.push(FieldError::forbidden(
                    field,
                    "resourceVersionMatch is forbidden when continue is provided",
                ));
            }
        }
        refuse(&errors)
    }
}

fn refuse(errors: &[FieldError]) -> Result<(), ApiStatus> {
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ApiStatus::invalid_options("ListOptions", errors))
    }
}
