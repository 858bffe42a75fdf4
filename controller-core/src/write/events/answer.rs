use super::plan::{Outcome, WriteKind};
use crate::client::ApiError;

/// What an answer means for the event.
///
/// An answer of the API server is final: it would be the same again, and what is worth
/// trying again after some time (`Retry-After`) the client has tried already. An answer of
/// something else, a gateway's 502, says nothing about the event and is like no answer. That
/// differs from client-go, which takes every HTTP status for the server's word.
pub(super) fn outcome(kind: &WriteKind, answer: &Result<(), ApiError>) -> Outcome {
    let error = match answer {
        Ok(()) => return Outcome::Written,
        Err(error) => error,
    };
    let creates = matches!(kind, WriteKind::Create { .. });
    match error {
        ApiError::AlreadyExists(_) if creates => Outcome::Exists,
        ApiError::NotFound(answer) if answer.from_api && !creates => Outcome::Vanished,
        // It cannot be put together the next time either.
        ApiError::Unsendable { .. } => Outcome::Refused,
        error if error.answer().is_some_and(|answer| answer.from_api) => Outcome::Refused,
        error => Outcome::Failed {
            lost: error.answer_lost(),
        },
    }
}

/// The namespace is going away, and everything in it. Nobody can do anything about it, and
/// no permission is missing, although it is a 403.
pub(super) fn namespace_terminates(error: &ApiError) -> bool {
    let details = error.answer().and_then(|answer| answer.details.as_ref());
    details.is_some_and(|details| {
        let mut causes = details.causes.iter();
        causes.any(|cause| cause.reason == "NamespaceTerminating")
    })
}
