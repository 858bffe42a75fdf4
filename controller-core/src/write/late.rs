use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::client::{ApiError, ObjectKey};
use crate::controllers::min_replicas::Raise;

/// What the server answered: the number that it has now.
pub(super) type Answer = Result<i32, ApiError>;

type Tell = dyn Fn(&Raise, Answer) + Send + Sync;

/// Hears the answers of writes whose callers were dropped while they waited: a change that
/// was made has to be told to somebody, and so has a refusal, unless the object was settled in
/// another way by then.
#[derive(Clone)]
pub(super) struct Late {
    tell: Arc<Tell>,
    left: Arc<Mutex<Left>>,
}

/// One write, among those that a [`Late`] hears of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WriteId(u64);

/// A caller's wait for its answer. Dropped before it was heard, it leaves the answer to
/// [`Late`], whichever of the two comes first.
pub(super) struct Waiting {
    pub(super) id: WriteId,
    pub(super) raise: Raise,
    pub(super) answer: oneshot::Receiver<Answer>,
    pub(super) late: Late,
}

/// The writes whose callers are gone.
#[derive(Default)]
struct Left {
    ids: u64,
    /// An entry goes with its answer, or when its object is settled.
    of: HashMap<ObjectKey, Vec<Write>>,
}

struct Write {
    id: WriteId,
    /// Whether it ended without an answer.
    lost: bool,
}

// === impl Late ===

impl Late {
    pub(super) fn new(tell: impl Fn(&Raise, Answer) + Send + Sync + 'static) -> Self {
        Self {
            tell: Arc::new(tell),
            left: Arc::default(),
        }
    }

    pub(super) fn new_id(&self) -> WriteId {
        let mut left = self.left.lock();
        left.ids += 1;
        WriteId(left.ids)
    }

    /// Nobody waits for this write any more.
    pub(super) fn leave(&self, id: WriteId, raise: &Raise) {
        let write = Write { id, lost: false };
        let mut left = self.left.lock();
        left.of.entry(raise.key.clone()).or_default().push(write);
    }

    /// A write that was [left](Self::leave) has ended.
    pub(super) fn hear(&self, id: WriteId, raise: &Raise, answer: Answer) {
        let is_lost = matches!(&answer, Err(error) if error.answer_lost());
        let is_settled = !self.left.lock().end(&raise.key, id, is_lost);
        match answer {
            // It counts, for as long as nobody looks at the object again.
            Err(_) if is_lost => {}
            // Nothing was written, and the object has what it needs.
            Err(_) if is_settled => {}
            answer => (self.tell)(raise, answer),
        }
    }

    /// The object was looked at again, and has what it needs.
    pub(super) fn settled(&self, key: &ObjectKey) {
        self.left.lock().of.remove(key);
    }

    /// How many writes ended without an answer, and without a caller to tell.
    pub(super) fn lost(&self) -> usize {
        let left = self.left.lock();
        left.of.values().flatten().filter(|it| it.lost).count()
    }
}

// === impl Waiting ===

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.answer.is_terminated() {
            return;
        }
        self.late.leave(self.id, &self.raise);
        // From here on the sender finds nobody and tells by itself.
        self.answer.close();
        if let Ok(answer) = self.answer.try_recv() {
            self.late.hear(self.id, &self.raise, answer);
        }
    }
}

// === impl Left ===

impl Left {
    /// Takes note of the end of a write. False if its object was settled before.
    fn end(&mut self, key: &ObjectKey, id: WriteId, is_lost: bool) -> bool {
        let Some(writes) = self.of.get_mut(key) else {
            return false;
        };
        let Some(place) = writes.iter().position(|it| it.id == id) else {
            return false;
        };
        if is_lost {
            writes[place].lost = true;
        } else {
            writes.swap_remove(place);
            if writes.is_empty() {
                self.of.remove(key);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::controllers::min_replicas::Through;

    fn raise() -> Raise {
        Raise {
            key: ObjectKey::namespaced("shop", "web"),
            uid: "u".into(),
            resource_version: "7".into(),
            from: 1,
            to: 2,
            through: Through::Scale,
        }
    }

    fn timed_out() -> Answer {
        Err(ApiError::Timeout {
            request: "PATCH".into(),
            after: Duration::from_secs(30),
        })
    }

    fn refused() -> Answer {
        Err(ApiError::Refused {
            server: "127.0.0.1:1".into(),
        })
    }

    fn late() -> (Late, Arc<Mutex<Vec<Option<i32>>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        let late = Late::new(move |_, answer| telling.lock().push(answer.ok()));
        (late, told)
    }

    #[test]
    fn an_answer_is_told_and_a_lost_one_is_counted() {
        let (late, told) = late();
        for answer in [Ok(2), refused(), timed_out()] {
            let id = late.new_id();
            late.leave(id, &raise());
            late.hear(id, &raise(), answer);
        }
        assert_eq!(*told.lock(), [Some(2), None]);
        assert_eq!(late.lost(), 1);
        late.settled(&raise().key);
        assert_eq!(late.lost(), 0);
        assert!(late.left.lock().of.is_empty());
    }

    #[test]
    fn once_the_object_is_settled_only_a_change_is_news() {
        let (late, told) = late();
        let ids = [(); 3].map(|()| late.new_id());
        for id in ids {
            late.leave(id, &raise());
        }
        late.settled(&raise().key);
        // Of a later trouble with the same object.
        let later = late.new_id();
        late.leave(later, &raise());
        for (id, answer) in ids.into_iter().zip([timed_out(), refused(), Ok(2)]) {
            late.hear(id, &raise(), answer);
        }
        assert_eq!(*told.lock(), [Some(2)]);
        assert_eq!(late.lost(), 0);
        late.hear(later, &raise(), timed_out());
        assert_eq!(late.lost(), 1);
    }

    #[tokio::test]
    async fn a_caller_that_has_its_answer_leaves_nothing() {
        let (late, told) = late();
        let (sender, answer) = oneshot::channel();
        sender.send(Ok(2)).unwrap();
        let mut waiting = Waiting {
            id: late.new_id(),
            raise: raise(),
            answer,
            late: late.clone(),
        };
        let heard = (&mut waiting.answer).await;
        assert_eq!(heard.unwrap().unwrap(), 2);
        drop(waiting);
        assert!(late.left.lock().of.is_empty());
        assert!(told.lock().is_empty());
    }
}
