use crate::client::ObjectKey;
use crate::queue::{Drained, WorkQueue};

/// Tells whom the end of the grace period came before: the first of them by name, for that
/// is who to look at by hand. Who was being looked at may have been written too.
pub(super) fn tell_who_is_left_over(drained: &Drained, queue: &WorkQueue<ObjectKey>) {
    let (cut_off, not_looked_at) = left_over(drained, &queue.abandoned_keys());
    if let Some(names) = cut_off {
        tracing::warn!("cut off by the end of the grace period while being looked at: {names}");
    }
    if let Some(names) = not_looked_at {
        tracing::warn!("not looked at before the grace period ended: {names}");
    }
}

/// Those in work and those in line, `None` if there are none.
fn left_over(drained: &Drained, named: &[ObjectKey]) -> (Option<String>, Option<String>) {
    let in_work = drained.abandoned_in_work;
    let in_line = drained.abandoned.saturating_sub(in_work);
    let (of_work, of_line) = named.split_at(in_work.min(named.len()));
    (list(of_work, in_work), list(of_line, in_line))
}

fn list(named: &[ObjectKey], total: usize) -> Option<String> {
    let names: Vec<_> = named.iter().map(ToString::to_string).collect();
    match (names.join(", "), total.saturating_sub(names.len())) {
        (_, 0) if names.is_empty() => None,
        (_, more) if names.is_empty() => Some(format!("{more} Deployments")),
        (names, 0) => Some(names),
        (names, more) => Some(format!("{names} and {more} more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(in_work: usize, in_line: usize) -> (Option<String>, Option<String>) {
        let left = in_work + in_line;
        let drained = Drained {
            completed: left == 0,
            dropped_delayed: 0,
            abandoned: left,
            abandoned_in_work: in_work,
            refused: 0,
        };
        let keys = (0..left.min(3)).map(|n| ObjectKey::namespaced("shop", format!("d{n}")));
        left_over(&drained, &keys.collect::<Vec<_>>())
    }

    #[test]
    fn who_was_being_looked_at_is_not_among_those_who_were_not() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(told(0, 0), (None, None));
        assert_eq!(told(1, 0), (some("shop/d0"), None));
        assert_eq!(
            told(0, 4),
            (None, some("shop/d0, shop/d1, shop/d2 and 1 more"))
        );
        assert_eq!(told(1, 1), (some("shop/d0"), some("shop/d1")));
        assert_eq!(
            told(2, 7),
            (some("shop/d0, shop/d1"), some("shop/d2 and 6 more"))
        );
        let more = some("shop/d0, shop/d1, shop/d2 and 1 more");
        assert_eq!(told(4, 5), (more, some("5 Deployments")));
    }
}
