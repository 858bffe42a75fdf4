//! The built-in entries.

use super::{AlsoServed, Kind, columns, conversions, defaults, validation};

const EMPTY_TEMPLATE: &str = r#""spec":{"replicas":0,"selector":null,"strategy":{},"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#;

pub(super) const KINDS: &[Kind] = &[
    Kind {
        singular: Some("namespace"),
        short_names: &["ns"],
        generation: false,
        unconditional_update: true,
        field_labels: &[("status.phase", "/status/phase")],
        empty: r#""spec":{},"status":{}"#,
        default: defaults::namespace,
        printer: columns::NAMESPACE,
        ..Kind::new("", "v1", "Namespace", "namespaces")
            .cluster_scoped()
            .with_status()
    },
    Kind {
        short_names: &["deploy"],
        categories: &["all"],
        unconditional_update: true,
        empty: EMPTY_TEMPLATE,
        default: defaults::deployment,
        validate: validation::deployment,
        printer: columns::DEPLOYMENT,
        ..Kind::new("apps", "v1", "Deployment", "deployments")
            .with_status()
            .with_scale()
    },
    Kind {
        short_names: &["rs"],
        categories: &["all"],
        unconditional_update: true,
        field_labels: &[("status.replicas", "/status/replicas")],
        empty: r#""spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}"#,
        default: defaults::replica_set,
        validate: validation::replica_set,
        printer: columns::REPLICA_SET,
        ..Kind::new("apps", "v1", "ReplicaSet", "replicasets")
            .with_status()
            .with_scale()
    },
    Kind {
        short_names: &["po"],
        categories: &["all"],
        unconditional_update: true,
        field_labels: &[
            ("spec.nodeName", "/spec/nodeName"),
            ("spec.restartPolicy", "/spec/restartPolicy"),
            ("status.phase", "/status/phase"),
            ("status.podIP", "/status/podIP"),
        ],
        empty: r#""spec":{"containers":null},"status":{}"#,
        default: defaults::pod,
        validate: validation::pod,
        printer: columns::POD,
        ..Kind::new("", "v1", "Pod", "pods").with_status()
    },
    Kind {
        short_names: &["ev"],
        generation: false,
        unconditional_update: true,
        create_on_update: true,
        field_labels: &[
            ("involvedObject.kind", "/involvedObject/kind"),
            ("involvedObject.namespace", "/involvedObject/namespace"),
            ("involvedObject.name", "/involvedObject/name"),
            ("involvedObject.uid", "/involvedObject/uid"),
            ("involvedObject.apiVersion", "/involvedObject/apiVersion"),
            (
                "involvedObject.resourceVersion",
                "/involvedObject/resourceVersion",
            ),
            ("involvedObject.fieldPath", "/involvedObject/fieldPath"),
            ("reason", "/reason"),
            ("reportingComponent", "/reportingComponent"),
            ("source", "/source/component"),
            ("type", "/type"),
            // The names of events.k8s.io.
            ("regarding.kind", "/involvedObject/kind"),
            ("regarding.namespace", "/involvedObject/namespace"),
            ("regarding.name", "/involvedObject/name"),
            ("regarding.uid", "/involvedObject/uid"),
            ("reportingController", "/reportingComponent"),
        ],
        empty: r#""involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#,
        also: &[AlsoServed {
            group: "events.k8s.io",
            version: "v1",
            from_stored: conversions::event_from_stored,
            to_stored: conversions::event_to_stored,
        }],
        default: defaults::event,
        printer: columns::EVENT,
        ..Kind::new("", "v1", "Event", "events")
    },
    Kind {
        generation: false,
        create_on_update: true,
        empty: r#""spec":{}"#,
        validate: validation::lease,
        printer: columns::LEASE,
        ..Kind::new("coordination.k8s.io", "v1", "Lease", "leases")
    },
    Kind {
        short_names: &["hpa"],
        categories: &["all"],
        generation: false,
        unconditional_update: true,
        empty: r#""spec":{"scaleTargetRef":{"kind":"","name":""},"maxReplicas":0},"status":{"currentMetrics":null,"desiredReplicas":0}"#,
        also: &[AlsoServed {
            group: "autoscaling",
            version: "v1",
            from_stored: conversions::autoscaler_from_stored,
            to_stored: conversions::autoscaler_to_stored,
        }],
        default: defaults::autoscaler,
        validate: validation::autoscaler,
        printer: columns::AUTOSCALER,
        ..Kind::new(
            "autoscaling",
            "v2",
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
        )
        .with_status()
    },
];
