use super::story::Step::{Delete, Put};
use super::story::Story;
use crate::informer::heard::sorted;
use crate::time::anywhere;

const KNOWN: &[(&str, &str)] = &[("bar", "6"), ("baz", "7"), ("foo", "5")];

/// FF-02: the end was seen, and the list has another one in its place.
#[test]
fn an_end_that_was_seen_is_not_told_again_by_the_list() {
    anywhere(async |streaming| {
        let story = Story {
            known: &[("foo1", "5")],
            seen: &[Delete("foo1")],
            missed: &[Put("foo2", "6")],
        };
        let expected = ["initial foo1 5", "deleted foo1 5", "added foo2 6"];
        assert_eq!(story.heard(streaming).await, expected);
    });
}

/// FF-03, FF-04, FF-22: what only a line has told of vanishes; what a line has ended does not
/// end twice.
#[test]
fn what_only_a_line_has_told_of_vanishes_once() {
    anywhere(async |streaming| {
        let story = Story {
            known: &[],
            seen: &[Put("baz", "7"), Put("qux", "8"), Delete("qux")],
            missed: &[Delete("baz"), Put("foo", "5")],
        };
        let expected = [
            "added baz 7",
            "added qux 8",
            "deleted qux 8",
            "vanished baz 7",
            "added foo 5",
        ];
        assert_eq!(story.heard(streaming).await, expected);
    });
}

/// FF-07: what vanishes is what came last.
#[test]
fn what_came_back_vanishes_in_its_last_state() {
    anywhere(async |streaming| {
        let story = Story {
            known: &[],
            seen: &[Put("foo", "2"), Delete("foo"), Put("foo", "3")],
            missed: &[Delete("foo")],
        };
        let expected = [
            "added foo 2",
            "deleted foo 2",
            "added foo 3",
            "vanished foo 3",
        ];
        assert_eq!(story.heard(streaming).await, expected);
    });
}

/// FF-09, FF-17, FF-28: one call a change, and of one key each in its turn. A handler that keeps
/// up hears of all; only what the list brought is initial.
#[test]
fn what_fits_is_heard_one_by_one() {
    anywhere(async |streaming| {
        let story = Story {
            known: &[("a", "1")],
            seen: &[
                Put("foo", "10"),
                Put("a", "4"),
                Put("foo", "12"),
                Put("a", "5"),
                Delete("foo"),
            ],
            missed: &[],
        };
        let expected = [
            "initial a 1",
            "added foo 10",
            "updated a 4",
            "updated foo 12",
            "updated a 5",
            "deleted foo 12",
        ];
        assert_eq!(story.heard(streaming).await, expected);
    });
}

/// FF-13: what a line added the list updates.
#[test]
fn a_list_updates_what_a_line_added() {
    anywhere(async |streaming| {
        let story = Story {
            known: &[],
            seen: &[Put("foo", "10")],
            missed: &[Put("foo", "15")],
        };
        let expected = ["added foo 10", "updated foo 15"];
        assert_eq!(story.heard(streaming).await, expected);
    });
}

/// FF-18: of three one was seen to end, one ends unseen, one stays.
#[test]
fn a_list_ends_what_it_does_not_bring_and_not_what_has_ended() {
    anywhere(async |streaming| {
        let story = Story {
            known: KNOWN,
            seen: &[Delete("baz")],
            missed: &[Delete("bar")],
        };
        let heard = story.heard(streaming).await;
        assert_eq!(heard[3..], ["deleted baz 7", "vanished bar 6"]);
    });
}

/// FF-19: a tombstone holds the newest state that was seen.
#[test]
fn a_list_ends_the_newest_known_state() {
    anywhere(async |streaming| {
        let story = Story {
            known: KNOWN,
            seen: &[Put("baz", "10")],
            missed: &[Delete("baz"), Delete("bar")],
        };
        let mut heard = story.heard(streaming).await.split_off(3);
        assert_eq!(heard.remove(0), "updated baz 10");
        assert_eq!(sorted(heard), ["vanished bar 6", "vanished baz 10"]);
    });
}

/// FF-20: one that ended and came back, and then vanished.
#[test]
fn a_list_ends_what_came_back() {
    anywhere(async |streaming| {
        let story = Story {
            known: KNOWN,
            seen: &[Delete("bar"), Put("bar", "100")],
            missed: &[Delete("bar"), Delete("baz")],
        };
        let mut heard = story.heard(streaming).await.split_off(3);
        let vanished = heard.split_off(2);
        assert_eq!(heard, ["deleted bar 6", "added bar 100"]);
        assert_eq!(sorted(vanished), ["vanished bar 100", "vanished baz 7"]);
    });
}

/// CT-10, CT-13: a handler is told what it missed: first what is gone, then what has changed
/// and what has come, in the list's order, none of it as initial.
#[test]
fn a_list_tells_deletions_first() {
    anywhere(async |streaming| {
        let story = Story {
            known: &[("pod1", "1"), ("pod2", "2"), ("pod3", "3")],
            seen: &[],
            missed: &[
                Put("pod4", "6"),
                Put("pod2", "5"),
                Put("pod1", "4"),
                Delete("pod3"),
            ],
        };
        let expected = [
            "vanished pod3 3",
            "updated pod1 4",
            "updated pod2 5",
            "added pod4 6",
        ];
        assert_eq!(story.heard(streaming).await[3..], expected);
    });
}

/// BX-09, BX-29: an object that took over a name ends the one before it, among the deletions.
#[test]
fn an_object_that_took_over_a_name_ends_the_one_before_it() {
    anywhere(async |streaming| {
        let story = Story {
            known: &[("pod1", "1"), ("pod2", "2")],
            seen: &[],
            missed: &[Put("pod1", "4"), Delete("pod2"), Put("pod2", "5")],
        };
        let expected = ["vanished pod2 2", "updated pod1 4", "added pod2 5"];
        assert_eq!(story.heard(streaming).await[2..], expected);
    });
}

/// SI-42, CT-11: an empty list after an expired watch ends everything, once.
#[test]
fn an_empty_list_ends_everything_once() {
    anywhere(async |streaming| {
        let story = Story {
            known: &[("secret1", "1")],
            seen: &[Put("secret2", "2")],
            missed: &[Delete("secret1"), Delete("secret2")],
        };
        let heard = story.heard(streaming).await;
        assert_eq!(heard[..2], ["initial secret1 1", "added secret2 2"]);
        let expected = ["vanished secret1 1", "vanished secret2 2"];
        assert_eq!(sorted(heard[2..].to_vec()), expected);
    });
}
