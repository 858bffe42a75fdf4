//! The client as an embedder sees it: what is loaded, what is sent, what an error says.
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
