//! The simulated server's behaviour, over the in-memory service and over sockets.

#[cfg(test)]
mod client;
#[cfg(test)]
mod kube_client;
