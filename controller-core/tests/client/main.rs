//! The client as an embedder sees it: what is loaded, what is sent, what an error says.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod credentials;
mod deadlines;
mod loading;
mod logging;
mod network;
mod proxies;
mod retries;
mod scripted;
mod selection;
mod server;
mod tls;
