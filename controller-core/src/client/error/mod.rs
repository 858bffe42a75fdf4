//! What can go wrong between a request and its answer, as something to act on.
//!
//! Two sources feed [`ApiError`]: the server's own answer (`answer.rs`) and the chain of
//! errors that hyper, rustls and the operating system leave when there is no answer
//! (`transport.rs`, `tls.rs`).
//!
//! **Invariant:** no text here holds any part of a response's payload, a request's body,
//! or a credential. Both are easy to let in: serde quotes the value that it did not
//! expect, kube prints the output of a failed credential helper, and a proxy's URL holds
//! its password.
mod answer;
mod api_error;
mod tls;
mod transport;

pub use answer::Answer;
pub(super) use answer::retry_after;
pub use api_error::ApiError;
pub use tls::TlsFailure;
pub(super) use transport::{
    ConnectDeadline, DeadlineExceeded, DnsFailure, Unreachable, ViaProxy, connection_lost,
    credential_problem, refused_by_alert,
};
