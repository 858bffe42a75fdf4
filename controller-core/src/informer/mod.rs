//! Joins [`watch`](crate::watch), [`store`](crate::store) and
//! [`handler`](crate::handler): one watch, one cache, many handlers.
mod options;
mod registration;
mod shared;

pub use options::InformerOptions;
pub use registration::Registration;
pub use shared::SharedInformer;
