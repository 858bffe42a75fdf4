//! The server as kube's client sees it.

use std::collections::BTreeMap;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Namespace};
use kube::{
    Api, Client as KubeClient, Config,
    api::{ListParams, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;
use sim_apiserver::{SimApiServer, Tls};

use crate::client::{add_shop, deployment, shop};

async fn raise(client: KubeClient) {
    let deployments: Api<Deployment> = Api::namespaced(client, "shop");
    let created: Deployment = serde_json::from_value(deployment("web", 1)).unwrap();
    let created = deployments
        .create(&PostParams::default(), &created)
        .await
        .unwrap();
    let (uid, revision) = (
        created.metadata.uid.clone(),
        created.metadata.resource_version.clone(),
    );

    let patch =
        json!({"metadata": {"uid": uid, "resourceVersion": revision}, "spec": {"replicas": 2}});
    let params = PatchParams {
        field_manager: Some("minrep".to_owned()),
        ..PatchParams::default()
    };
    let scale = deployments
        .patch_scale("web", &params, &Patch::Merge(&patch))
        .await
        .unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(2));

    let stale = deployments
        .patch_scale("web", &params, &Patch::Merge(&patch))
        .await
        .unwrap_err();
    let kube::Error::Api(status) = stale else {
        panic!("{stale}")
    };
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));

    let list = deployments
        .list(&ListParams::default().labels("demo/min-replicas"))
        .await
        .unwrap();
    assert_eq!(list.items.len(), 1);
    let raised = &list.items[0];
    assert_eq!(raised.spec.replicas, Some(2));
    assert_eq!(raised.metadata.generation, Some(2));
    let labels: BTreeMap<_, _> = raised.metadata.labels.clone().unwrap();
    assert_eq!(labels["demo/min-replicas"], "true");
}

async fn over_kubeconfig(server: &SimApiServer) -> Result<KubeClient, kube::Error> {
    let kubeconfig = Kubeconfig::from_yaml(&server.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .unwrap();
    assert_eq!(config.default_namespace, "default");
    KubeClient::try_from(config)
}

#[tokio::test]
async fn a_client_works_without_a_socket() {
    let server = shop().await;
    raise(KubeClient::new(server.service(), "default")).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_works_through_the_kubeconfig() {
    let server = shop().await;
    raise(over_kubeconfig(&server).await.unwrap()).await;
    server.shutdown().await;
}

#[tokio::test]
async fn a_client_works_over_tls_with_a_token() {
    let tls = Tls::generated().unwrap();
    let server = SimApiServer::builder()
        .tls(tls)
        .require_token("s3cret")
        .start()
        .await
        .unwrap();
    add_shop(&server);
    raise(over_kubeconfig(&server).await.unwrap()).await;

    server.set_tokens(Some(vec!["another".to_owned()]));
    let stale = KubeClient::new(server.service(), "default");
    let namespaces: Api<Namespace> = Api::all(stale);
    let refused = namespaces.list(&ListParams::default()).await.unwrap_err();
    assert!(
        matches!(&refused, kube::Error::Api(status) if status.code == 401),
        "{refused}"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn an_identity_that_is_not_as_it_should_be_is_refused_by_the_client() {
    for tls in [Tls::expired(), Tls::wrong_name(), Tls::unknown_issuer()] {
        let server = SimApiServer::builder()
            .tls(tls.unwrap())
            .start()
            .await
            .unwrap();
        let namespaces: Api<Namespace> = Api::all(over_kubeconfig(&server).await.unwrap());
        namespaces
            .list(&ListParams::default())
            .await
            .expect_err("a TLS failure");
        assert!(server.requests().is_empty());
        server.shutdown().await;
    }
}
