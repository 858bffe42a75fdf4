//! A cache, what is fed to it, and what comes out, as words.
use crate::client::ObjectKey;
use crate::store::{CacheWriter, Deleted, Delta, Lister, cache};
use crate::watch::testing::Widget;
use crate::watch::{News, Object, Unreadable, WatchEvent};

pub(super) struct Scene {
    pub(super) writer: CacheWriter<Widget>,
    pub(super) lister: Lister<Widget>,
}

impl Scene {
    /// A cache that has not listed yet.
    pub(super) fn empty() -> Self {
        let (writer, lister) = cache(Vec::new());
        Self { writer, lister }
    }

    /// A cache that listed these at version 10.
    pub(super) fn listed(objects: impl IntoIterator<Item = Widget>) -> Self {
        let mut scene = Self::empty();
        scene.relist("10", objects);
        scene
    }

    pub(super) fn relist(
        &mut self,
        version: &str,
        objects: impl IntoIterator<Item = Widget>,
    ) -> Vec<String> {
        self.begin();
        for object in objects {
            self.writer.apply(WatchEvent::Listed(object));
        }
        self.done(version)
    }

    pub(super) fn begin(&mut self) {
        self.writer.apply(WatchEvent::ListStarted { fresh: false });
    }

    pub(super) fn done(&mut self, version: &str) -> Vec<String> {
        self.end(version, false)
    }

    /// A list without a version, answered by a server whose history is another one.
    pub(super) fn restored(
        &mut self,
        version: &str,
        objects: impl IntoIterator<Item = Widget>,
    ) -> Vec<String> {
        self.writer.apply(WatchEvent::ListStarted { fresh: true });
        for object in objects {
            self.writer.apply(WatchEvent::Listed(object));
        }
        self.end(version, true)
    }

    pub(super) fn end(&mut self, version: &str, restored: bool) -> Vec<String> {
        self.event(WatchEvent::ListDone {
            resource_version: version.to_owned(),
            restored,
        })
    }

    /// What handlers see, as words.
    pub(super) fn event(&mut self, event: WatchEvent<Widget>) -> Vec<String> {
        let deltas = self.writer.apply(event);
        deltas.iter().map(words).collect()
    }

    pub(super) fn version(&self) -> String {
        self.lister.resource_version().unwrap_or_default()
    }

    pub(super) fn versions(&self) -> Vec<String> {
        let mut all: Vec<_> = self
            .lister
            .list()
            .iter()
            .map(|object| name(object))
            .collect();
        all.sort();
        all
    }
}

pub(super) fn name(object: &Widget) -> String {
    format!("{}@{}", object.key().name(), object.resource_version())
}

pub(super) fn words(delta: &Delta<Widget>) -> String {
    match delta {
        Delta::Added { new, initial: true } => format!("initial {}", name(new)),
        Delta::Added { new, .. } => format!("added {}", name(new)),
        Delta::Updated { old, new } => format!("updated {} to {}", name(old), name(new)),
        Delta::Resynced { object } => format!("resynced {}", name(object)),
        Delta::Deleted(Deleted::Observed(object)) => format!("deleted {}", name(object)),
        Delta::Deleted(Deleted::FinalStateUnknown(tombstone)) => {
            format!("tombstone {}", name(&tombstone.last_known))
        }
    }
}

pub(super) fn w(name: &str, version: &str) -> Widget {
    Widget::new(name, version)
}

pub(super) fn unreadable(key: Option<&str>, during: News) -> WatchEvent<Widget> {
    unreadable_at(key, None, during)
}

pub(super) fn unreadable_at(
    key: Option<&str>,
    version: Option<&str>,
    during: News,
) -> WatchEvent<Widget> {
    WatchEvent::Unreadable(Unreadable {
        key: key.map(|name| ObjectKey::namespaced("shop", name)),
        resource_version: version.map(str::to_owned),
        during,
        error: "data error".to_owned(),
    })
}
