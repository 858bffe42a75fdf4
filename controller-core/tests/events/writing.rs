//! What an event looks like in the server, and how a series grows there.

use controller_core::client::{ObjectKey, ResourceType};
use controller_core::write::events::{Event, EventSource, ObjectReference, SpamLimit};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

use crate::bed::{Bed, minutes, raised, web};

#[tokio::test(start_paused = true)]
async fn an_event_has_all_that_the_api_asks_for() {
    let mut bed = Bed::new().await;
    let pod = ObjectReference {
        name: "web-7x2".into(),
        ..ObjectReference::default()
    };
    bed.record(raised("scaled from 1 to 2").related(pod), 1)
        .await;
    bed.stop().await;
    let events = bed.events();
    let [event] = events.as_slice() else {
        panic!("{events:?}");
    };
    let name = event["metadata"]["name"].as_str().unwrap();
    let nanoseconds = name.strip_prefix("web.").unwrap();
    assert!(
        i64::from_str_radix(nanoseconds, 16).unwrap() > 1 << 60,
        "{name}"
    );
    let time = event["eventTime"].as_str().unwrap();
    assert_eq!(time.len(), "2026-01-01T00:00:00.000000Z".len(), "{time}");
    // The server stores it in the words of the core group.
    assert_eq!(event["metadata"]["namespace"], "shop");
    assert_eq!(event["message"], "scaled from 1 to 2");
    assert_eq!(event["type"], "Normal");
    assert_eq!(event["reason"], "Raised");
    assert_eq!(event["action"], "Scale");
    assert_eq!(event["reportingComponent"], "minrep.dev/min-replicas");
    assert_eq!(event["reportingInstance"], "pod-1");
    assert_eq!(event["related"]["name"], "web-7x2");
    assert_eq!(
        event["involvedObject"],
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop",
               "name": "web", "uid": "uid-web"})
    );
    let query = &bed.server.requests()[0].info.query;
    assert_eq!(query.as_slice(), [("fieldManager".into(), "minrep".into())]);
}

/// EV-26, EV-27: two at once are one event with a count, also when the second comes while
/// the first is being written.
#[tokio::test(start_paused = true)]
async fn a_repeat_is_the_same_event_with_a_count() {
    let mut bed = Bed::new().await;
    bed.record(raised("first"), 1).await;
    bed.record(raised("second"), 2).await;
    bed.recorder.record(raised("third"));
    let counts = bed.stop().await;
    assert_eq!(bed.exchange(), ["POST 201", "PATCH 200", "PATCH 200"]);
    let events = bed.events();
    assert_eq!(
        (events.len(), &events[0]["series"]["count"]),
        (1, &json!(3))
    );
    assert_eq!(events[0]["message"], "first");
    assert_eq!((counts.written, counts.requests), (3, 3));
}

/// BX-24: the object changes between two events about it, which is what usually happens. In
/// client-go's `tools/events` that is the end of the series.
#[tokio::test(start_paused = true)]
async fn a_series_goes_on_when_the_object_changes() {
    const PODS: ResourceType = ResourceType::namespaced("", "v1", "pods", "Pod");
    let mut bed = Bed::new().await;
    for (resource_version, requests) in [("7", 1), ("8", 2), ("9", 2)] {
        let mut pod = Pod::default();
        pod.metadata.namespace = Some("shop".into());
        pod.metadata.name = Some("web-7x2".into());
        pod.metadata.uid = Some("uid".into());
        pod.metadata.resource_version = Some(resource_version.into());
        let regarding = ObjectReference::of(&PODS, &pod);
        bed.record(
            Event::warning(regarding, "BackOff", "Restart", "crash"),
            requests,
        )
        .await;
    }
    bed.stop().await;
    let events = bed.events();
    assert_eq!(
        (events.len(), &events[0]["series"]["count"]),
        (1, &json!(3))
    );
    assert_eq!(events[0]["involvedObject"].get("resourceVersion"), None);
}

/// EV-11.
#[tokio::test(start_paused = true)]
async fn an_object_without_a_namespace_has_its_events_in_default() {
    const NODES: ResourceType = ResourceType::cluster("", "v1", "nodes", "Node");
    let mut bed = Bed::new().await;
    let node = ObjectReference::new(&NODES, &ObjectKey::cluster("node-1"), "uid");
    bed.record(Event::normal(node, "Drained", "Drain", "done"), 1)
        .await;
    bed.stop().await;
    assert_eq!(bed.events()[0]["metadata"]["namespace"], "default");
    assert_eq!(bed.events()[0]["involvedObject"].get("namespace"), None);
}

/// EV-25: the names of some kinds are no names of events.
#[tokio::test(start_paused = true)]
async fn an_object_with_a_name_that_no_event_may_have() {
    let mut bed = Bed::new().await;
    let role = ObjectReference {
        name: "system:Node Proxier".into(),
        ..web()
    };
    bed.record(Event::normal(role, "Bound", "Bind", "bound"), 1)
        .await;
    bed.stop().await;
    let name = bed.events()[0]["metadata"]["name"].clone();
    assert_eq!(name.as_str().unwrap().split('-').count(), 5, "{name}");
    assert_eq!(
        bed.events()[0]["involvedObject"]["name"],
        "system:Node Proxier"
    );
}

/// EV-28: half an hour of a series: its first repeat at once, then its count, then its end.
#[tokio::test(start_paused = true)]
async fn a_series_costs_a_request_each_half_hour() {
    let mut bed = Bed::new().await;
    for _ in 0..40 {
        bed.recorder.record(raised("again"));
        bed.pass(minutes(1)).await;
    }
    assert_eq!(bed.exchange(), ["POST 201", "PATCH 200", "PATCH 200"]);
    let refreshed = bed.events()[0]["series"]["count"].as_u64().unwrap();
    assert!((30..=31).contains(&refreshed), "{refreshed}");
    bed.pass(minutes(15)).await;
    assert_eq!(bed.events()[0]["series"]["count"], 40);
    // It has ended: the next one is another event.
    bed.record(raised("later"), 5).await;
    assert_eq!(bed.exchange()[4], "POST 201");
    bed.stop().await;
    assert_eq!(bed.events().len(), 2);
}

/// Two controllers in one program are two sources.
#[tokio::test(start_paused = true)]
async fn recorders_of_one_writer_have_sources_of_their_own() {
    let mut bed = Bed::idle().await;
    let other = EventSource::new("minrep.dev/version-label", "pod-1").unwrap();
    let other = bed.writer().as_ref().unwrap().recorder(other);
    bed.run();
    bed.recorder.record(raised("one"));
    other.record(raised("one"));
    bed.asked(2).await;
    bed.stop().await;
    let mut sources: Vec<String> = bed
        .events()
        .iter()
        .map(|it| it["reportingComponent"].to_string())
        .collect();
    sources.sort();
    assert_eq!(
        sources,
        [
            "\"minrep.dev/min-replicas\"",
            "\"minrep.dev/version-label\""
        ]
    );
    assert_eq!(other.counts().recorded, 2);
}

/// The filter that an embedder chose.
#[tokio::test(start_paused = true)]
async fn a_spam_limit_is_what_was_set() {
    let mut bed = Bed::idle().await;
    let limit = SpamLimit {
        burst: 2,
        ..SpamLimit::default()
    };
    let writer = bed.writer().take().unwrap().spam_limit(limit);
    *bed.writer() = Some(writer);
    bed.run();
    for reason in ["A", "B", "C"] {
        bed.recorder
            .record(Event::normal(web(), reason, "Test", ""));
    }
    let counts = bed.stop().await;
    assert_eq!((counts.written, counts.dropped_total()), (2, 1));
}
