use std::io;
use std::time::Duration;

use bytes::Bytes;
use controller_core::client::{ClientOptions, ResourceType, Scope, layered};
use controller_core::controllers::min_replicas::Deployment;
use controller_core::handler::HandlerFuncs;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::watch::{Reflector, Streaming, WatchEvent, WatchOptions};
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use serde_json::{Value, json};
use sim_apiserver::many_deployments;
use tokio::runtime::Builder;
use tokio::sync::mpsc::channel;
use tokio_util::sync::CancellationToken;

use crate::{MEMORY, NOISE, alone};

const OBJECTS: u32 = 10_000;
/// Of each object, in its JSON.
const BYTES: usize = 4 << 10;

/// Of each object at the peak: what the cache keeps, twice in part while it is put there, and
/// the news of it.
const PEAK: usize = 500;
/// Beside them: buffers of one frame and one item, and the client.
const FIXED: usize = 1 << 20;

type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// Made piece by piece, as it is read; then it stays open.
fn answer(pieces: impl Iterator<Item = Bytes> + Send + 'static, ends: bool) -> Answer {
    let pieces = stream::iter(pieces).map(|piece| Ok(Frame::data(piece)));
    let rest = if ends {
        stream::empty().boxed()
    } else {
        stream::pending().boxed()
    };
    Response::builder()
        .header("content-type", "application/json")
        .body(StreamBody::new(pieces.chain(rest)).boxed_unsync())
        .unwrap()
}

fn by_itself(test: impl Future<Output = ()>) {
    let _alone = alone();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}

fn deployments() -> impl Iterator<Item = Value> + Send {
    many_deployments(0..OBJECTS)
        .enumerate()
        .map(|(number, mut object)| {
            let metadata = &mut object["metadata"];
            metadata["uid"] = format!("0a1b2c3d-4e5f-6071-8293-{number:012}").into();
            metadata["resourceVersion"] = (1_000_000 + number).to_string().into();
            metadata["annotations"] = json!({"text": "x".repeat(BYTES)});
            object
        })
}

fn one_list() -> impl Iterator<Item = Bytes> + Send {
    let start = r#"{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"2000000"},"items":["#;
    let items = deployments()
        .enumerate()
        .map(|(number, object)| match number {
            0 => object.to_string(),
            _ => format!(",{object}"),
        });
    let all = [start.to_owned()].into_iter().chain(items);
    all.chain(["]}".to_owned()]).map(Bytes::from)
}

fn streamed_list() -> impl Iterator<Item = Bytes> + Send {
    let line = |kind: &str, object: Value| format!("{}\n", json!({"type": kind, "object": object}));
    let end = json!({"kind": "Deployment", "apiVersion": "apps/v1",
                     "metadata": {"resourceVersion": "2000000",
                                  "annotations": {"k8s.io/initial-events-end": "true"}}});
    let items = deployments().map(move |object| line("ADDED", object));
    items.chain([line("BOOKMARK", end)]).map(Bytes::from)
}

/// BX-28, kube-rs 41: 40 MB of JSON, of which neither a page nor the list is ever there as a
/// whole, from the body to a handler.
#[test]
fn a_list_of_40_mb_peaks_at_what_the_cache_keeps() {
    for streaming in [Streaming::Never, Streaming::Auto] {
        let server = tower::service_fn(|request: Request<Body>| async move {
            let query = request.uri().query().unwrap_or_default();
            let answer = match (
                query.contains("watch="),
                query.contains("sendInitialEvents"),
            ) {
                (false, _) => answer(one_list(), true),
                (true, true) => answer(streamed_list(), false),
                (true, false) => answer(std::iter::empty(), false),
            };
            Ok::<_, io::Error>(answer)
        });
        let client = || layered(server, &ClientOptions::new("allocations/1.0"));
        let options = WatchOptions::new(Scope::All).streaming(streaming);
        let listing = async move {
            let before = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
            let options = InformerOptions::new(options);
            let informer =
                SharedInformer::<Deployment>::new(client(), Deployment::RESOURCE, options);
            let handler = informer.add_handler(HandlerFuncs::new());
            let stop = CancellationToken::new();
            tokio::join!(informer.run(stop.clone()), async {
                assert!(handler.synced().await);
                stop.cancel();
            });
            let objects = informer.lister().len();
            assert_eq!(objects, OBJECTS as usize);
            let peak = MEMORY.peak_usage() - before;
            println!(
                "{streaming:?}: {} bytes an object at the peak",
                peak / objects
            );
            assert!(peak < objects * PEAK + FIXED, "{streaming:?}: {peak} bytes");
        };
        by_itself(listing);
    }
}

/// C-25: a line of 1.4 MB in pieces of a thousand bytes takes a few times that while it is read,
/// and nothing once it was.
#[test]
fn a_large_line_leaves_nothing_behind() {
    const MAPS: ResourceType = ResourceType::namespaced("", "v1", "configmaps", "ConfigMap");
    let object = |name: &str, version: &str, text: String| {
        json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"text": text},
               "metadata": {"name": name, "namespace": "shop", "uid": name,
                            "resourceVersion": version}})
    };
    let big = object("big", "11", "あ".repeat(450_000));
    let web = object("web", "12", String::new());
    let text = [big, web].map(|it| format!("{}\n", json!({"type": "MODIFIED", "object": it})));
    let text = Bytes::from(text.concat());
    let list = json!({"kind": "ConfigMapList", "apiVersion": "v1",
                      "metadata": {"resourceVersion": "10"}, "items": []});
    let server = tower::service_fn(move |request: Request<Body>| {
        let query = request.uri().query().unwrap_or_default();
        let answer = if query.contains("watch=") {
            let text = text.clone();
            let pieces = (0..text.len()).step_by(1000);
            let piece = move |at: usize| text.slice(at..text.len().min(at + 1000));
            answer(pieces.map(piece), false)
        } else {
            answer([Bytes::from(list.to_string())].into_iter(), true)
        };
        async move { Ok::<_, io::Error>(answer) }
    });
    let options = WatchOptions::new(Scope::All).streaming(Streaming::Never);
    by_itself(async move {
        let client = layered(server, &ClientOptions::new("allocations/1.0"));
        let reflector = Reflector::<ConfigMap>::new(client, MAPS, options);
        let (read, mut reads) = channel(3);
        let sink = move |event: WatchEvent<ConfigMap>| match event {
            WatchEvent::ListDone { .. } => {
                MEMORY.reset_peak_usage();
                let _ = read.try_send(MEMORY.current_usage());
            }
            WatchEvent::Modified(_) => {
                let _ = read.try_send(MEMORY.peak_usage());
            }
            _ => {}
        };
        let stop = CancellationToken::new();
        tokio::join!(reflector.run(sink, stop.clone()), async {
            let before = reads.recv().await.unwrap();
            let big = reads.recv().await.unwrap() - before;
            assert!(big > 1_350_000, "{big} bytes: it was there");
            assert!(big < 10 << 20, "{big} bytes while it was read");
            let _web = reads.recv().await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            let after = MEMORY.current_usage();
            // A buffer of the usual size may stay.
            assert!(after < before + (512 << 10) + NOISE, "{after}, {before}");
            stop.cancel();
        });
    });
}
