use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{interval, timeout};

use crate::e2e::manifest;
use crate::e2e::world::{BOUND, World};

/// How long a policy may take to be in force.
const IN_FORCE: Duration = Duration::from_secs(30);

/// A ValidatingAdmissionPolicy says no to one Deployment. The others are raised, `once`
/// says which one failed and exits with 7.
pub(super) async fn by_a_policy(world: &mut World) -> Result<(), String> {
    world
        .cluster
        .apply(&manifest::opted_in("denied", 1))
        .await?;
    for object in policy() {
        world.cluster.apply(&object).await?;
    }
    in_force(world).await?;
    world.start_controller("controller-denied")?;
    let line = world
        .logged(0, "denied", "could not be raised from 1 to 2")
        .await?;
    if !line.text.contains("one replica is enough for it") {
        return Err(format!("the policy's own words are missing: {}", line.text));
    }
    world.sentinel("after-denied").await?;
    world.stop_controller().await?;

    let once = ["minrep", "reconcile", "once"];
    let output = world.cluster.output(&once, "").await?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(7) || !stderr.contains("1 failed") {
        return Err(format!("{}: {stderr}", output.status));
    }
    for object in [
        "validatingadmissionpolicybinding",
        "validatingadmissionpolicy",
    ] {
        let delete = ["delete", object, "minrep-e2e"];
        world.cluster.kubectl(&delete).await?;
    }
    world.delete(&["deployment/denied"]).await
}

/// One Pod is allowed: the Deployment wants two from then on, and nothing is written again.
pub(super) async fn by_a_quota(world: &mut World) -> Result<(), String> {
    let namespace = "tight";
    let create = ["create", "namespace", namespace];
    world.cluster.kubectl(&create).await?;
    let quota = ["create", "quota", "pods", "--hard=pods=1", "-n", namespace];
    world.cluster.kubectl(&quota).await?;
    let mut squeezed = manifest::opted_in("squeezed", 1);
    squeezed["metadata"]["namespace"] = json!(namespace);
    let apply = ["apply", "-f", "-"];
    world.cluster.output(&apply, &squeezed.to_string()).await?;
    // Each second it is looked at again, and must be found done each time.
    let flags = ["-n", namespace, "--resync=1s"];
    world.start_controller_with("controller-quota", &flags)?;
    world.logged(0, "squeezed", "scaled from 1 to 2").await?;
    let failing = [
        "wait",
        "deployment/squeezed",
        "-n",
        namespace,
        "--for=condition=ReplicaFailure",
        "--timeout=30s",
    ];
    world.cluster.kubectl(&failing).await?;
    for _ in 0..2 {
        let mark = world.mark()?;
        world.logged(mark, "squeezed", "already satisfies").await?;
    }
    let controller = world.take_controller()?;
    let log = controller.lines().texts();
    let status = controller.stop(BOUND).await;
    let status = status.map_err(|error| error.to_string())?;
    let get = ["get", "deploy", "squeezed", "-n", namespace, "-o", "json"];
    let text = world.cluster.kubectl(&get).await?;
    let object: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let delete = ["delete", "namespace", namespace];
    world.cluster.kubectl(&delete).await?;
    let raises = log
        .iter()
        .filter(|line| line.contains("squeezed scaled from"));
    if raises.count() != 1 || log.iter().any(|line| line.contains("could not be raised")) {
        return Err("it was written more than once".to_owned());
    }
    let found = (
        &object["spec"]["replicas"],
        &object["metadata"]["generation"],
    );
    if !status.success() || found != (&json!(2), &json!(2)) {
        let (replicas, generation) = found;
        return Err(format!(
            "{status}, and {replicas} replicas in generation {generation}"
        ));
    }
    Ok(())
}

fn policy() -> [Value; 2] {
    let api_version = "admissionregistration.k8s.io/v1";
    let metadata = json!({"name": "minrep-e2e"});
    [
        json!({
            "apiVersion": api_version,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [{
                    "apiGroups": ["apps"],
                    "apiVersions": ["v1"],
                    "operations": ["UPDATE"],
                    "resources": ["deployments/scale"],
                }]},
                "validations": [{
                    "expression": "request.name != 'denied'",
                    "message": "one replica is enough for it",
                }],
            },
        }),
        json!({
            "apiVersion": api_version,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": "minrep-e2e", "validationActions": ["Deny"]},
        }),
    ]
}

/// A policy is in force some time after it was stored.
async fn in_force(world: &World) -> Result<(), String> {
    let scale = [
        "scale",
        "deployment/denied",
        "--replicas=3",
        "--dry-run=server",
    ];
    let mut look = interval(Duration::from_millis(200));
    let wait = async {
        loop {
            look.tick().await;
            if !world.cluster.output(&scale, "").await?.status.success() {
                return Ok(());
            }
        }
    };
    let late = |_| Err("the policy is still not in force".to_owned());
    timeout(IN_FORCE, wait).await.unwrap_or_else(late)
}
