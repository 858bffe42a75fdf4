//! The simulated server's behaviour, over the in-memory service and over sockets.

#[cfg(test)]
mod client;
#[cfg(test)]
mod deletes;
#[cfg(test)]
mod faulty;
#[cfg(test)]
mod kube_client;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod past;
#[cfg(test)]
mod past_properties;
#[cfg(test)]
mod patches;
#[cfg(test)]
mod restored;
#[cfg(test)]
mod server;
#[cfg(test)]
mod watches;
#[cfg(test)]
mod workloads;
#[cfg(test)]
mod writes;
