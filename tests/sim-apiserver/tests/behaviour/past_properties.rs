//! Whatever happened, each revision of the past is shown as it was, and can be restored.

use std::collections::BTreeMap;

use bytes::Bytes;
use faults::{Past, ServerFaults};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Value, json};
use sim_apiserver::{RestoreError, SimApiServer};
use tower::ServiceExt;

use crate::client::{DEPLOYMENTS, add_shop, deployment};

const PODS: &str = "/api/v1/namespaces/shop/pods";
const LISTS: [&str; 2] = [DEPLOYMENTS, PODS];
const RESOURCES: [&str; 2] = ["deployments", "pods"];
/// How many changes of a kind are kept: fewer than happen.
const HISTORY: usize = 12;

#[derive(Clone, Debug)]
enum Step {
    /// Creates or replaces.
    Put(usize, usize),
    Update(usize, usize),
    Remove(usize, usize),
    Jump(u64),
}

/// What lists showed at each revision, and which kind changed at it.
#[derive(Default)]
struct Diary {
    states: BTreeMap<u64, [Value; 2]>,
    changes: [Vec<u64>; 2],
}

fn step() -> impl Strategy<Value = Step> {
    let place = (0..2_usize, 0..4_usize);
    prop_oneof![
        3 => place.clone().prop_map(|(kind, name)| Step::Put(kind, name)),
        3 => place.clone().prop_map(|(kind, name)| Step::Update(kind, name)),
        3 => place.prop_map(|(kind, name)| Step::Remove(kind, name)),
        1 => (1..5_u64).prop_map(Step::Jump),
    ]
}

fn name(index: usize) -> String {
    format!("o-{index}")
}

fn take(server: &SimApiServer, step: &Step) {
    match *step {
        Step::Put(0, index) => {
            server.seed(deployment(&name(index), 1));
        }
        Step::Put(_, index) => {
            server.seed(json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name(index), "namespace": "shop"}}));
        }
        Step::Update(kind, index) => {
            let revision = server.revision();
            server.mutate(RESOURCES[kind], "shop", &name(index), |object| {
                object["spec"]["written"] = revision.into();
            });
        }
        Step::Remove(kind, index) => {
            server.remove(RESOURCES[kind], "shop", &name(index));
        }
        Step::Jump(by) => server.set_next_revision(server.revision() + by),
    }
}

async fn ask(server: &SimApiServer, path: &str, past: Option<u64>) -> (StatusCode, Value) {
    let mut request = Request::get(path).body(Full::<Bytes>::default()).unwrap();
    if let Some(revision) = past {
        request.extensions_mut().insert(ServerFaults {
            answer_from: Some(Past::Revision(revision)),
            restore: None,
        });
    }
    let (parts, body) = server
        .service()
        .oneshot(request)
        .await
        .unwrap()
        .into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status, serde_json::from_slice(&body).unwrap())
}

/// A list that any endpoint answers with what it has.
fn from_any_endpoint(list: &str) -> String {
    format!("{list}?resourceVersion=0")
}

/// The lists of both kinds.
async fn state(server: &SimApiServer) -> [Value; 2] {
    [
        ask(server, LISTS[0], None).await.1["items"].take(),
        ask(server, LISTS[1], None).await.1["items"].take(),
    ]
}

async fn pages(server: &SimApiServer, path: &str, past: u64) -> Value {
    let mut items = Vec::new();
    // With a limit the version is the very one that is shown.
    let mut place = format!("resourceVersion={past}");
    loop {
        let page = format!("{path}?limit=2&{place}");
        let (status, mut page) = ask(server, &page, Some(past)).await;
        assert_eq!(status, StatusCode::OK);
        items.append(page["items"].as_array_mut().unwrap());
        match page["metadata"]["continue"].as_str() {
            Some(next) => place = format!("continue={next}"),
            None => return items.into(),
        }
    }
}

impl Diary {
    async fn write(&mut self, server: &SimApiServer) {
        let now = server.revision();
        let state = state(server).await;
        if let Some((_, before)) = self.states.last_key_value() {
            for kind in 0..2 {
                if before[kind] != state[kind] {
                    self.changes[kind].push(now);
                }
            }
        }
        self.states.insert(now, state);
    }

    fn is_kept(&self, kind: usize, revision: u64) -> bool {
        let newer = self.changes[kind].iter().filter(|at| **at > revision);
        newer.count() <= HISTORY
    }

    fn forget_after(&mut self, revision: u64) {
        self.states.split_off(&(revision + 1));
        for changes in &mut self.changes {
            changes.retain(|at| *at <= revision);
        }
    }

    async fn check_all(&self, server: &SimApiServer) {
        for (revision, then) in &self.states {
            for kind in 0..2 {
                let (_, list) = ask(server, &from_any_endpoint(LISTS[kind]), Some(*revision)).await;
                assert_eq!(list["items"], then[kind], "{} at {revision}", LISTS[kind]);
                assert_eq!(list["metadata"]["resourceVersion"], revision.to_string());
                assert_eq!(pages(server, LISTS[kind], *revision).await, then[kind]);
                for index in 0..4 {
                    let path = format!("{}/{}", LISTS[kind], name(index));
                    let (_, got) = ask(server, &path, Some(*revision)).await;
                    let items = then[kind].as_array().unwrap();
                    let mut listed = items
                        .iter()
                        .filter(|item| item["metadata"]["name"] == name(index));
                    match listed.next() {
                        Some(item) => assert_eq!(got["metadata"], item["metadata"]),
                        None => assert_eq!(got["code"], 404),
                    }
                }
            }
        }
    }
}

async fn live(lives: &[(Vec<Step>, Index)]) {
    let server = SimApiServer::builder()
        .history(HISTORY)
        .start()
        .await
        .unwrap();
    add_shop(&server);
    let mut diary = Diary::default();
    diary.write(&server).await;
    // Changes are forgotten for good: what was not kept before a restore is not kept after it.
    let mut oldest = 0;
    for (steps, restored) in lives {
        for step in steps {
            let before = server.revision();
            take(&server, step);
            if server.revision() > before {
                diary.write(&server).await;
            }
            let lost = diary.states.keys().rev().copied();
            let lost = lost
                .filter(|at| (0..2).any(|kind| !diary.is_kept(kind, *at)))
                .max();
            oldest = oldest.max(lost.map_or(0, |lost| lost + 1));
        }
        diary.states = diary.states.split_off(&oldest);
        diary.check_all(&server).await;
        if oldest > 0 {
            let lists = LISTS.map(from_any_endpoint);
            let lists = lists
                .iter()
                .map(|path| ask(&server, path, Some(oldest - 1)));
            let answers = futures::future::join_all(lists).await;
            assert!(
                answers
                    .iter()
                    .any(|(status, _)| *status == StatusCode::GONE)
            );
        }

        let revisions: Vec<u64> = diary.states.keys().copied().collect();
        let revision = *restored.get(&revisions);
        server.restore(revision).unwrap();
        diary.forget_after(revision);
        assert_eq!(
            state(&server).await,
            diary.states[&revision],
            "restored to {revision}"
        );
        assert_eq!(server.revision(), revision);
        diary.check_all(&server).await;
        if oldest > 0 {
            let refused = server.restore(oldest - 1);
            assert!(
                matches!(refused, Err(RestoreError::TooOld { .. })),
                "{refused:?}"
            );
        }
    }
    server.shutdown().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_revision_is_shown_as_it_was_and_can_be_restored(
        lives in vec((vec(step(), 1..30), any::<Index>()), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(live(&lives));
    }
}
