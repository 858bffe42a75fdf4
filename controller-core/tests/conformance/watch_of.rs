use std::sync::Arc;

use controller_core::informer::{InformerOptions, Registration, SharedInformer};
use controller_core::watch::{Object, Reflector, ReflectorStatus, State, WatchEvent, WatchOptions};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::heard::{Heard, value};
use crate::server::{CONFIG_MAPS, Server};

/// A shared informer that runs, with one handler.
pub(crate) struct Informed {
    pub(crate) informer: SharedInformer<ConfigMap>,
    pub(crate) heard: Heard,
    pub(crate) registration: Registration,
    run: Running,
}

/// A reflector that runs.
pub(crate) struct Reflected {
    pub(crate) status: watch::Receiver<ReflectorStatus>,
    events: Arc<watch::Sender<Vec<String>>>,
    run: Running,
}

/// A run, and how to end it.
struct Running {
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

// === impl Informed ===

impl Informed {
    pub(crate) fn start(server: &Server, options: WatchOptions) -> Self {
        Self::start_with(server, InformerOptions::new(options))
    }

    pub(crate) fn start_with(server: &Server, options: InformerOptions<ConfigMap>) -> Self {
        let informer = SharedInformer::new(server.client(), CONFIG_MAPS, options);
        let heard = Heard::default();
        let registration = informer.add_handler(heard.handler());
        let runs = informer.clone();
        let run = Running::start(move |stop| async move { runs.run(stop).await });
        Self {
            informer,
            heard,
            registration,
            run,
        }
    }

    /// Waits until the cache holds exactly these, by name, with these values.
    pub(crate) async fn holds(&self, objects: &[(&str, &str)]) {
        // The cache is changed before its handlers hear of it.
        let wanted = objects.iter();
        let wanted: Vec<_> = wanted
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .collect();
        self.heard.until_notes(|_| self.cached() == wanted).await;
    }

    /// What the cache holds, by name.
    pub(crate) fn cached(&self) -> Vec<(String, String)> {
        let objects = self.informer.lister().list();
        let pair = |it: &Arc<ConfigMap>| (it.key().name().to_owned(), value(it));
        let mut pairs: Vec<_> = objects.iter().map(pair).collect();
        pairs.sort();
        pairs
    }

    /// Waits until the status is like that.
    pub(crate) async fn status_until(
        &self,
        enough: impl Fn(&ReflectorStatus) -> bool,
    ) -> ReflectorStatus {
        status_until(self.informer.status(), enough).await
    }

    /// Waits until a watch is open.
    pub(crate) async fn watching(&self) -> ReflectorStatus {
        self.status_until(|now| matches!(now.state, State::Watching))
            .await
    }

    pub(crate) async fn stop(self) {
        self.run.stop().await;
    }
}

// === impl Reflected ===

impl Reflected {
    pub(crate) fn start(server: &Server, options: WatchOptions) -> Self {
        let events = Arc::new(watch::Sender::new(Vec::new()));
        let noted = Arc::clone(&events);
        let reflector = Reflector::<ConfigMap>::new(server.client(), CONFIG_MAPS, options);
        let status = reflector.status();
        let sink = move |event: WatchEvent<ConfigMap>| {
            noted.send_modify(|events| events.push(words(&event)));
        };
        let run = Running::start(move |stop| reflector.run(sink, stop));
        Self {
            status,
            events,
            run,
        }
    }

    /// What it told so far, like `list`, `listed a@7`, `done 9`, `modified a@10`, `bookmark 12`.
    pub(crate) fn events(&self) -> Vec<String> {
        self.events.borrow().clone()
    }

    /// Waits until it has told that, and tells everything so far.
    pub(crate) async fn until_event(&self, event: &str) -> Vec<String> {
        let mut events = self.events.subscribe();
        let heard = |events: &Vec<String>| events.iter().any(|it| it == event);
        events.wait_for(heard).await.unwrap().clone()
    }

    /// Waits until so many lists are complete, and tells their versions.
    pub(crate) async fn until_lists(&self, count: usize) -> Vec<String> {
        let mut events = self.events.subscribe();
        let enough = events.wait_for(|events| versions(events).count() >= count);
        versions(&enough.await.unwrap()).collect()
    }

    /// Waits until the status is like that.
    pub(crate) async fn status_until(
        &self,
        enough: impl Fn(&ReflectorStatus) -> bool,
    ) -> ReflectorStatus {
        status_until(self.status.clone(), enough).await
    }

    pub(crate) async fn stop(self) {
        self.run.stop().await;
    }
}

// === impl Running ===

impl Running {
    fn start<R: Future<Output = ()> + Send + 'static>(
        run: impl FnOnce(CancellationToken) -> R,
    ) -> Self {
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(run(stop.clone()));
        Self { stop, tasks }
    }

    /// Also that the run ends when it is told to.
    async fn stop(self) {
        self.stop.cancel();
        self.tasks.join_all().await;
    }
}

async fn status_until(
    mut status: watch::Receiver<ReflectorStatus>,
    enough: impl Fn(&ReflectorStatus) -> bool,
) -> ReflectorStatus {
    status.wait_for(|now| enough(now)).await.unwrap().clone()
}

fn versions(events: &[String]) -> impl Iterator<Item = String> {
    let done = events
        .iter()
        .filter_map(|event| event.strip_prefix("done "));
    done.map(ToOwned::to_owned)
}

fn words(event: &WatchEvent<ConfigMap>) -> String {
    let name =
        |object: &ConfigMap| format!("{}@{}", object.key().name(), object.resource_version());
    match event {
        WatchEvent::ListStarted { fresh: false } => "list".to_owned(),
        WatchEvent::ListStarted { fresh: true } => "fresh list".to_owned(),
        WatchEvent::Listed(object) => format!("listed {}", name(object)),
        WatchEvent::ListDone {
            resource_version,
            restored,
        } => {
            let restored = if *restored { ", restored" } else { "" };
            format!("done {resource_version}{restored}")
        }
        WatchEvent::Added(object) => format!("added {}", name(object)),
        WatchEvent::Modified(object) => format!("modified {}", name(object)),
        WatchEvent::Deleted(object) => format!("deleted {}", name(object)),
        WatchEvent::Bookmark { resource_version } => format!("bookmark {resource_version}"),
        WatchEvent::Unreadable(unreadable) => match &unreadable.key {
            Some(key) => format!("unreadable {}", key.name()),
            None => "unreadable".to_owned(),
        },
    }
}
