//! Joins [`watch`](crate::watch), [`store`](crate::store) and
//! [`handler`](crate::handler): one watch, one cache, many handlers.
//!
//! A [`SharedInformer`] is one kind; a [`SharedInformerFactory`] hands out one for each
//! kind and selection, so that two controllers in a process share a watch.
mod factory;
mod options;
mod registration;
mod shared;

pub use factory::SharedInformerFactory;
pub use options::InformerOptions;
pub use registration::Registration;
pub use shared::SharedInformer;
