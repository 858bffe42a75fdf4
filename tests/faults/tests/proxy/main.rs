//! The proxy over sockets, before an upstream that tells what it was asked.

#[cfg(test)]
mod lifetime;
#[cfg(test)]
mod traffic;
