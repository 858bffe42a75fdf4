use serde::Serialize;

use super::guarded::{Guard, guarded_patch};
use crate::client::{Call, Target};
use crate::controllers::min_replicas::{Deployment, Raise};

/// The scale subresource as the server answers it. A number of 0 is left out there.
#[derive(Debug, Default, serde::Deserialize)]
pub(super) struct Scale {
    spec: Option<ScaleSpec>,
}

#[derive(Debug, Default, serde::Deserialize)]
struct ScaleSpec {
    replicas: Option<i32>,
}

/// The merge patch, in the order in which it is written.
#[derive(Serialize)]
struct Patch<'a> {
    metadata: Guard<'a>,
    spec: PatchSpec,
}

#[derive(Serialize)]
struct PatchSpec {
    replicas: i32,
}

/// The request that raises the Deployment itself.
///
/// A patch of `deployments/scale`, never of the Deployment: whoever may only scale may
/// do this, and a webhook that cannot digest it is reported, not gone around.
pub(super) fn patch(raise: &Raise, dry_run: bool) -> Call {
    let path = format!("{}/scale", Deployment::RESOURCE.object_path(&raise.key));
    let target = Target {
        resource: format!("{}/scale", Deployment::RESOURCE),
        namespace: raise.key.namespace().map(str::to_owned),
        name: Some(raise.key.name().to_owned()),
    };
    let body = Patch {
        metadata: Guard::of(raise),
        spec: PatchSpec { replicas: raise.to },
    };
    guarded_patch(path, target, &body, dry_run)
}

// === impl Scale ===

impl Scale {
    pub(super) fn replicas(&self) -> i32 {
        self.spec
            .as_ref()
            .and_then(|spec| spec.replicas)
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ObjectKey;
    use crate::controllers::min_replicas::Through;

    fn raise() -> Raise {
        Raise {
            key: ObjectKey::namespaced("shop", "web"),
            uid: "uid-web".into(),
            resource_version: "101".into(),
            from: 1,
            to: 2,
            through: Through::Scale,
        }
    }

    #[test]
    fn a_patch_names_the_object_that_was_looked_at() {
        let call = patch(&raise(), false);
        insta::assert_snapshot!(
            std::str::from_utf8(&call.body).unwrap(),
            @r#"{"metadata":{"uid":"uid-web","resourceVersion":"101"},"spec":{"replicas":2}}"#
        );
        insta::assert_snapshot!(
            format!("{} {}", call.method, call.path_and_query),
            @"PATCH /apis/apps/v1/namespaces/shop/deployments/web/scale?fieldManager=minrep"
        );
        insta::assert_snapshot!(
            format!("{} {}", call.verb, call.target),
            @r#"patch deployments.apps/scale "web" in namespace shop"#
        );
        assert_eq!(call.content_type, Some("application/merge-patch+json"));
    }

    #[test]
    fn a_dry_run_says_so_to_the_server() {
        insta::assert_snapshot!(
            patch(&raise(), true).path_and_query,
            @"/apis/apps/v1/namespaces/shop/deployments/web/scale?fieldManager=minrep&dryRun=All"
        );
    }

    #[test]
    fn an_absent_number_in_an_answer_is_zero() {
        for (answer, kept) in [
            (r#"{"spec":{"replicas":2}}"#, 2),
            (r#"{"spec":{}}"#, 0),
            (r#"{"spec":null}"#, 0),
            ("{}", 0),
        ] {
            let scale: Scale = serde_json::from_str(answer).unwrap();
            assert_eq!(scale.replicas(), kept, "{answer}");
        }
    }
}
