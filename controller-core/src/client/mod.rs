//! kubeconfig, service account → [`kube::Client`].
//!
//! [`Loader`] finds the server and the credentials as kubectl does. [`build`] makes a
//! client of them, [`layered`] makes one of an in-memory server, with the same layers.
//! [`send`] and [`fetch`] are how every stage sends a request: they sort what goes wrong
//! into [`ApiError`].
//!
//! # The layers, from the caller to the wire
//!
//! | layer | acts | what it does |
//! |---|---|---|
//! | span | per request | method, path and query, verb, status; never headers or bodies |
//! | retry | per request | [`RetryPolicy`]: who is tried again, and for how long |
//! | *rate limit* | per try | not yet: the server's priority and fairness limits by itself |
//! | deadline | per try | head and body; of a list head and each frame; of a watch only the head |
//! | *warnings*, *refresh on 401* | per try | not yet |
//! | user agent | per try | what the audit log shows |
//! | *metrics* | per try | not yet |
//! | base address | [`build`] only | the cluster's address before the path |
//! | compression | [`build`] only | gzip, except for watches |
//! | credentials | [`build`] only | token, token file, helper, basic |
//! | impersonation | [`build`] only | `as`, `as-groups` … |
//! | pool | [`build`] only | connections, TLS, proxy, TCP keepalive |
//!
//! `stack.rs` and `build.rs` hold this list as code.
//!
//! # Who may retry
//!
//! The retry layer, and in it only reads, or what the server itself invites to come
//! back, for at most 45 s and 12 tries, and until the caller's end
//! ([`Call::stop_retrying`]). Lists and watches of a reflector are sent again by it
//! ([`Retried::ByCaller`]), writes are decided upon by [`crate::write`], keys are tried
//! again by the queue. kube's own retry is off: it repeats every method, 15 times, for
//! minutes, in silence.
//!
//! **Invariant:** a wait is in the future that a service returns, never in `poll_ready`:
//! kube's client calls one service for all, so that a layer that is not ready stops every
//! request, and one that fails there has failed for ever.
//!
//! # How long anything takes
//!
//! | what | at most | set by |
//! |---|---|---|
//! | a connection: name, TCP, proxy, TLS | 30 s | [`ClientOptions::connect_timeout`] |
//! | one try of a request, head and body | no limit | [`ClientOptions::request_timeout`] |
//! | a list: its head, then each frame of its body | 60 s | the same |
//! | all tries of a request | 45 s and the last try | [`RetryPolicy::budget`] |
//! | the head of a watch's answer | 30 s | fixed |
//! | the body of a watch | until its reader gives up | [`watch`](crate::watch) |
//! | a dead peer, whoever waits on it | 75 s | fixed: TCP keepalive |
//!
//! Set `request_timeout` in every program. Without it a server that accepts a connection
//! and then hangs holds a worker for as long as it likes, as client-go's does with its
//! default of 0.
//!
//! # Promises
//!
//! - A failure is one [`ApiError`], which tells apart what a person does different things
//!   about, and names the verb, the resource and the namespace that a Role has to allow.
//! - No error, log line or span holds a credential or any part of a body.
//! - Only the retry layer sends a request again, apart from one that a closing connection
//!   never took.
//! - What [`Loader`] finds is what kubectl would use, with two differences that it names.
//!
//! **Not promised:** that a write which failed was not applied. See
//! [`ApiError::answer_lost`].
//!
//! # Costs
//!
//! HTTP/1.1: each request under way has a connection of its own, so each open watch does.
//! Idle ones are kept for 60 s, at most 8. [`build`] reads certificates once; a token file
//! is read again every minute. kube's client has one task.
//!
//! # If you know client-go
//!
//! | client-go | here |
//! |---|---|
//! | `clientcmd.NewNonInteractiveDeferredLoadingClientConfig` | [`Loader`] |
//! | `rest.InClusterConfig` | [`Loader`], where nothing else is configured |
//! | `rest.Config` | [`Loaded`] for where and who, [`ClientOptions`] for how |
//! | `rest.Config.QPS`, `Burst` | none: the server's priority and fairness |
//! | `rest.Config.WrapTransport` | [`layered`] over a service of your own |
//! | `kubernetes.NewForConfig` | [`build`] |
//! | `rest.Request` | [`Call`], [`send`], [`fetch`] |
//! | `apierrors.IsConflict(err)` … | [`ApiError::is_conflict`] … |
//! | `schema.GroupVersionResource` | [`ResourceType`] |
//! | `metav1.NamespaceAll` | [`Scope::All`] |
//! | `cache.ObjectName`, `cache.MetaNamespaceKeyFunc` | [`ObjectKey`] |
//!
//! The client is a plain [`kube::Client`]. `kube::Api` works on it, with all the layers, for
//! whatever has no constructor here; its errors are kube's then, and not sorted.
mod auth;
mod build;
mod call;
mod config;
mod connect;
mod deadline;
mod error;
mod key;
mod proxy_tls;
mod resolver;
mod resource;
mod retry;
mod retrying;
mod send;
mod stack;
mod target;
mod token_file;
mod trace;

pub use build::build;
pub use call::Call;
pub use config::{ConfigError, Environment, Loaded, Loader, Place, Source};
pub use error::{Answer, ApiError, TlsFailure};
pub use key::{KeyError, ObjectKey};
pub use resource::{ResourceType, Scope};
pub use retry::{OnWait, Retried, RetryPolicy, Waiting};
pub use send::{fetch, send};
pub use stack::{ClientOptions, layered, user_agent};
pub use target::{Target, Verb};
