use sim_apiserver::SimApiServer;
use sim_apiserver::faults::Verb;

use crate::harness::{Scene, deployment, options};
use crate::scaled_objects::SCALED_OBJECT;

/// Whoever forbids a raise may have been made a moment ago, and the watch cache of an API
/// server need not have it yet: an autoscaler, a ScaledObject, a pause. What is raised may be
/// had from there.
#[tokio::test(start_paused = true)]
async fn what_forbids_a_raise_is_first_listed_from_the_store() {
    for streams in [true, false] {
        let server = SimApiServer::builder()
            .kind(SCALED_OBJECT)
            .streaming_lists(streams);
        let mut scene = Scene::with_server(server, [deployment("web", 1)]).await;
        scene.run(options());
        scene.until_replicas("web", 2).await;
        for (resource, version) in [
            ("horizontalpodautoscalers", None),
            ("scaledobjects", None),
            ("namespaces", None),
            ("deployments", (!streams).then_some("0")),
        ] {
            let lists = scene.server.requests_where(|it| {
                let streamed = it.info.query("sendInitialEvents").is_some();
                let lists = streamed || it.verb() == Verb::List;
                // One object is asked for to see whether the kind is there at all.
                let lists = lists && it.info.query("limit") != Some("1");
                lists && streamed == streams && it.info.resource == resource
            });
            let first = &lists.first().expect("it is listed").info;
            assert_eq!(first.query("resourceVersion"), version, "{resource}");
            if !streams {
                assert_eq!(first.query("limit"), Some("500"), "{resource}");
            }
        }
        scene.stop().await;
    }
}
