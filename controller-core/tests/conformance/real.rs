//! The way to a real server: `CONFORMANCE_KUBECONFIG` names its kubeconfig,
//! `CONFORMANCE_STREAMING` says `on` or `off`.

use std::env;
use std::path::PathBuf;

use bytes::Bytes;
use controller_core::client::{ClientOptions, Environment, Loader, build};
use controller_core::watch::Streaming;
use http::Request;
use kube::Client;
use kube::client::Body;
use sim_apiserver::faults::{Faults, Proxy};
use tower::service_fn;

/// How the lists of this run are read, if it is about a real server.
pub(crate) fn way() -> Option<Streaming> {
    kubeconfig()?;
    let way = env::var("CONFORMANCE_STREAMING").unwrap_or_default();
    match way.as_str() {
        "on" => Some(Streaming::Auto),
        "off" => Some(Streaming::Never),
        other => panic!("CONFORMANCE_STREAMING is on or off, not {other:?}"),
    }
}

/// A client that speaks to the real server itself.
pub(crate) fn direct() -> Client {
    let mut loader = Loader::new();
    loader.environment = Environment::empty();
    loader.kubeconfig = kubeconfig();
    let mut options = ClientOptions::new("conformance/direct");
    // What the server says is the client's affair.
    options.retry.tries = 1;
    build(&loader.load().unwrap(), &options).unwrap()
}

/// A proxy of this test's own before it.
pub(crate) async fn proxy(direct: Client, faults: Faults) -> Proxy {
    let upstream = service_fn(move |request: Request<Bytes>| {
        let client = direct.clone();
        async move { client.send(request.map(Body::from)).await }
    });
    Proxy::start(upstream, faults).await.unwrap()
}

fn kubeconfig() -> Option<PathBuf> {
    let path = env::var_os("CONFORMANCE_KUBECONFIG")?;
    (!path.is_empty()).then(|| path.into())
}
