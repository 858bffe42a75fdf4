//! What a handler heard, as words.
use std::sync::{Arc, mpsc};

use controller_core::handler::HandlerFuncs;
use controller_core::store::{CaughtUp, Deleted, Lister};
use controller_core::watch::Object;
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use tokio::sync::watch;

/// Notes what a handler is told, and what the cache says during the call.
#[derive(Clone)]
pub(crate) struct Heard {
    calls: Arc<watch::Sender<Vec<Call>>>,
    lister: Lister<ConfigMap>,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// `added foo 5`.
    pub(crate) text: String,
    /// Where the cache stood.
    pub(crate) version: String,
    /// What it held, in alphabetical order: `foo 5`.
    pub(crate) cached: Vec<String>,
}

/// A door in a handler's call, which the test opens. Once it is dropped it stands open. On a
/// runtime of several threads: a call at the door blocks one of them.
pub(crate) struct Door {
    knocks: watch::Receiver<usize>,
    open: mpsc::Sender<()>,
}

// === impl Heard ===

impl Heard {
    /// An object that says that the story is over.
    pub(crate) const LAST: &str = "the-last";

    pub(crate) fn new(lister: Lister<ConfigMap>) -> Self {
        let calls = Arc::default();
        Self { calls, lister }
    }

    pub(crate) fn handler(&self) -> HandlerFuncs<ConfigMap> {
        let (add, update, resync, delete) =
            (self.clone(), self.clone(), self.clone(), self.clone());
        HandlerFuncs::new()
            .on_add(move |new: &Arc<ConfigMap>, initial| {
                let word = if initial { "initial" } else { "added" };
                add.note(format!("{word} {}", name(new)), add.shows(new));
            })
            .on_update(move |old, new| {
                let text = format!("updated {} to {}", name(old), number(new));
                update.note(text, update.shows(new));
            })
            .on_resync(move |object| {
                resync.note(format!("resynced {}", name(object)), resync.shows(object));
            })
            .on_delete(move |deleted| {
                let last = deleted.last_known();
                let now = delete.lister.get(&last.key());
                let is_gone = now.is_none_or(|now| !Arc::ptr_eq(&now, last));
                let (word, shown) = match deleted {
                    Deleted::Observed(_) => ("deleted", delete.shows(last)),
                    Deleted::FinalStateUnknown(_) => ("vanished", true),
                };
                delete.note(format!("{word} {}", name(last)), shown && is_gone);
            })
    }

    /// During each call the cache shows what the call tells, or something newer.
    fn shows(&self, object: &ConfigMap) -> bool {
        self.lister.caught_up(object.resource_version()) == CaughtUp::Yes
    }

    /// For handlers of the test's own.
    pub(crate) fn say(&self, text: String) {
        self.note(text, true);
    }

    /// A panic in a handler would be caught, so that what must not be is put into words.
    fn note(&self, mut text: String, shown: bool) {
        if !shown {
            text.push_str(", which the cache does not show");
        }
        let snapshot = self.lister.snapshot();
        let mut cached: Vec<_> = snapshot.iter().map(|it| name(it)).collect();
        cached.sort();
        let version = snapshot.resource_version().unwrap_or_default().to_owned();
        let call = Call {
            text,
            version,
            cached,
        };
        self.calls.send_modify(|calls| calls.push(call));
    }

    /// Waits for a call with this text.
    pub(crate) async fn until(&self, text: &str) {
        let mut calls = self.calls.subscribe();
        let heard = calls.wait_for(|calls| calls.iter().any(|call| call.text == text));
        heard.await.unwrap();
    }

    /// Waits for so many calls, and returns what was heard by then.
    pub(crate) async fn until_count(&self, count: usize) -> Vec<String> {
        let mut calls = self.calls.subscribe();
        let heard = calls.wait_for(|calls| calls.len() >= count);
        drop(heard.await.unwrap());
        self.texts()
    }

    /// Waits for the last object, and returns what was heard before it.
    pub(crate) async fn until_last(&self) -> Vec<String> {
        self.until(&format!("added {} 0", Self::LAST)).await;
        let mut all = self.texts();
        let end = all
            .iter()
            .position(|text| text.ends_with(&format!("{} 0", Self::LAST)));
        all.truncate(end.unwrap());
        all
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        let calls = self.calls.borrow();
        calls.iter().map(|call| call.text.clone()).collect()
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.borrow().clone()
    }

    /// Whether nobody else can note anything: its handlers are gone.
    pub(crate) fn is_over(&self) -> bool {
        Arc::strong_count(&self.calls) == 1
    }
}

// === impl Door ===

impl Door {
    /// With what the handler calls to go through.
    pub(crate) fn new() -> (Self, impl Fn() + Send + Sync + 'static) {
        let (knock, knocks) = watch::channel(0);
        let (open, opened) = mpsc::channel::<()>();
        let opened = Mutex::new(opened);
        let pass = move || {
            knock.send_modify(|knocks| *knocks += 1);
            // An error means that it stands open.
            let _ = opened.lock().recv();
        };
        (Self { knocks, open }, pass)
    }

    /// Waits until so many calls have come to the door.
    pub(crate) async fn knocked(&self, times: usize) {
        let mut knocks = self.knocks.clone();
        knocks.wait_for(|knocks| *knocks >= times).await.unwrap();
    }

    /// Lets one call through.
    pub(crate) fn open(&self) {
        self.open.send(()).unwrap();
    }
}

pub(crate) fn name(object: &ConfigMap) -> String {
    format!("{} {}", object.key().name(), number(object))
}

pub(crate) fn number(object: &ConfigMap) -> &str {
    let data = object.data.as_ref();
    data.and_then(|data| data.get("number"))
        .map_or("?", |number| number)
}

/// The same in alphabetical order, for what comes in none.
pub(crate) fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}
