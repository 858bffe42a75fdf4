use std::sync::Arc;

use super::*;
use crate::store::Deleted;
use crate::watch::testing::Widget;

fn widget(name: &str, version: &str) -> Arc<Widget> {
    Arc::new(Widget::new(name, version))
}

fn added(new: &Arc<Widget>) -> Delta<Widget> {
    Delta::Added {
        new: Arc::clone(new),
        initial: false,
    }
}

fn updated(old: &Arc<Widget>, new: &Arc<Widget>) -> Delta<Widget> {
    Delta::Updated {
        old: Arc::clone(old),
        new: Arc::clone(new),
    }
}

fn deleted(object: &Arc<Widget>) -> Delta<Widget> {
    Delta::Deleted(Deleted::Observed(Arc::clone(object)))
}

fn read(mailbox: &Mailbox<Widget>) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(Some(letter)) = futures::FutureExt::now_or_never(mailbox.next()) {
        words.push(match letter {
            Letter::Synced => "synced".to_owned(),
            Letter::Delta(delta) => {
                let name = match &delta {
                    Delta::Added { .. } => "added",
                    Delta::Updated { .. } => "updated",
                    Delta::Resynced { .. } => "resynced",
                    Delta::Deleted(_) => "deleted",
                };
                let object = delta.object();
                format!(
                    "{name} {}@{}",
                    object.key().name(),
                    object.resource_version()
                )
            }
        });
    }
    words
}

/// A mailbox of one entry, which is taken.
fn full() -> Mailbox<Widget> {
    let mailbox = Mailbox::new(1);
    mailbox.push(added(&widget("first", "1")));
    mailbox
}

#[test]
fn what_fits_arrives_one_by_one() {
    let mailbox = Mailbox::new(10);
    let (old, new) = (widget("a", "1"), widget("a", "2"));
    mailbox.push(added(&old));
    mailbox.push(updated(&old, &new));
    mailbox.push(deleted(&new));
    assert_eq!(read(&mailbox), ["added a@1", "updated a@2", "deleted a@2"]);
}

/// BX-14.
#[test]
fn a_full_mailbox_keeps_the_net_change_of_each_object() {
    let mailbox = full();
    let (a1, a2, a3) = (widget("a", "1"), widget("a", "2"), widget("a", "3"));
    let (b1, b2) = (widget("b", "1"), widget("b", "2"));
    mailbox.push(updated(&a1, &a2));
    mailbox.push(added(&b1));
    mailbox.push(updated(&a2, &a3));
    mailbox.push(updated(&b1, &b2));
    assert_eq!(mailbox.pace().pending, 3);
    assert_eq!(
        read(&mailbox),
        ["added first@1", "updated a@3", "added b@2"]
    );
}

#[test]
fn what_was_never_seen_and_is_gone_is_not_mentioned() {
    let mailbox = full();
    let a = widget("a", "1");
    mailbox.push(added(&a));
    mailbox.push(deleted(&a));
    mailbox.push_synced();
    assert_eq!(read(&mailbox), ["added first@1", "synced"]);
}

#[test]
fn another_uid_is_a_delete_of_what_was_seen_and_an_add() {
    let mailbox = full();
    let (old, seen) = (widget("a", "1"), widget("a", "2"));
    let between = Arc::new(Widget::new("a", "3").with_uid("between"));
    let new = Arc::new(Widget::new("a", "5").with_uid("new"));
    mailbox.push(updated(&old, &seen));
    mailbox.push(deleted(&seen));
    mailbox.push(added(&between));
    mailbox.push(deleted(&between));
    mailbox.push(added(&new));
    assert_eq!(
        read(&mailbox),
        ["added first@1", "deleted a@2", "added a@5"]
    );
}

/// With a selector the same object can go and come back. The copy that came with its going
/// was never heard of, so there is no update from it.
#[test]
fn who_left_and_came_back_is_a_delete_and_an_add() {
    let mailbox = full();
    mailbox.push(deleted(&widget("a", "3")));
    mailbox.push(added(&widget("a", "5")));
    assert_eq!(
        read(&mailbox),
        ["added first@1", "deleted a@3", "added a@5"]
    );
}

#[test]
fn order_is_kept_when_the_mailbox_fills_and_empties_again() {
    let mailbox = full();
    let (a, b) = (widget("a", "1"), widget("b", "1"));
    mailbox.push(added(&a));
    mailbox.push_synced();
    mailbox.push(added(&b));
    assert_eq!(
        read(&mailbox),
        ["added first@1", "added a@1", "added b@1", "synced"]
    );
    mailbox.push(deleted(&b));
    assert_eq!(read(&mailbox), ["deleted b@1"]);
}

#[test]
fn a_closed_mailbox_is_empty_and_stays_so() {
    let mailbox = full();
    mailbox.close();
    mailbox.push(added(&widget("a", "1")));
    assert!(read(&mailbox).is_empty());
    assert_eq!(mailbox.pace().pending, 0);
}

/// FF-27: a reader that waits is woken by the end.
#[tokio::test]
async fn closing_wakes_a_reader_that_waits() {
    let mailbox = Mailbox::<Widget>::new(1);
    let mut reading = std::pin::pin!(mailbox.next());
    assert!(futures::poll!(&mut reading).is_pending());
    mailbox.close();
    assert!(reading.await.is_none());
}

#[tokio::test]
async fn nothing_enters_a_closed_mailbox() {
    let mailbox = Mailbox::<Widget>::new(1);
    mailbox.close();
    mailbox.push_synced();
    mailbox.push(added(&widget("a", "1")));
    assert_eq!(mailbox.pace(), Pace::default());
}

/// BX-14: what waits, for how long, and how long calls take.
#[tokio::test(start_paused = true)]
async fn the_pace_tells_what_waits_and_since_when() {
    let seconds = Duration::from_secs;
    let pace = |pending, lag, longest_call| Pace {
        pending,
        lag: seconds(lag),
        longest_call: seconds(longest_call),
    };
    let mailbox = Mailbox::new(1);
    mailbox.push(added(&widget("a", "1")));
    tokio::time::advance(seconds(2)).await;
    mailbox.push(added(&widget("b", "2")));
    tokio::time::advance(seconds(1)).await;
    mailbox.push(added(&widget("c", "3")));
    assert_eq!(mailbox.pace(), pace(3, 3, 0));
    mailbox.next().await.unwrap();
    tokio::time::advance(seconds(4)).await;
    // The one in work counts, too.
    assert_eq!(mailbox.pace(), pace(3, 7, 4));
    mailbox.done();
    // The two came one by one, but are known only as a whole.
    assert_eq!(mailbox.take_pace(), pace(2, 5, 4));
    for _ in 0..2 {
        mailbox.next().await.unwrap();
        mailbox.done();
    }
    assert_eq!(mailbox.pace(), pace(0, 0, 0));
}
