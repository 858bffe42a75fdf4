//! The minimum of one Deployment: its annotation.

use controller_core::controllers::min_replicas::Settings;
use serde_json::json;

use crate::bed::Bed;

/// What comes of `web` (2) with this annotation.
async fn with_annotation(value: &str) -> (Bed, String, Option<String>) {
    let mut bed = Bed::start(Settings::default()).await;
    bed.seed("web", |object| {
        object["metadata"]["annotations"] = json!({"minrep.dev/min": value});
        object["spec"]["replicas"] = json!(2);
    });
    let verdict = bed.settle("web").await;
    let rejected = verdict.rejected_min.as_ref().map(ToString::to_string);
    (bed, verdict.to_string(), rejected)
}

#[tokio::test]
async fn an_annotation_raises_the_minimum() {
    let (bed, said, rejected) = with_annotation("5").await;
    assert_eq!(said, "scaled from 2 to 5");
    assert_eq!((bed.replicas("web"), rejected), (Some(5), None));
}

#[tokio::test]
async fn an_annotation_lowers_the_minimum_and_nothing_else() {
    let mut bed = Bed::start(Settings::default()).await;
    bed.seed("web", |object| {
        object["metadata"]["annotations"] = json!({"minrep.dev/min": "1"});
    });
    assert_eq!(
        bed.settle_web().await,
        "already satisfies the minimum of 1 (1 replica)"
    );
    assert!(bed.exchange().is_empty());
}

#[tokio::test]
async fn an_annotation_that_is_no_minimum_is_told_and_the_default_applies() {
    for value in ["", "-3", "101", "99999999999", "3.0", " 3", "three"] {
        let (bed, said, rejected) = with_annotation(value).await;
        assert_eq!(said, "already satisfies the minimum of 2 (2 replicas)");
        assert_eq!(
            rejected.unwrap(),
            format!(
                "annotation minrep.dev/min is {value:?}, which is no whole number from 1 to \
                 100: the minimum of 2 applies"
            )
        );
        assert!(bed.exchange().is_empty());
    }
}

/// Where the minimum was not asked for, its annotation is nobody's trouble.
#[tokio::test]
async fn a_deployment_that_is_left_alone_anyway_is_not_nagged_about() {
    let mut bed = Bed::start(Settings::default()).await;
    bed.seed("web", |object| {
        object["metadata"]["annotations"] = json!({"minrep.dev/min": "x"});
        object["metadata"]["labels"]["demo/min-replicas"] = json!("True");
    });
    assert_eq!(bed.settle("web").await.rejected_min, None);
}

/// The annotation that was there when the write was refused counts, not the one before.
#[tokio::test]
async fn a_minimum_that_changed_meanwhile_is_the_one_that_is_written() {
    let bed = Bed::with_web().await;
    bed.meanwhile(|object| {
        object["metadata"]["annotations"] = json!({"minrep.dev/min": "4"});
    });
    assert_eq!(bed.settle_web().await, "scaled from 1 to 4");
    assert_eq!(bed.replicas("web"), Some(4));
}
