//! The built-in entries: by group, and in the order of discovery within one.

use super::{AlsoServed, Kind, Printer, columns, conversions, defaults, reviews, validation};

const EMPTY_TEMPLATE: &str = r#""spec":{"replicas":0,"selector":null,"strategy":{},"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#;

/// What the `scale` subresource of every kind is.
pub(super) const SCALE: Kind = Kind {
    printer: columns::SCALE,
    ..Kind::new("autoscaling", "v1", "Scale", "scale")
};

pub(super) const KINDS: &[Kind] = &[
    Kind {
        short_names: &["cm"],
        generation: false,
        unconditional_update: true,
        checked_again: true,
        validate: validation::config_map,
        printer: columns::CONFIG_MAP,
        ..Kind::new("", "v1", "ConfigMap", "configmaps")
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
            ("source", "/source/component /reportingComponent"),
            ("type", "/type"),
        ],
        empty: r#""involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#,
        also: &[AlsoServed {
            group: "events.k8s.io",
            version: "v1",
            field_labels: &[
                ("regarding.kind", "/involvedObject/kind"),
                ("regarding.namespace", "/involvedObject/namespace"),
                ("regarding.name", "/involvedObject/name"),
                ("regarding.uid", "/involvedObject/uid"),
                ("regarding.apiVersion", "/involvedObject/apiVersion"),
                (
                    "regarding.resourceVersion",
                    "/involvedObject/resourceVersion",
                ),
                ("regarding.fieldPath", "/involvedObject/fieldPath"),
                ("reason", "/reason"),
                ("reportingController", "/reportingComponent"),
                ("type", "/type"),
            ],
            from_stored: conversions::event_from_stored,
            to_stored: conversions::event_to_stored,
            validate: validation::new_event,
        }],
        default: defaults::event,
        validate: validation::event,
        printer: columns::EVENT,
        ..Kind::new("", "v1", "Event", "events")
    },
    Kind {
        singular: Some("namespace"),
        short_names: &["ns"],
        generation: false,
        unconditional_update: true,
        field_labels: &[("status.phase", "/status/phase")],
        server_set: &["spec.finalizers"],
        checked_again: true,
        empty: r#""spec":{},"status":{}"#,
        default: defaults::namespace,
        printer: columns::NAMESPACE,
        ..Kind::new("", "v1", "Namespace", "namespaces")
            .cluster_scoped()
            .with_status()
    },
    Kind {
        short_names: &["no"],
        generation: false,
        unconditional_update: true,
        created_with_status: true,
        field_labels: &[("spec.unschedulable", "/spec/unschedulable")],
        empty: r#""spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}"#,
        default: defaults::node,
        printer: columns::NODE,
        ..Kind::new("", "v1", "Node", "nodes")
            .cluster_scoped()
            .with_status()
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
        returns_deleted: true,
        server_set: &[
            "spec.preemptionPolicy",
            "spec.priority",
            "spec.serviceAccount",
            "spec.serviceAccountName",
            "spec.tolerations",
        ],
        condition_times: &["lastProbeTime", "lastTransitionTime"],
        default: defaults::pod,
        default_status: defaults::pod_status,
        checked_again: true,
        validate: validation::pod,
        printer: columns::POD,
        ..Kind::new("", "v1", "Pod", "pods").with_status()
    },
    Kind {
        generation: false,
        unconditional_update: true,
        field_labels: &[("type", "/type")],
        default: defaults::secret,
        checked_again: true,
        validate: validation::secret,
        printer: columns::SECRET,
        ..Kind::new("", "v1", "Secret", "secrets")
    },
    Kind {
        short_names: &["sa"],
        generation: false,
        unconditional_update: true,
        returns_deleted: true,
        checked_again: true,
        printer: Printer::NAME_AND_AGE,
        ..Kind::new("", "v1", "ServiceAccount", "serviceaccounts")
    },
    Kind {
        short_names: &["svc"],
        categories: &["all"],
        generation: false,
        unconditional_update: true,
        field_labels: &[
            ("spec.clusterIP", "/spec/clusterIP"),
            ("spec.type", "/spec/type"),
        ],
        empty: r#""spec":{},"status":{"loadBalancer":{}}"#,
        returns_deleted: true,
        server_set: &[
            "spec.clusterIP",
            "spec.clusterIPs",
            "spec.ipFamilies",
            "spec.ipFamilyPolicy",
        ],
        default: defaults::service,
        validate: validation::service,
        printer: columns::SERVICE,
        ..Kind::new("", "v1", "Service", "services").with_status()
    },
    Kind {
        short_names: &["ds"],
        categories: &["all"],
        unconditional_update: true,
        empty: r#""spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}"#,
        condition_times: &["lastTransitionTime"],
        default: defaults::daemon_set,
        validate: validation::daemon_set,
        printer: columns::DAEMON_SET,
        ..Kind::new("apps", "v1", "DaemonSet", "daemonsets").with_status()
    },
    Kind {
        short_names: &["deploy"],
        categories: &["all"],
        unconditional_update: true,
        empty: EMPTY_TEMPLATE,
        condition_times: &["lastTransitionTime", "lastUpdateTime"],
        default: defaults::deployment,
        validate: validation::deployment,
        validate_status: validation::deployment_status,
        printer: columns::DEPLOYMENT,
        ..Kind::new("apps", "v1", "Deployment", "deployments")
            .with_status()
            .with_scale()
    },
    Kind {
        short_names: &["rs"],
        categories: &["all"],
        unconditional_update: true,
        empty: r#""spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}"#,
        condition_times: &["lastTransitionTime"],
        default: defaults::replica_set,
        validate: validation::replica_set,
        validate_status: validation::replica_set_status,
        printer: columns::REPLICA_SET,
        ..Kind::new("apps", "v1", "ReplicaSet", "replicasets")
            .with_status()
            .with_scale()
    },
    Kind {
        short_names: &["sts"],
        categories: &["all"],
        unconditional_update: true,
        empty: r#""spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}"#,
        condition_times: &["lastTransitionTime"],
        default: defaults::stateful_set,
        validate: validation::stateful_set,
        printer: columns::STATEFUL_SET,
        ..Kind::new("apps", "v1", "StatefulSet", "statefulsets")
            .with_status()
            .with_scale()
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
            field_labels: &[],
            from_stored: conversions::autoscaler_from_stored,
            to_stored: conversions::autoscaler_to_stored,
            validate: |_, _| Vec::new(),
        }],
        condition_times: &["lastTransitionTime"],
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
    Kind {
        short_names: &["cj"],
        categories: &["all"],
        unconditional_update: true,
        empty: r#""spec":{"schedule":"","jobTemplate":{"metadata":{},"spec":{"template":{"metadata":{},"spec":{"containers":null}}}}},"status":{}"#,
        default: defaults::cron_job,
        validate: validation::cron_job,
        printer: columns::CRON_JOB,
        ..Kind::new("batch", "v1", "CronJob", "cronjobs").with_status()
    },
    Kind {
        categories: &["all"],
        unconditional_update: true,
        field_labels: &[("status.successful", "/status/succeeded")],
        empty: r#""spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#,
        server_set: &["metadata.labels", "spec.selector", "spec.template.metadata"],
        condition_times: &["lastProbeTime", "lastTransitionTime"],
        default: defaults::job,
        validate: validation::job,
        printer: columns::JOB,
        ..Kind::new("batch", "v1", "Job", "jobs").with_status()
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
        short_names: &["pdb"],
        empty: r#""spec":{},"status":{"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,"expectedPods":0}"#,
        default: defaults::disruption_budget,
        validate: validation::disruption_budget,
        printer: columns::DISRUPTION_BUDGET,
        ..Kind::new(
            "policy",
            "v1",
            "PodDisruptionBudget",
            "poddisruptionbudgets",
        )
        .with_status()
    },
    Kind {
        generation: false,
        review: Some(reviews::subject),
        ..Kind::new(
            "authentication.k8s.io",
            "v1",
            "SelfSubjectReview",
            "selfsubjectreviews",
        )
        .cluster_scoped()
    },
    Kind {
        generation: false,
        review: Some(reviews::access),
        validate: reviews::check_access,
        ..Kind::new(
            "authorization.k8s.io",
            "v1",
            "SelfSubjectAccessReview",
            "selfsubjectaccessreviews",
        )
        .cluster_scoped()
    },
    Kind {
        generation: false,
        review: Some(reviews::rules),
        ..Kind::new(
            "authorization.k8s.io",
            "v1",
            "SelfSubjectRulesReview",
            "selfsubjectrulesreviews",
        )
        .cluster_scoped()
    },
];
