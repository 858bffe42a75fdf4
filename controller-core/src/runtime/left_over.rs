use crate::client::ObjectKey;
use crate::queue::{Drained, WorkQueue};

/// Tells whom the end of the grace period came before: the first of them by name, for that
/// is who to look at by hand.
pub(super) fn tell_who_is_left_over(drained: &Drained, queue: &WorkQueue<ObjectKey>) {
    if drained.abandoned == 0 {
        return;
    }
    let names = queue.abandoned_keys();
    let more = drained.abandoned.saturating_sub(names.len());
    let mut names = names
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    if more > 0 {
        names += &format!(" and {more} more");
    }
    tracing::warn!("not looked at before the grace period ended: {names}");
}
