use serde::Serialize;

use super::guarded::{Guard, guarded_patch};
use crate::client::{Call, ObjectKey, Target};
use crate::controllers::min_replicas::{HorizontalPodAutoscaler, Raise};

/// The merge patch, in the order in which it is written.
#[derive(Serialize)]
struct Patch<'a> {
    metadata: Guard<'a>,
    spec: PatchSpec,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PatchSpec {
    min_replicas: i32,
}

/// The request that raises the `minReplicas` of this autoscaler of the Deployment.
pub(super) fn patch(raise: &Raise, autoscaler: &str, dry_run: bool) -> Call {
    let namespace = raise.key.namespace().unwrap_or_default();
    let key = ObjectKey::namespaced(namespace, autoscaler);
    let target = Target {
        resource: HorizontalPodAutoscaler::RESOURCE.to_string(),
        namespace: Some(namespace.to_owned()),
        name: Some(autoscaler.to_owned()),
    };
    let body = Patch {
        metadata: Guard::of(raise),
        spec: PatchSpec {
            min_replicas: raise.to,
        },
    };
    let path = HorizontalPodAutoscaler::RESOURCE.object_path(&key);
    guarded_patch(path, target, &body, dry_run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::min_replicas::Through;

    #[test]
    fn a_patch_names_the_autoscaler_that_was_looked_at() {
        let raise = Raise {
            key: ObjectKey::namespaced("shop", "web"),
            uid: "uid-web".into(),
            resource_version: "101".into(),
            from: 1,
            to: 2,
            through: Through::Autoscaler {
                name: "web-hpa".into(),
                uid: "uid-hpa".into(),
                resource_version: "7".into(),
            },
        };
        let call = patch(&raise, "web-hpa", true);
        insta::assert_snapshot!(
            std::str::from_utf8(&call.body).unwrap(),
            @r#"{"metadata":{"uid":"uid-hpa","resourceVersion":"7"},"spec":{"minReplicas":2}}"#
        );
        insta::assert_snapshot!(
            format!("{} {}", call.method, call.path_and_query),
            @"PATCH /apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web-hpa?fieldManager=minrep&dryRun=All"
        );
        insta::assert_snapshot!(
            format!("{} {}", call.verb, call.target),
            @r#"patch horizontalpodautoscalers.autoscaling "web-hpa" in namespace shop"#
        );
        assert_eq!(call.content_type, Some("application/merge-patch+json"));
    }
}
