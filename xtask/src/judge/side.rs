use std::error::Error;

use http::{Method, Request, Response, header};
use kube::client::Body;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::media;
use super::real::Real;
use super::simulated::Simulated;

/// One of the two servers.
pub(super) struct Side {
    pub(super) name: &'static str,
    admin: Client,
    /// Has no credentials but those of the request.
    stranger: Client,
    server: Server,
}

/// What a server can do behind its API's back.
pub(super) enum Server {
    Real(Real),
    Simulated(Simulated),
}

/// By this the server knows who owns a field.
const USER_AGENT: &str = "judge/1";

// === impl Side ===

impl Side {
    /// The real server.
    pub(super) async fn real(real: Real) -> Result<Self, Box<dyn Error>> {
        let kubeconfig = Kubeconfig::read_from(real.kubeconfig())?;
        Self::new("real", kubeconfig, Server::Real(real)).await
    }

    /// The simulated server.
    pub(super) async fn simulated(simulated: Simulated) -> Result<Self, Box<dyn Error>> {
        let kubeconfig = Kubeconfig::from_yaml(&simulated.kubeconfig())?;
        Self::new("simulated", kubeconfig, Server::Simulated(simulated)).await
    }

    async fn new(
        name: &'static str,
        kubeconfig: Kubeconfig,
        server: Server,
    ) -> Result<Self, Box<dyn Error>> {
        let options = KubeConfigOptions::default();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
        config.default_retry = false;
        // Both are on this machine; kube would send even that through HTTPS_PROXY.
        config.proxy_url = None;
        let mut stranger = config.clone();
        stranger.auth_info = AuthInfo::default();
        Ok(Self {
            name,
            admin: Client::try_from(config)?,
            stranger: Client::try_from(stranger)?,
            server,
        })
    }

    /// Sends one request, and returns as soon as the answer begins.
    pub(super) async fn send(
        &self,
        method: &Method,
        target: &str,
        headers: &[(String, String)],
        body: String,
    ) -> Result<Response<Body>, String> {
        let given = |wanted: &str| {
            headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
        };
        let mut request = Request::builder()
            .method(method)
            .uri(encoded(target))
            .header(header::USER_AGENT, USER_AGENT);
        if !given("accept") {
            request = request.header(header::ACCEPT, media::JSON);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request
            .body(Body::from(body.into_bytes()))
            .map_err(|error| error.to_string())?;
        let client = match given("authorization") {
            true => &self.stranger,
            false => &self.admin,
        };
        client.send(request).await.map_err(|error| {
            let name = self.name;
            format!("the {name} server does not answer: {error}")
        })
    }

    /// Makes the server forget what was before now.
    pub(super) async fn compact(&self) -> Result<(), String> {
        match &self.server {
            Server::Real(real) => real.compact(self).await,
            Server::Simulated(simulated) => {
                simulated.compact();
                Ok(())
            }
        }
    }

    /// Ends the server.
    pub(super) async fn stop(self) -> Result<(), Box<dyn Error>> {
        match self.server {
            Server::Real(real) => real.stop(),
            Server::Simulated(simulated) => {
                simulated.stop().await;
                Ok(())
            }
        }
    }
}

/// A path and query as it may stand in a request: a script has blanks and brackets in it.
fn encoded(target: &str) -> String {
    let mut encoded = String::with_capacity(target.len());
    for byte in target.bytes() {
        match byte {
            b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => {
                encoded.push_str(&format!("%{byte:02X}"));
            }
            0x21..=0x7e => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readable_query_becomes_a_sendable_one() {
        assert_eq!(
            encoded("/a?labelSelector=x in (y,z),!w&p=%2F"),
            "/a?labelSelector=x%20in%20(y,z),!w&p=%2F"
        );
        assert_eq!(encoded("/ä{}"), "/%C3%A4%7B%7D");
    }
}
