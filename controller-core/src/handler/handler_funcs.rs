use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::EventHandler;
use super::handler_name::made_at;
use crate::store::Deleted;

/// Handlers made of closures, as client-go's `ResourceEventHandlerFuncs`: what is not
/// given is not heard.
///
/// For logs, counters and tests. A controller wants
/// [`EnqueueHandler`](super::EnqueueHandler), which cannot forget one of the four.
///
/// ```
/// use controller_core::handler::HandlerFuncs;
/// # use controller_core::watch::Object;
/// # fn example<T: Object>() {
/// let handler = HandlerFuncs::<T>::new()
///     .on_add(|new, initial| println!("{} (initial: {initial})", new.key()))
///     .on_delete(|deleted| println!("{} is gone", deleted.last_known().key()));
/// # }
/// ```
pub struct HandlerFuncs<T> {
    name: Cow<'static, str>,
    add: Option<AddFunc<T>>,
    update: Option<UpdateFunc<T>>,
    resync: Option<ResyncFunc<T>>,
    delete: Option<DeleteFunc<T>>,
}

type AddFunc<T> = Box<dyn Fn(&Arc<T>, bool) + Send + Sync>;
type UpdateFunc<T> = Box<dyn Fn(&Arc<T>, &Arc<T>) + Send + Sync>;
type ResyncFunc<T> = Box<dyn Fn(&Arc<T>) + Send + Sync>;
type DeleteFunc<T> = Box<dyn Fn(&Deleted<T>) + Send + Sync>;

// === impl HandlerFuncs ===

impl<T> HandlerFuncs<T> {
    /// Hears nothing yet. It is named after the line that this stands on.
    #[track_caller]
    pub fn new() -> Self {
        Self {
            name: made_at("HandlerFuncs"),
            add: None,
            update: None,
            resync: None,
            delete: None,
        }
    }

    /// Calls it `name` in the log.
    #[must_use]
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Calls `function` for each object that comes into the cache.
    #[must_use]
    pub fn on_add(mut self, function: impl Fn(&Arc<T>, bool) + Send + Sync + 'static) -> Self {
        self.add = Some(Box::new(function));
        self
    }

    /// Calls `function` with the old and the new object.
    #[must_use]
    pub fn on_update(
        mut self,
        function: impl Fn(&Arc<T>, &Arc<T>) + Send + Sync + 'static,
    ) -> Self {
        self.update = Some(Box::new(function));
        self
    }

    /// Calls `function` for each object when the resync interval has gone by.
    #[must_use]
    pub fn on_resync(mut self, function: impl Fn(&Arc<T>) + Send + Sync + 'static) -> Self {
        self.resync = Some(Box::new(function));
        self
    }

    /// Calls `function` for each object that leaves the cache.
    #[must_use]
    pub fn on_delete(mut self, function: impl Fn(&Deleted<T>) + Send + Sync + 'static) -> Self {
        self.delete = Some(Box::new(function));
        self
    }
}

impl<T> Default for HandlerFuncs<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for HandlerFuncs<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerFuncs")
            .field("name", &self.name)
            .field("add", &self.add.is_some())
            .field("update", &self.update.is_some())
            .field("resync", &self.resync.is_some())
            .field("delete", &self.delete.is_some())
            .finish()
    }
}

impl<T: 'static> EventHandler<T> for HandlerFuncs<T> {
    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.name)
    }

    fn on_add(&self, new: &Arc<T>, initial: bool) {
        if let Some(function) = &self.add {
            function(new, initial);
        }
    }

    fn on_update(&self, old: &Arc<T>, new: &Arc<T>) {
        if let Some(function) = &self.update {
            function(old, new);
        }
    }

    fn on_resync(&self, object: &Arc<T>) {
        if let Some(function) = &self.resync {
            function(object);
        }
    }

    fn on_delete(&self, deleted: &Deleted<T>) {
        if let Some(function) = &self.delete {
            function(deleted);
        }
    }
}
