use controller_core::client::{ResourceType, Scope};
use controller_core::controllers::min_replicas::Deployment;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::watch::{Object, Streaming, WatchOptions};
use k8s_openapi::api::apps::v1;
use kube::core::DynamicObject;

use crate::server::Server;
use crate::time::simulated;

/// RF-37: a person is told the resource and its group, whatever type stands for it in the
/// program; client-go tells a Go type, a kind, or nothing.
#[test]
fn an_informer_is_named_by_its_resource_whatever_its_type() {
    fn name<T: Object>(server: &Server, resource: &ResourceType) -> String {
        let options = WatchOptions::new(Scope::All).streaming(Streaming::Never);
        let options = InformerOptions::<T>::new(options);
        let informer = SharedInformer::new(server.client(), resource.clone(), options);
        let health = informer.health().to_string();
        health.split(':').next().unwrap().to_owned()
    }
    simulated(async {
        let server = Server::start().await;
        let deployments = Deployment::RESOURCE;
        for name in [
            name::<Deployment>(&server, &deployments),
            name::<v1::Deployment>(&server, &deployments),
            name::<DynamicObject>(&server, &deployments),
        ] {
            assert_eq!(name, "deployments.apps");
        }
        server.stop().await;
    });
}
