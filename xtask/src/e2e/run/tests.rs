use std::future::pending;

use super::*;

async fn end_of(work: impl Future<Output = Result<bool, Box<dyn Error>>>) -> End {
    let mut never = pin!(pending());
    until(&mut never, work).await
}

#[tokio::test]
async fn a_panic_comes_after_the_removal() {
    let end = end_of(async { panic!("in a scenario") }).await;
    assert!(matches!(end, End::Panicked(_)));
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| end.outcome(Ok(()))));
    let panic = outcome.err().unwrap();
    assert_eq!(panic.downcast_ref(), Some(&"in a scenario"));
}

#[tokio::test]
async fn an_interrupt_ends_the_scenarios_and_is_no_success() {
    let mut now = pin!(async { io::Result::Ok(()) });
    let end = until(&mut now, pending()).await;
    assert!(matches!(end, End::Interrupted));
    assert!(!end.outcome(Ok(())).unwrap());
}

#[tokio::test]
async fn a_failure_matters_more_than_what_follows() {
    let end = end_of(async { Err("no image".into()) }).await;
    let outcome = end.outcome(Err("no daemon".into()));
    assert_eq!(outcome.unwrap_err().to_string(), "no image");
}

#[tokio::test]
async fn what_cannot_be_removed_fails_a_good_run() {
    let end = end_of(async { Ok(true) }).await;
    let outcome = end.outcome(Err("no daemon".into()));
    assert_eq!(outcome.unwrap_err().to_string(), "no daemon");
    for good in [true, false] {
        let outcome = end_of(async { Ok(good) }).await.outcome(Ok(()));
        assert_eq!(outcome.unwrap(), good);
    }
}

/// Signals: each as soon as it is waited for.
fn at_once() -> std::future::Ready<()> {
    std::future::ready(())
}

/// A removal that is done when it is looked at for the `looks`-th time.
async fn removal(looks: usize) -> Result<(), Box<dyn Error>> {
    for _ in 1..looks {
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[tokio::test]
async fn the_first_interrupt_during_the_removal_leaves_nothing_behind() {
    let interruption = |before| Interruption {
        before,
        by_hand: Some("docker rm it"),
    };
    let first = interruption(false).bear(removal(2), at_once).await;
    first.unwrap();
    // The scenarios were interrupted, so this is the second one.
    let second = interruption(true).bear(removal(2), at_once).await;
    let text = second.unwrap_err().to_string();
    insta::assert_snapshot!(text, @"interrupted again; by hand: docker rm it");
    let second = interruption(false).bear(pending(), at_once).await;
    assert!(second.is_err());
}
