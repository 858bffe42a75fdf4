//! What is fed to an informer, and what its handlers hear, as words.
use std::sync::mpsc;

use kube::client::Body;

use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::super::*;
use crate::client::Scope;
use crate::handler::HandlerFuncs;
use crate::store::Deleted;
use crate::watch::testing::Widget;
use crate::watch::{EventSink, WatchEvent, WatchOptions};

const WIDGETS: ResourceType = ResourceType::namespaced("example.com", "v1", "widgets", "Widget");

/// An informer whose watch is the test itself: its own never gets an answer.
pub(super) struct Scene {
    pub(super) informer: SharedInformer<Widget>,
    sink: Sink<Widget>,
    run: JoinSet<()>,
    shutdown: CancellationToken,
}

/// What a handler heard, in order.
#[derive(Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<String>>>);

pub(super) fn options() -> InformerOptions<Widget> {
    InformerOptions::new(WatchOptions::new(Scope::All))
}

impl Scene {
    /// One that runs.
    pub(super) fn new() -> Self {
        Self::with(options())
    }

    pub(super) fn with(options: InformerOptions<Widget>) -> Self {
        let mut scene = Self::idle(options);
        scene.start();
        scene
    }

    /// One that does not run yet.
    pub(super) fn idle(options: InformerOptions<Widget>) -> Self {
        let never = tower::service_fn(|_: http::Request<Body>| {
            std::future::pending::<Result<http::Response<Body>, std::io::Error>>()
        });
        let informer = SharedInformer::new(kube::Client::new(never, "default"), WIDGETS, options);
        let sink = Sink(Arc::clone(&informer.inner.distributor));
        Self {
            informer,
            sink,
            run: JoinSet::new(),
            shutdown: CancellationToken::new(),
        }
    }

    /// Runs it, again if need be.
    pub(super) fn start(&mut self) {
        self.shutdown = CancellationToken::new();
        let (informer, shutdown) = (self.informer.clone(), self.shutdown.clone());
        self.run.spawn(async move { informer.run(shutdown).await });
    }

    /// Stops it and waits for all of its tasks.
    pub(super) async fn stop(&mut self) {
        self.shutdown.cancel();
        while let Some(ended) = self.run.join_next().await {
            ended.unwrap();
        }
    }

    /// How many handlers there are, and how many of them have a task.
    pub(super) fn handlers(&self) -> (usize, usize) {
        let slots = self.informer.inner.distributor.slots();
        let read = slots.iter().filter(|slot| slot.is_read()).count();
        (slots.len(), read)
    }

    /// A list that brings these.
    pub(super) fn list(&mut self, version: &str, objects: impl IntoIterator<Item = Widget>) {
        self.tell(WatchEvent::ListStarted { fresh: false });
        for object in objects {
            self.tell(WatchEvent::Listed(object));
        }
        self.tell(WatchEvent::ListDone {
            resource_version: version.to_owned(),
            restored: false,
        });
    }

    pub(super) fn add(&mut self, name: &str, version: &str) {
        self.tell(WatchEvent::Added(w(name, version)));
    }

    pub(super) fn modify(&mut self, name: &str, version: &str) {
        self.tell(WatchEvent::Modified(w(name, version)));
    }

    pub(super) fn delete(&mut self, name: &str, version: &str) {
        self.tell(WatchEvent::Deleted(w(name, version)));
    }

    pub(super) fn tell(&mut self, event: WatchEvent<Widget>) {
        self.sink.accept(event);
    }
}

impl Heard {
    pub(super) fn handler(&self) -> HandlerFuncs<Widget> {
        let (add, update, resync, delete) =
            (self.clone(), self.clone(), self.clone(), self.clone());
        HandlerFuncs::new()
            .on_add(move |new: &Arc<Widget>, initial| {
                add.note(if initial { "initial" } else { "added" }, new);
            })
            .on_update(move |_, new| update.note("updated", new))
            .on_resync(move |object| resync.note("resynced", object))
            .on_delete(move |deleted| match deleted {
                Deleted::Observed(last) => delete.note("deleted", last),
                Deleted::FinalStateUnknown(stone) => delete.note("vanished", &stone.last_known),
            })
    }

    pub(super) fn note(&self, word: &str, object: &Widget) {
        let name = object.key();
        self.say(format!(
            "{word} {}@{}",
            name.name(),
            object.resource_version()
        ));
    }

    pub(super) fn say(&self, text: String) {
        self.0.lock().push(text);
    }

    /// Lets the handlers' tasks run until there is nothing to do, then returns all.
    pub(super) async fn all(&self) -> Vec<String> {
        settle().await;
        self.now()
    }

    /// Whether nobody else can say anything here: its handlers are gone.
    pub(super) fn is_over(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// What has been heard so far.
    pub(super) fn now(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

/// A door in a handler's call, which the test opens.
pub(super) struct Door {
    /// Blocks for each call that has come to the door and gone through it.
    pub(super) knocked: mpsc::Receiver<()>,
    open: mpsc::Sender<()>,
}

impl Door {
    /// With what the handler calls to go through.
    pub(super) fn new() -> (Self, impl Fn() + Send + Sync + 'static) {
        let (knock, knocked) = mpsc::channel();
        let (open, opened) = mpsc::channel::<()>();
        let opened = Mutex::new(opened);
        let pass = move || {
            knock.send(()).unwrap();
            opened.lock().recv().unwrap();
        };
        (Self { knocked, open }, pass)
    }

    /// Waits until a call has come to the door. On a runtime of several threads.
    pub(super) fn wait(&self) {
        tokio::task::block_in_place(|| self.knocked.recv().unwrap());
    }

    /// Lets one call through.
    pub(super) fn open(&self) {
        self.open.send(()).unwrap();
    }
}

/// One round of every ready task of this thread is enough for a handler to hear of
/// everything that is in its mailbox; a few more cost nothing.
pub(super) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// A widget.
pub(super) fn w(name: &str, version: &str) -> Widget {
    Widget::new(name, version)
}
