use bytes::Bytes;
use http::Method;
use k8s_openapi::api::events::v1;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};

use super::plan::{Recorded, Repeats, Write, WriteKind};
use crate::client::{Call, ObjectKey, ResourceType, Retried, Scope, Target, Verb};

/// Where events are written. The core group serves the same objects, but is lax about them.
pub(super) const EVENTS: ResourceType =
    ResourceType::namespaced("events.k8s.io", "v1", "events", "Event");

/// Where the events of objects without a namespace go, `metav1.NamespaceDefault`.
const DEFAULT_NAMESPACE: &str = "default";

/// What is looked at of an answer: that it is the event, and not some proxy's page.
#[derive(serde::Deserialize)]
pub(super) struct Stored {
    metadata: StoredMetadata,
}

#[derive(serde::Deserialize)]
struct StoredMetadata {
    name: String,
}

#[derive(serde::Serialize)]
struct Patch {
    series: v1::EventSeries,
}

/// The request that carries out `write`.
///
/// The patch has no precondition: nobody else writes our events, and a count that is sent
/// twice is the same count.
pub(super) fn call(write: &Write, field_manager: &str) -> Call {
    let recorded = write.key.recorded();
    let namespace = recorded.event.regarding().namespace.as_deref();
    let namespace = namespace.unwrap_or(DEFAULT_NAMESPACE);
    let key = ObjectKey::namespaced(namespace, &write.name);
    let (verb, method, path, content_type, body) = match write.kind {
        WriteKind::Create {
            event_time,
            repeats,
        } => {
            let mut object = object(recorded, repeats);
            object.metadata = ObjectMeta {
                name: Some(write.name.clone()),
                namespace: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            };
            object.event_time = Some(MicroTime(event_time));
            (
                Verb::Create,
                Method::POST,
                EVENTS.path(&Scope::Namespace(namespace.to_owned())),
                "application/json",
                serde_json::to_vec(&object),
            )
        }
        WriteKind::Patch(repeats) => (
            Verb::Patch,
            Method::PATCH,
            EVENTS.object_path(&key),
            "application/merge-patch+json",
            serde_json::to_vec(&Patch {
                series: series(repeats),
            }),
        ),
    };
    let call = Call {
        verb,
        method,
        path_and_query: path,
        target: Target {
            resource: EVENTS.to_string(),
            namespace: Some(namespace.to_owned()),
            name: Some(write.name.clone()),
        },
        content_type: Some(content_type),
        accept: "application/json",
        body: Bytes::from(body.expect("invariant: strings, numbers and times are always JSON")),
        stop_retrying: None,
        retried: Retried::ByClient,
    };
    call.with_query([("fieldManager", field_manager)])
}

fn object(recorded: &Recorded, repeats: Option<Repeats>) -> v1::Event {
    let Recorded { event, source } = recorded;
    v1::Event {
        type_: Some(event.event_type().as_str().to_owned()),
        reason: Some(event.reason().to_owned()),
        action: Some(event.action().to_owned()),
        note: Some(event.note().to_owned()),
        regarding: Some(event.regarding().into()),
        related: event.related_object().map(Into::into),
        reporting_controller: Some(source.controller().to_owned()),
        reporting_instance: Some(source.instance().to_owned()),
        series: repeats.map(series),
        ..v1::Event::default()
    }
}

fn series(repeats: Repeats) -> v1::EventSeries {
    v1::EventSeries {
        count: repeats.count,
        last_observed_time: MicroTime(repeats.last_observed),
    }
}

// === impl Stored ===

impl Stored {
    pub(super) fn name(&self) -> &str {
        &self.metadata.name
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::jiff::Timestamp;

    use super::*;
    use crate::write::events::plan::SeriesKey;
    use crate::write::events::{Event, EventSource, ObjectReference};

    const TIME: Timestamp = Timestamp::UNIX_EPOCH;

    fn write(namespace: Option<&str>, kind: WriteKind) -> Write {
        let web = ObjectReference {
            api_version: "apps/v1".into(),
            kind: "Deployment".into(),
            namespace: namespace.map(str::to_owned),
            name: "web".into(),
            uid: "uid-web".into(),
            field_path: None,
        };
        let pod = ObjectReference {
            name: "web-7x2".into(),
            field_path: Some("spec.containers{c}".into()),
            ..ObjectReference::default()
        };
        let event = Event::normal(web, "Raised", "Scale", "scaled from 1 to 2").related(pod);
        let source = EventSource::new("minrep.dev/min-replicas", "pod-1").unwrap();
        Write {
            key: SeriesKey::new(event, Arc::new(source)),
            name: "web.17a".into(),
            kind,
        }
    }

    fn create(repeats: Option<Repeats>) -> WriteKind {
        WriteKind::Create {
            event_time: TIME,
            repeats,
        }
    }

    fn told(call: &Call) -> String {
        let body = std::str::from_utf8(&call.body).unwrap();
        format!("{} {}\n{body}", call.method, call.path_and_query)
    }

    #[test]
    fn an_event_is_made_with_everything_that_the_server_asks_for() {
        let call = call(&write(Some("shop"), create(None)), "minrep");
        insta::assert_snapshot!(
            told(&call),
            @r#"
        POST /apis/events.k8s.io/v1/namespaces/shop/events?fieldManager=minrep
        {"apiVersion":"events.k8s.io/v1","kind":"Event","action":"Scale","eventTime":"1970-01-01T00:00:00.000000Z","metadata":{"name":"web.17a","namespace":"shop"},"note":"scaled from 1 to 2","reason":"Raised","regarding":{"apiVersion":"apps/v1","kind":"Deployment","name":"web","namespace":"shop","uid":"uid-web"},"related":{"apiVersion":"","fieldPath":"spec.containers{c}","kind":"","name":"web-7x2","uid":""},"reportingController":"minrep.dev/min-replicas","reportingInstance":"pod-1","type":"Normal"}
        "#
        );
        insta::assert_snapshot!(
            format!("{} {}", call.verb, call.target),
            @r#"create events.events.k8s.io "web.17a" in namespace shop"#
        );
    }

    /// EV-08: there is no resourceVersion in it, ever.
    #[test]
    fn an_event_that_vanished_is_made_anew_with_its_count() {
        let repeats = Repeats {
            count: 7,
            last_observed: Timestamp::from_microsecond(1_500_000).unwrap(),
        };
        let call = call(&write(Some("shop"), create(Some(repeats))), "minrep");
        let body: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
        insta::assert_snapshot!(
            body["series"],
            @r#"{"count":7,"lastObservedTime":"1970-01-01T00:00:01.500000Z"}"#
        );
        assert_eq!(body["metadata"].get("resourceVersion"), None);
        assert_eq!(body["regarding"].get("resourceVersion"), None);
    }

    #[test]
    fn a_patch_holds_nothing_but_the_series() {
        let repeats = Repeats {
            count: 2,
            last_observed: TIME,
        };
        let call = call(&write(Some("shop"), WriteKind::Patch(repeats)), "a b");
        insta::assert_snapshot!(
            told(&call),
            @r#"
        PATCH /apis/events.k8s.io/v1/namespaces/shop/events/web.17a?fieldManager=a+b
        {"series":{"count":2,"lastObservedTime":"1970-01-01T00:00:00.000000Z"}}
        "#
        );
    }

    /// EV-11.
    #[test]
    fn an_object_without_a_namespace_has_its_events_in_default() {
        let call = call(&write(None, create(None)), "minrep");
        let body: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
        assert_eq!(body["metadata"]["namespace"], "default");
        assert_eq!(body["regarding"].get("namespace"), None);
        assert!(call.path_and_query.contains("/namespaces/default/"));
    }
}
