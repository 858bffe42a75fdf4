use std::io;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::{GaiAddrs, GaiResolver, Name};
use tower::Service;

use super::error::DnsFailure;

/// The system's resolver, whose failures can be told from those of TCP: hyper-util's own
/// error says so in its text only. "No such host" and "connection refused" have different
/// cures: a typing error or a VPN here, a server that is down there.
#[derive(Clone, Debug)]
pub(super) struct Resolver {
    inner: GaiResolver,
}

// === impl Resolver ===

impl Resolver {
    pub(super) fn new(inner: GaiResolver) -> Self {
        Self { inner }
    }
}

impl Service<Name> for Resolver {
    type Response = GaiAddrs;
    type Error = DnsFailure;
    type Future = BoxFuture<'static, Result<GaiAddrs, DnsFailure>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), DnsFailure>> {
        self.inner
            .poll_ready(cx)
            .map_err(|source| failure(String::new(), source))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let host = name.to_string();
        let addresses = self.inner.call(name);
        Box::pin(async move { addresses.await.map_err(|source| failure(host, source)) })
    }
}

fn failure(host: String, source: io::Error) -> DnsFailure {
    DnsFailure { host, source }
}
