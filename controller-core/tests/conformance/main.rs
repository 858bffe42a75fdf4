//! Everything that an API server can do to a cache, over real HTTP.
//!
//! Each test is about one or more rows of an inventory of behaviours: client-go's own tests
//! (`RF-…`, `WL-…`, `FF-…`, `CT-…`, `SI-…`, `ST-…`, `RW-…`), what client-go gets wrong
//! (`BX-…`), kube-rs and collected cases (`C-…`). Its doc comment begins with their ids and a
//! colon, `docs/conformance.md` maps each id to its test.
//!
//! # Where a test stands
//!
//! | folder | rows about |
//! |---|---|
//! | `reflector/` | requests, answers, waits |
//! | `lists/`, `watches/`, `cases/` | streamed lists, versions, collected cases |
//! | `informer/`, `store/` | what handlers hear, what listers read |
//!
//! A module `both` inside of them holds what a real server can be made to do, too: scripts that
//! only cut, delay, or replace an answer by an error. `cargo xtask conformance` runs these
//! (`test(/both::/)`) against a real control plane, with streaming lists and without.
//!
//! # How a test is written
//!
//! ```ignore
//! /// RF-28: the version of a later list has expired.
//! #[test]
//! fn an_expired_list_is_repeated_without_a_version() {
//!     simulated(async {
//!         let server = Server::start().await;
//!         server.put("a", "1").await;
//!         let informed = Informed::start(&server, server.options(Streaming::Never));
//!         informed.holds(&[("a", "1")]).await;
//!         server.faults().add(Rule::new(Action::Expired).verb(Verb::List).attempts(1));
//!         // …
//!         assert_eq!(server.asked(), ["list rv=0 limit=500", "watch rv=…"]);
//!         informed.stop().await;
//!         server.stop().await;
//!     });
//! }
//!
//! /// RF-03: …
//! #[test]
//! fn a_resync_asks_the_server_for_nothing() {
//!     in_both_ways(async |streaming| { /* as above, with `server.options(streaming)` */ });
//! }
//! ```
//!
//! - [`time::simulated`] runs it on one thread in time that jumps ahead when nothing is under
//!   way, sockets included: waits of minutes cost nothing. [`time::in_both_ways`] does that
//!   twice, with streaming lists and without.
//! - Below `both` it is [`time::anywhere`], or [`time::anywhere_paged`], and nothing else. Where
//!   the server is real, time is, too: waits are shorter than 20 s there, and versions unknown.
//! - [`server::lists`], [`server::watches`], [`server::first_watch`],
//!   [`server::event_of_first_watch`] and [`server::nth_watch`] make rules that hold for either
//!   way to list.
//! - [`server::Server`] stores objects behind the back of the faults, so that every request that
//!   [`Server::asked`](server::Server::asked) tells is the client's. The client is the product's
//!   own, with all its layers, on a socket.
//! - [`watch_of::Informed`] runs a shared informer, [`watch_of::Reflected`] a reflector alone;
//!   [`heard::Heard`] notes what a handler hears. All three wait for conditions, none sleeps.
#![expect(clippy::unwrap_used, reason = "a test ends at its first surprise")]

mod cases;
mod forwarder;
mod heard;
mod informer;
mod lists;
mod real;
mod reflector;
mod requests;
mod server;
mod time;
mod watch_of;
mod watches;
