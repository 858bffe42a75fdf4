//! The simulated server's behaviour, over the in-memory service and over sockets.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod bodies;
#[cfg(test)]
mod client;
#[cfg(test)]
mod deletes;
#[cfg(test)]
mod events;
#[cfg(test)]
mod faulty;
#[cfg(test)]
mod field_rules;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod kube_client;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod past;
#[cfg(test)]
mod past_properties;
#[cfg(test)]
mod patches;
#[cfg(test)]
mod restored;
#[cfg(test)]
mod rollouts;
#[cfg(test)]
mod server;
#[cfg(test)]
mod services;
#[cfg(test)]
mod small_print;
#[cfg(test)]
mod watches;
#[cfg(test)]
mod workloads;
#[cfg(test)]
mod writes;
