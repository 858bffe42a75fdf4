use std::sync::Arc;

use controller_core::handler::HandlerFuncs;
use controller_core::store::Deleted;
use controller_core::watch::Object;
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::sync::watch;

/// What a handler heard, in order; a clone is the same.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<watch::Sender<Vec<Note>>>);

/// One call of a handler.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    /// `initial`, `added`, `updated`, `resynced`, `deleted`, or `vanished`: a deletion that
    /// nobody saw.
    pub(crate) word: &'static str,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) version: String,
    pub(crate) uid: String,
    /// The version that the object had before an update.
    pub(crate) old: Option<String>,
}

// === impl Heard ===

impl Heard {
    pub(crate) fn handler(&self) -> HandlerFuncs<ConfigMap> {
        let (add, update, resync, delete) =
            (self.clone(), self.clone(), self.clone(), self.clone());
        HandlerFuncs::new()
            .named("heard")
            .on_add(move |new: &Arc<ConfigMap>, initial| {
                add.note(if initial { "initial" } else { "added" }, new, None);
            })
            .on_update(move |old, new| update.note("updated", new, Some(old)))
            .on_resync(move |object| resync.note("resynced", object, None))
            .on_delete(move |deleted| match deleted {
                Deleted::Observed(last) => delete.note("deleted", last, None),
                Deleted::FinalStateUnknown(stone) => {
                    delete.note("vanished", &stone.last_known, None);
                }
            })
    }

    /// Like `added a`, in order.
    pub(crate) fn words(&self) -> Vec<String> {
        self.notes().iter().map(Note::words).collect()
    }

    pub(crate) fn notes(&self) -> Vec<Note> {
        self.0.borrow().clone()
    }

    /// Waits until so many calls have been heard, and tells all of them.
    pub(crate) async fn until(&self, count: usize) -> Vec<String> {
        let notes = self.until_notes(|notes| notes.len() >= count).await;
        notes.iter().map(Note::words).collect()
    }

    pub(crate) async fn until_notes(&self, enough: impl Fn(&[Note]) -> bool) -> Vec<Note> {
        let mut heard = self.0.subscribe();
        heard.wait_for(|notes| enough(notes)).await.unwrap().clone()
    }

    fn note(&self, word: &'static str, object: &ConfigMap, old: Option<&Arc<ConfigMap>>) {
        let note = Note {
            word,
            name: object.key().name().to_owned(),
            value: value(object),
            version: object.resource_version().to_owned(),
            uid: object.uid().to_owned(),
            old: old.map(|old| old.resource_version().to_owned()),
        };
        self.0.send_modify(|notes| notes.push(note));
    }
}

// === impl Note ===

impl Note {
    pub(crate) fn words(&self) -> String {
        format!("{} {}", self.word, self.name)
    }
}

pub(crate) fn value(object: &ConfigMap) -> String {
    let value = object.data.as_ref().and_then(|data| data.get("value"));
    value.cloned().unwrap_or_default()
}
