use std::fmt;
use std::sync::Arc;

use hashbrown::HashSet;
use parking_lot::Mutex;

use crate::client::ResourceType;

/// What was learned about a server, so that no reflector has to learn it twice.
///
/// | learned | by what | for |
/// |---|---|---|
/// | streaming lists are refused | 400, 405, 406, 415, 422 or 501 whose message names a parameter | the whole server |
/// | the same | such an answer without the name | that kind: an aggregated server may differ |
/// | a streamed list does not end | its end did not come, and a paged list right after did | that kind |
/// | there is no watch cache | even version `0` was answered in pages | that kind |
///
/// A clone is the same memory. Give one to all reflectors of a server with
/// [`WatchOptions::remembered_by`](super::WatchOptions::remembered_by); a reflector that gets
/// none remembers for itself. It is never forgotten: a server that is upgraded is streamed
/// from after the next start.
///
/// ```
/// use controller_core::client::Scope;
/// use controller_core::watch::{ServerMemory, WatchOptions};
///
/// let memory = ServerMemory::default();
/// let pods = WatchOptions::new(Scope::All).remembered_by(&memory);
/// let nodes = WatchOptions::new(Scope::All).remembered_by(&memory);
/// ```
///
/// The dangerous mistake is one memory for two servers: the older one decides for both. It
/// costs speed and memory only, never a change.
#[derive(Clone, Default)]
pub struct ServerMemory(Arc<Mutex<Learned>>);

#[derive(Default)]
struct Learned {
    refuses_streaming: bool,
    unstreamed: HashSet<ResourceType>,
    paged: HashSet<ResourceType>,
}

// === impl ServerMemory ===

impl ServerMemory {
    /// Whether a streaming list is worth a try.
    pub(super) fn streams(&self, resource: &ResourceType) -> bool {
        let learned = self.0.lock();
        !learned.refuses_streaming && !learned.unstreamed.contains(resource)
    }

    /// No server in front of this client streams lists.
    pub(super) fn refuses_streaming(&self) {
        self.0.lock().refuses_streaming = true;
    }

    /// Lists of this kind are not streamed.
    pub(super) fn does_not_stream(&self, resource: &ResourceType) {
        self.0.lock().unstreamed.insert(resource.clone());
    }

    /// Whether even a list from the watch cache comes in pages.
    pub(super) fn pages_everything(&self, resource: &ResourceType) -> bool {
        self.0.lock().paged.contains(resource)
    }

    pub(super) fn has_paged(&self, resource: &ResourceType) {
        self.0.lock().paged.insert(resource.clone());
    }
}

impl fmt::Debug for ServerMemory {
    /// Without what was learned: options with the same selection print the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerMemory")
    }
}
