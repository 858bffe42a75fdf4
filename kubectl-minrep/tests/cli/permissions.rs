//! What `skip` and `raise-min` need to know of autoscalers, and may not.

use insta::assert_snapshot;
use sim_apiserver::faults::{Action, Rule};
use sim_apiserver::{Kind, SimApiServer};

use crate::cluster::Cluster;

const SCALED_OBJECT: Kind = Kind::new("keda.sh", "v1alpha1", "ScaledObject", "scaledobjects");

const ONCE: [&str; 4] = ["reconcile", "once", "-n", "shop"];

/// Neither command goes on blindly, and the rule that is missing can be pasted.
#[tokio::test]
async fn scaled_objects_that_cannot_be_read_stop_both_commands() {
    let cluster = Cluster::start(SimApiServer::builder().kind(SCALED_OBJECT)).await;
    cluster.deployment("shop", "web", 1);
    let refuse = Action::status(403).reason("Forbidden").message(
        "scaledobjects.keda.sh is forbidden: User \"ana\" cannot list resource \
         \"scaledobjects\" in API group \"keda.sh\" in the namespace \"shop\"",
    );
    cluster
        .server
        .faults()
        .add(Rule::new(refuse).resource("scaledobjects"));
    let ended = cluster.minrep(&ONCE).end().await.with_code(5);
    assert_snapshot!(ended.talk(), @r#"
    Error from server (Forbidden): scaledobjects.keda.sh is forbidden: User "ana" cannot list resource "scaledobjects" in API group "keda.sh" in the namespace "shop"

    missing: list scaledobjects.keda.sh in namespace shop   (needed by `reconcile once`)
    hint: a cluster admin can grant it with
            kubectl create role minrep-scaledobjects -n shop --verb=list,watch --resource=scaledobjects.keda.sh
            kubectl create rolebinding minrep-scaledobjects -n shop --role=minrep-scaledobjects --user=ana
    hint: or with this rule in a Role
            - apiGroups: ["keda.sh"]
              resources: ["scaledobjects"]
              verbs: ["list", "watch"]
    hint: `--hpa=ignore` does without, and may fight with an autoscaler for ever
    "#);
    let command = ["run", "-n", "shop", "--hpa=raise-min"];
    cluster.minrep(&command).end().await.with_code(5);
    assert_eq!(cluster.writes().len(), 0);
    let ignore = [&ONCE[..], &["--hpa=ignore"]].concat();
    cluster.minrep(&ignore).end().await.with_code(0);
    assert_eq!(cluster.replicas("shop", "web"), 2);
}

/// `raise-min` needs one verb more.
#[tokio::test]
async fn the_missing_rule_of_raise_min_has_patch_in_it() {
    let cluster = Cluster::with_web().await;
    let refuse = Action::status(403).reason("Forbidden").message(
        "horizontalpodautoscalers.autoscaling is forbidden: User \"ana\" cannot list resource \
         \"horizontalpodautoscalers\" in API group \"autoscaling\" in the namespace \"shop\"",
    );
    cluster
        .server
        .faults()
        .add(Rule::new(refuse).resource("horizontalpodautoscalers"));
    for (policy, verbs) in [
        ("--hpa=skip", r#"verbs: ["list", "watch"]"#),
        ("--hpa=raise-min", r#"verbs: ["list", "watch", "patch"]"#),
    ] {
        for command in [
            &["run", "-n", "shop", policy][..],
            &[&ONCE[..], &[policy]].concat(),
        ] {
            let ended = cluster.minrep(command).end().await.with_code(5);
            assert!(ended.stderr.contains(verbs), "{ended:?}");
        }
    }
    assert_eq!(cluster.writes().len(), 0);
}

/// A laptop that may not even ask what there is: the path is what is to be allowed.
#[tokio::test]
async fn a_discovery_that_is_refused_names_its_path() {
    let cluster = Cluster::with_web().await;
    let list = Action::status(403).reason("Forbidden").message("no");
    cluster
        .server
        .faults()
        .add(Rule::new(list).resource("scaledobjects"));
    let document = Action::status(403)
        .reason("Forbidden")
        .message("forbidden: User \"ana\" cannot get path \"/apis\"");
    cluster
        .server
        .faults()
        .add(Rule::new(document).path("/apis"));
    let ended = cluster.minrep(&ONCE).end().await.with_code(5);
    assert_snapshot!(ended.talk(), @r#"
    Error from server (Forbidden): forbidden: User "ana" cannot get path "/apis"

    missing: get /apis at cluster scope   (needed by `reconcile once`)
    hint: a cluster admin can grant it with
            kubectl create clusterrole minrep --verb=get --non-resource-url=/apis
            kubectl create clusterrolebinding minrep --clusterrole=minrep --user=ana
    hint: or with this rule in a ClusterRole
            - nonResourceURLs: ["/apis"]
              verbs: ["get"]
    hint: `--hpa=ignore` does without, and may fight with an autoscaler for ever
    "#);
}
