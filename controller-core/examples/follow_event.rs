//! Follows one change from the socket to the patch, and prints every stage that it passes.
//!
//! ```text
//! cargo run -p controller-core --example follow_event
//! cargo run -p controller-core --example follow_event -- --kubeconfig ~/.kube/config
//! ```
//!
//! Without arguments it runs by itself, on a simulated server where somebody scales a
//! Deployment down. With a kubeconfig it follows what happens to the Deployments of that
//! cluster that are labelled `demo/min-replicas=true`, until Ctrl-C, as a server-side dry run:
//! it writes nothing.
//!
//! The stages are wired by hand here, so that each can be seen. In a program a
//! `SharedInformer` joins the first ones: see the example `informer`.
#![expect(clippy::print_stdout, reason = "an example is for who runs it")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use controller_core::client::{ClientOptions, Loader, ObjectKey, Scope, build, layered};
use controller_core::controllers::min_replicas::{
    Caches, Deployment, DryRun, Effect, HpaPolicy, MinReplicas, Raise, Reporter, Settings, Verdict,
    WriteError, WriteScale,
};
use controller_core::handler::{Band, Enqueue, EnqueueHandler, EventHandler};
use controller_core::queue::WorkQueue;
use controller_core::store::{Delta, cache};
use controller_core::watch::{
    LabelSelector, Object, Reflector, Streaming, WatchEvent, WatchOptions,
};
use controller_core::worker::{Outcome, ReconcileError, Reconciler, WorkerPool};
use controller_core::write::ScaleWriter;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::json;
use sim_apiserver::{Recorded, SimApiServer};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What has been said, stage and sentence, by all that take part.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<watch::Sender<Vec<(&'static str, String)>>>);

/// The queue, with a word for each key that enters it.
struct ToldQueue(WorkQueue<ObjectKey>, Told);

/// The controller, with a word for each call.
struct ToldCalls(MinReplicas<ToldWrites>, Told);

/// The writer, with a word for each write that a plan asks for.
struct ToldWrites(ScaleWriter, Told);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let told = Told::default();
    let printing = print(told.clone());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let following = async {
        match &arguments[..] {
            [] => demonstrate(told.clone()).await.map(drop),
            [option, path] if option == "--kubeconfig" => follow_cluster(path.into(), told).await,
            _ => Err("usage: follow_event [--kubeconfig PATH]".into()),
        }
    };
    tokio::select! {
        ended = following => ended,
        never = printing => never,
    }
}

/// One change on a simulated server. Returns the requests that wrote something.
pub(crate) async fn demonstrate(told: Told) -> Result<Vec<Recorded>, Box<dyn Error>> {
    let server = SimApiServer::builder().start().await?;
    server.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
    server.seed(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop",
                     "labels": {"demo/min-replicas": "true"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
                 "template": {"metadata": {"labels": {"app": "web"}},
                              "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    }));
    let client = layered(server.service(), &ClientOptions::new("follow-event/1.0"));
    let stop = CancellationToken::new();
    let script = async {
        told.until("already satisfies", 1).await;
        told.say("somebody", "scales shop/web from 3 to 1".to_owned());
        server.mutate("deployments", "shop", "web", |web| {
            web["spec"]["replicas"] = json!(1);
        });
        // Our own write is a change like any other: it comes back, and is found to be enough.
        told.until("already satisfies", 2).await;
        stop.cancel();
    };
    let following = follow(client, DryRun::None, told.clone(), stop.clone());
    let (followed, ()) = tokio::join!(following, script);
    followed?;
    let writes = server.requests_where(|it| it.method != Method::GET);
    server.shutdown().await;
    Ok(writes)
}

/// Whatever happens on a real cluster.
async fn follow_cluster(kubeconfig: PathBuf, told: Told) -> Result<(), Box<dyn Error>> {
    let loader = Loader {
        kubeconfig: Some(kubeconfig),
        ..Loader::new()
    };
    let client = build(&loader.load()?, &ClientOptions::new("follow-event/1.0"))?;
    let stop = CancellationToken::new();
    let following = follow(client, DryRun::Server, told, stop.clone());
    let (followed, interrupted) = tokio::join!(following, async {
        let interrupted = tokio::signal::ctrl_c().await;
        stop.cancel();
        interrupted
    });
    interrupted?;
    followed
}

/// The stages, each behind the one before it, until `stop`.
async fn follow(
    client: kube::Client,
    dry_run: DryRun,
    told: Told,
    stop: CancellationToken,
) -> Result<(), Box<dyn Error>> {
    // 0: HTTP.
    let client = told_client(client, told.clone());

    // 1: what the server says, as events. One list, page by page, so that it is seen.
    let opted_in = LabelSelector::exists("demo/min-replicas")?;
    let options = WatchOptions::new(Scope::All)
        .labels(Some(opted_in))
        .streaming(Streaming::Never);
    let reflector = Reflector::new(client.clone(), Deployment::RESOURCE, options);

    // 2: what they change in a cache.
    let (mut cache_writer, lister) = cache::<Deployment>(Vec::new());

    // 3 and 4: which keys want a look, and the line that they stand in.
    let queue = WorkQueue::new("follow-event");
    let said = told.clone();
    let handler = EnqueueHandler::new(
        Arc::new(ToldQueue(queue.clone(), told.clone())),
        move |delta: &Delta<Deployment>| {
            said.say("handler", format!("{} wants a look", delta.key()));
            vec![delta.key()]
        },
    );

    // 5 to 7: a call for each key, a plan, a write.
    let caches = Caches {
        deployments: lister,
        autoscalers: None,
        scaled_objects: None,
        namespaces: None,
    };
    let settings = Settings {
        hpa: HpaPolicy::Ignore,
        dry_run,
        ..Settings::default()
    };
    let writes = ToldWrites(ScaleWriter::new(client.clone()), told.clone());
    let reporter: Arc<dyn Reporter> = Arc::new(told.clone());
    let controller = MinReplicas::new(caches, client, settings, writes, reporter)?;
    let calls = Arc::new(ToldCalls(controller, told.clone()));
    let workers = WorkerPool::new(queue.clone(), calls, 1);

    let sink = |event: WatchEvent<Deployment>| {
        told.say("watch", describe(&event));
        for delta in cache_writer.apply(event) {
            told.say("store", describe_delta(&delta));
            deliver(&handler, &delta);
        }
    };
    tokio::join!(reflector.run(sink, stop.clone()), workers.run(), async {
        stop.cancelled().await;
        let deadline = Instant::now() + Duration::from_secs(5);
        queue.shut_down_with_drain(deadline).await;
    });
    Ok(())
}

/// `client`, with a word for each request and for each piece of an answer to a watch.
fn told_client(client: kube::Client, told: Told) -> kube::Client {
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, told) = (client.clone(), told.clone());
        async move {
            let line = format!("{} {}", request.method(), request.uri().path());
            let writes = request.method() != Method::GET;
            let watches = request
                .uri()
                .query()
                .is_some_and(|it| it.contains("watch=true"));
            let stage = if writes { "write" } else { "client" };
            told.say(
                stage,
                if watches {
                    format!("{line} (watch)")
                } else {
                    line
                },
            );
            let response: Response<Body> = client.send(request).await?;
            Ok::<_, kube::Error>(response.map(|body| {
                body.map_frame(move |frame| {
                    if let Some(bytes) = frame.data_ref().filter(|_| watches) {
                        let length = Bytes::len(bytes);
                        told.say("client", format!("{length} bytes of the watch"));
                    }
                    frame
                })
            }))
        }
    });
    kube::Client::new(service, "default")
}

fn describe(event: &WatchEvent<Deployment>) -> String {
    let named = |word: &str, it: &Deployment| {
        let (key, version, replicas) = (it.key(), it.resource_version(), it.replicas());
        format!("{word} {key} at version {version}, {replicas} replicas")
    };
    match event {
        WatchEvent::ListStarted { .. } => "a list begins".to_owned(),
        WatchEvent::Listed(it) => named("listed", it),
        WatchEvent::ListDone {
            resource_version, ..
        } => format!("the list is complete, at version {resource_version}"),
        WatchEvent::Added(it) => named("ADDED", it),
        WatchEvent::Modified(it) => named("MODIFIED", it),
        WatchEvent::Deleted(it) => named("DELETED", it),
        WatchEvent::Bookmark { resource_version } => format!("BOOKMARK at {resource_version}"),
        WatchEvent::Unreadable(it) => format!("something unreadable: {}", it.error),
    }
}

fn describe_delta(delta: &Delta<Deployment>) -> String {
    let key = delta.key();
    match delta {
        Delta::Added { new, initial } => {
            let when = if *initial { "was there" } else { "is new" };
            format!("{key} {when}, with {} replicas", new.replicas())
        }
        Delta::Updated { old, new } => {
            format!(
                "{key} went from {} to {} replicas",
                old.replicas(),
                new.replicas()
            )
        }
        Delta::Resynced { .. } => format!("{key} is as it was"),
        Delta::Deleted(_) => format!("{key} is gone"),
    }
}

/// What an informer does for each of its handlers.
fn deliver(handler: &impl EventHandler<Deployment>, delta: &Delta<Deployment>) {
    match delta {
        Delta::Added { new, initial } => handler.on_add(new, *initial),
        Delta::Updated { old, new } => handler.on_update(old, new),
        Delta::Resynced { object } => handler.on_resync(object),
        Delta::Deleted(deleted) => handler.on_delete(deleted),
    }
}

/// Prints what is said, as it is said.
async fn print(told: Told) -> Result<(), Box<dyn Error>> {
    let (mut said, mut printed) = (told.0.subscribe(), 0);
    loop {
        let new: Vec<_> = said.borrow_and_update()[printed..].to_vec();
        printed += new.len();
        for (stage, text) in new {
            println!("{stage:>8}  {text}");
        }
        said.changed().await?;
    }
}

// === impl Told ===

impl Told {
    fn say(&self, stage: &'static str, text: String) {
        self.0.send_modify(|said| said.push((stage, text)));
    }

    /// Waits until `text` has been said so often.
    async fn until(&self, text: &str, times: usize) {
        let mut said = self.0.subscribe();
        let enough = said.wait_for(|said| {
            let these = said.iter().filter(|(_, it)| it.contains(text));
            these.count() >= times
        });
        // The sender is ours.
        let _ = enough.await;
    }

    /// All of it, in order.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the test of this example"))]
    pub(crate) fn all(&self) -> Vec<(&'static str, String)> {
        self.0.borrow().clone()
    }
}

impl Reporter for Told {
    fn report(&self, verdict: &Verdict) {
        // A plan that asks for a write has been told when it did.
        let stage = match verdict.effect {
            Effect::None => "plan",
            _ => "write",
        };
        self.say(stage, format!("{} {verdict}", verdict.key));
    }
}

// === impl ToldQueue ===

impl Enqueue<ObjectKey> for ToldQueue {
    fn enqueue(&self, key: ObjectKey, band: Band) {
        self.1.say("queue", format!("{key} is in line, {band:?}"));
        self.0.enqueue(key, band);
    }
}

// === impl ToldCalls ===

impl Reconciler for ToldCalls {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Outcome, ReconcileError> {
        self.1.say("worker", format!("looks at {key}"));
        self.0.reconcile(key).await
    }
}

// === impl ToldWrites ===

impl WriteScale for ToldWrites {
    async fn write_scale(&self, raise: &Raise, dry_run: bool) -> Result<i32, WriteError> {
        let Raise { key, from, to, .. } = raise;
        let (_, version) = raise.guard();
        let text = format!("raise {key} from {from} to {to}, if it is still at {version}");
        self.1.say("plan", text);
        self.0.write_scale(raise, dry_run).await
    }
}
