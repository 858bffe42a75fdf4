use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::watch::{News, Object, Unreadable, WatchEvent};

/// Why a [transform](super::InformerOptions::transform) could not make of an object what the
/// cache is to hold.
///
/// The text goes to the log and to
/// [`Lister::quarantine`](crate::store::Lister::quarantine): put nothing of the object into
/// it that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TransformError(String);

/// What is done to every object between the decoder and the cache.
pub(super) struct Transform<T>(Function<T>);

type Function<T> = Box<dyn Fn(T) -> Result<T, TransformError> + Send + Sync>;

// === impl TransformError ===

impl TransformError {
    /// Says why, as a lowercase fragment.
    pub fn new(why: impl fmt::Display) -> Self {
        Self(why.to_string())
    }
}

// === impl Transform ===

impl<T: Object> Transform<T> {
    pub(super) fn new(
        function: impl Fn(T) -> Result<T, TransformError> + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(function))
    }

    /// Transforms the object of `event`, if it brings one. Called once for each event, so once
    /// for each object that was decoded.
    pub(super) fn apply(&self, event: WatchEvent<T>) -> WatchEvent<T> {
        let (object, during, again): (T, News, fn(T) -> WatchEvent<T>) = match event {
            WatchEvent::Listed(object) => (object, News::Listed, WatchEvent::Listed),
            WatchEvent::Added(object) => (object, News::Changed, WatchEvent::Added),
            WatchEvent::Modified(object) => (object, News::Changed, WatchEvent::Modified),
            WatchEvent::Deleted(object) => (object, News::Deleted, WatchEvent::Deleted),
            without_object => return without_object,
        };
        let (key, uid) = (object.key(), object.uid().to_owned());
        let version = object.resource_version().to_owned();
        let call = AssertUnwindSafe(|| (self.0)(object));
        let error = match catch_unwind(call) {
            Ok(Ok(new))
                if new.key() == key && new.uid() == uid && new.resource_version() == version =>
            {
                return again(new);
            }
            Ok(Ok(_)) => "the transform changed its name, uid or version".to_owned(),
            Ok(Err(TransformError(why))) => why,
            Err(_) => "the transform panicked".to_owned(),
        };
        // As if it could not be decoded: the copy that is cached stays, and is marked.
        WatchEvent::Unreadable(Unreadable {
            key: Some(key),
            resource_version: Some(version),
            during,
            error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::Widget;

    fn outcome(event: &WatchEvent<Widget>) -> String {
        match event {
            WatchEvent::Listed(it) => format!("listed {}", it.size()),
            WatchEvent::Added(it) => format!("added {}", it.size()),
            WatchEvent::Modified(it) => format!("modified {}", it.size()),
            WatchEvent::Deleted(it) => format!("deleted {}", it.size()),
            WatchEvent::Unreadable(it) => format!(
                "{:?} {}@{}: {}",
                it.during,
                it.key.as_ref().unwrap().name(),
                it.resource_version.as_deref().unwrap(),
                it.error
            ),
            other => format!("{other:?}"),
        }
    }

    fn widget() -> Widget {
        Widget::new("a", "7").with_size(1)
    }

    #[test]
    fn what_brings_an_object_is_transformed_and_keeps_what_it_says() {
        let transform = Transform::new(|it: Widget| {
            let size = it.size();
            Ok(it.with_size(size + 1))
        });
        for (event, expected) in [
            (WatchEvent::Listed(widget()), "listed 2"),
            (WatchEvent::Added(widget()), "added 2"),
            (WatchEvent::Modified(widget()), "modified 2"),
            (WatchEvent::Deleted(widget()), "deleted 2"),
        ] {
            assert_eq!(outcome(&transform.apply(event)), expected);
        }
        let bookmark = WatchEvent::Bookmark {
            resource_version: "9".to_owned(),
        };
        assert!(matches!(
            transform.apply(bookmark),
            WatchEvent::Bookmark { .. }
        ));
    }

    #[test]
    fn what_cannot_be_transformed_is_unreadable_and_keeps_its_key() {
        let refusing = Transform::new(|_: Widget| Err(TransformError::new("too blue")));
        let panicking = Transform::new(|_: Widget| panic!("as the test wants it"));
        let renaming = Transform::new(|_: Widget| Ok(Widget::new("b", "7")));
        let rewinding = Transform::new(|_: Widget| Ok(Widget::new("a", "6")));
        let replacing = Transform::new(|it: Widget| Ok(it.with_uid("another")));
        let said = [refusing, panicking, renaming, rewinding, replacing]
            .map(|transform| outcome(&transform.apply(WatchEvent::Deleted(widget()))));
        insta::assert_snapshot!(said.join("\n"), @r"
        Deleted a@7: too blue
        Deleted a@7: the transform panicked
        Deleted a@7: the transform changed its name, uid or version
        Deleted a@7: the transform changed its name, uid or version
        Deleted a@7: the transform changed its name, uid or version
        ");
    }
}
