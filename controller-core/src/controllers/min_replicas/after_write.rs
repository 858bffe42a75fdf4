//! What to do after a write that did not plainly succeed. Pure, as the plan is.

use super::raise::Raise;
use crate::client::ApiError;

/// How often a changed object is planned again before its key goes back into the queue.
/// One write more than this may be sent.
pub const MAX_REPLANS: u32 = 3;

/// A failed write, as far as it decides what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 409: the object is not the one that was looked at. Nothing was written.
    Conflict,
    /// Any other refusal. Nothing was written.
    Refused,
    /// 5xx: the server says that it failed. Nearly always nothing was written, but a storage
    /// that answers too late may have stored it.
    Doubtful,
    /// No answer, or none that can be read: it may have been written.
    Lost,
}

/// What reading the object that was written to brought.
#[derive(Clone, Copy, Debug)]
pub enum Live<'a> {
    /// The server has no object of that name.
    Gone,
    /// The server could not be asked.
    Unread,
    /// It has this one.
    Found {
        /// Its uid.
        uid: &'a str,
        /// Its resourceVersion.
        resource_version: &'a str,
        /// The number that was to be raised.
        number: i32,
    },
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There is no object to write to.
    Gone,
    /// Nothing: the write whose answer was lost was applied.
    Done,
    /// The object is another one, or another state of it: decide anew.
    PlanAgain,
    /// The object is as it was: the write's own error is what the user has to know.
    ReportWrite,
    /// The object changed, nobody knows how: the failed read is what the user has to know.
    ReportRead,
}

/// Judges a refusal beside the live object.
///
/// `dry_run`: nothing was stored whatever was answered, so a number that is already there
/// is not ours.
pub fn after_refusal(refusal: Refusal, raise: &Raise, live: Live<'_>, dry_run: bool) -> Next {
    let (uid, resource_version, number) = match live {
        Live::Gone => return Next::Gone,
        Live::Unread if refusal == Refusal::Conflict => return Next::ReportRead,
        Live::Unread => return Next::ReportWrite,
        Live::Found {
            uid,
            resource_version,
            number,
        } => (uid, resource_version, number),
    };
    let (guarded_uid, guarded_version) = raise.guard();
    let same_object = uid == guarded_uid;
    let changed = !same_object || resource_version != guarded_version;
    let has_our_number = same_object && changed && number == raise.to;
    match refusal {
        // Two of us may have written the same number at once; then both say so.
        Refusal::Lost if has_our_number && !dry_run => Next::Done,
        // Even if it looks unchanged: only the server knows what it compared.
        Refusal::Conflict => Next::PlanAgain,
        _ if changed => Next::PlanAgain,
        Refusal::Refused | Refusal::Doubtful | Refusal::Lost => Next::ReportWrite,
    }
}

/// Whether the write left nothing behind, for certain: then it counts neither for a fight
/// nor for the budget.
///
/// A write whose answer was lost may still be on its way, whatever the object looks like by
/// now. One that the server says it failed to store was not stored if the object is the one
/// that was guarded.
pub(super) fn left_nothing(refusal: Refusal, raise: &Raise, live: Live<'_>) -> bool {
    match refusal {
        Refusal::Conflict | Refusal::Refused => true,
        Refusal::Lost => false,
        Refusal::Doubtful => matches!(
            live,
            Live::Found { uid, resource_version, .. } if raise.guard() == (uid, resource_version)
        ),
    }
}

// === impl Refusal ===

impl From<&ApiError> for Refusal {
    fn from(error: &ApiError) -> Self {
        match error {
            ApiError::Conflict(_) => Self::Conflict,
            error if error.answer_lost() => Self::Lost,
            // What is below 500 is the sender's fault, found out before anything is stored.
            ApiError::Server(answer) if answer.code >= 500 => Self::Doubtful,
            ApiError::Other { .. } => Self::Doubtful,
            _ => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests;
