//! Watches that come to something, and say nothing.
use std::time::Duration;

use crate::script::{Answer, Record, Step, bookmark, line, list, object, paged, play, play_with};

const MINUTE: Duration = Duration::from_secs(60);

/// Cut after `seconds`, as by a balancer; should a list be asked for, it is this one.
fn cut_after(seconds: u64) -> Answer {
    let steps = vec![Step::Wait(Duration::from_secs(seconds)), Step::Reset];
    either(Answer::Stream(steps))
}

fn either(watch: Answer) -> Answer {
    let list = list("100", &[("web", "90")]);
    Answer::Either(Box::new(list), Box::new(watch))
}

/// When lists were asked for, since the start.
fn lists(record: &Record) -> Vec<Duration> {
    let all = record.requests.iter().zip(&record.times);
    all.filter(|(request, _)| request.starts_with("list"))
        .map(|(_, at)| *at)
        .collect()
}

fn gaps(times: &[Duration]) -> impl Iterator<Item = Duration> {
    times.windows(2).map(|pair| pair[1] - pair[0])
}

/// C-05, and a proxy that holds back every line: on the wire the two are the same. So there is
/// a list now and then, and no more than that.
#[tokio::test(start_paused = true)]
async fn quiet_watches_that_are_cut_lead_to_a_list_now_and_then() {
    let mut script = vec![list("100", &[("web", "90")])];
    script.extend((0..600).map(|_| cut_after(5)));
    // What nobody told.
    script.insert(
        500,
        Answer::Either(
            Box::new(list("200", &[("web", "150")])),
            Box::new(Answer::Stream(vec![Step::Wait(Duration::from_secs(5))])),
        ),
    );
    let record = play(script).await;
    let lists = lists(&record);
    assert!((4..=10).contains(&lists.len()), "{lists:?}");
    for gap in gaps(&lists) {
        assert!(
            gap >= 5 * MINUTE && gap <= 10 * MINUTE + Duration::from_secs(5),
            "{gap:?}"
        );
    }
    // Neither a failure nor a pause.
    assert!(record.status.error.is_none() && record.waits.is_empty());
    for gap in gaps(&record.times) {
        assert!(gap <= Duration::from_secs(5), "{gap:?}");
    }
}

/// A word from time to time is all that is asked for: of a quiet kind a bookmark.
#[tokio::test(start_paused = true)]
async fn watches_that_are_cut_and_say_something_lead_to_no_list() {
    let mut script = vec![list("100", &[])];
    for n in 0..12 {
        script.extend((0..40).map(|_| cut_after(5)));
        let steps = vec![bookmark(&(101 + n).to_string()), Step::Wait(MINUTE)];
        script.push(either(Answer::Stream(steps)));
    }
    let record = play(script).await;
    assert!(record.times.last().unwrap() > &(50 * MINUTE));
    assert_eq!(lists(&record).len(), 1, "{:?}", record.requests);
}

/// A word that nobody can read is none, and leads to a list for itself.
#[tokio::test(start_paused = true)]
async fn one_cut_and_one_silent_watch_after_the_other_lead_to_a_list_too() {
    let mut script = vec![list("100", &[])];
    for _ in 0..40 {
        script.push(cut_after(20));
        script.push(either(Answer::Stream(vec![Step::Hang])));
    }
    let record = play(script).await;
    // A watch that hangs takes more than five minutes itself.
    for gap in gaps(&lists(&record)) {
        assert!(gap >= 5 * MINUTE && gap <= 32 * MINUTE, "{gap:?}");
    }
    assert!(lists(&record).len() > 3);
}

/// A server without bookmarks has nothing to say of a kind in which nothing happens, and ends
/// its watches when it was told to: it is asked far less often. Its clock started before its
/// answer came.
#[tokio::test(start_paused = true)]
async fn watches_that_the_server_ends_in_time_are_believed_for_longer() {
    for early in [0, 50, 4000].map(Duration::from_millis) {
        let mut script = vec![list("100", &[])];
        script.extend((0..60).map(|_| either(Answer::Quiet(early))));
        let record = play_with(paged(), script).await;
        let lists = lists(&record);
        assert!(lists.len() > 2, "{lists:?}");
        for gap in gaps(&lists) {
            assert!(
                gap >= 30 * MINUTE && gap <= 71 * MINUTE,
                "{early:?}: {gap:?}"
            );
        }
        assert!(record.status.error.is_none());
    }
}

/// A proxy that keeps an answer has the same for each watch from the same version: none says
/// anything new, and what came behind is never told.
#[tokio::test(start_paused = true)]
async fn watches_that_say_the_same_again_and_again_lead_to_a_list_now_and_then() {
    let repeated: [fn() -> Step; 2] = [|| bookmark("100"), || line("ADDED", object("web", "100"))];
    for repeated in repeated {
        let mut script = vec![list("100", &[])];
        script.extend((0..600).map(|_| {
            let steps = vec![repeated(), Step::Wait(Duration::from_secs(20)), Step::Reset];
            either(Answer::Stream(steps))
        }));
        let record = play(script).await;
        let lists = lists(&record);
        assert!(lists.len() > 2, "{lists:?}");
        for gap in gaps(&lists) {
            assert!(gap >= 30 * MINUTE && gap <= 61 * MINUTE, "{gap:?}");
        }
    }
}
