//! What a real server can be made to do, too.

mod consistent;
mod errors;
mod expired;
mod pages;
mod queries;
mod short_watches;
mod stop;
mod throttled;
mod transforms;
