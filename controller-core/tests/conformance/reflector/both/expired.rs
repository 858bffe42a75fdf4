use controller_core::watch::Streaming;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, StatusFault};

use crate::server::{Server, first_watch, lists};
use crate::time::anywhere;
use crate::watch_of::{Informed, Reflected};

/// RF-27: a list after an expired watch asks for nothing older than what was seen.
#[test]
fn a_list_after_an_expired_watch_keeps_the_version() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        let at = server.put("a", "1").await;
        let expired = Action::expired_in_stream;
        server.faults().add(first_watch(streaming, 1, 0, expired));
        let reflected = Reflected::start(&server, server.options(streaming));
        let seen = reflected.until_lists(2).await.remove(0);
        let expected = first_requests(streaming, &seen);
        assert_eq!(server.asked()[..expected.len()], expected);
        let listed = format!("listed a@{at}");
        let events = reflected.events();
        assert_eq!(events.iter().filter(|event| **event == listed).count(), 2);
        reflected.stop().await;
        server.stop().await;
    });
}

/// RF-28: that list has expired, too: one without a version follows at once, and brings what
/// came meanwhile.
#[test]
fn a_list_that_expired_is_repeated_at_once_without_a_version() {
    anywhere(async |streaming| {
        without_a_version(streaming, Action::status(410).reason("Expired")).await;
    });
}

/// RF-30: the same for "too large resource version", in the three shapes that there are. The
/// server asks for a second of patience with them; no layer of the client repeats the request.
#[test]
fn a_version_from_the_future_is_given_up_at_once() {
    anywhere(async |streaming| {
        let cause = json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "?"}]});
        let message = json!({"causes": [{"message": "Too large resource version"}]});
        let too_large = || Action::status(504).retry_after(1);
        for answer in [
            too_large().details(cause),
            too_large().details(message),
            too_large().message("Too large resource version: 99, current: 9"),
        ] {
            without_a_version(streaming, answer).await;
        }
    });
}

/// The second list is refused like this. Four objects are there, and four more by then.
async fn without_a_version(streaming: Streaming, answer: StatusFault) {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let server = Server::start().await;
    for name in &NAMES[..4] {
        server.put(name, "1").await;
    }
    let faults = server.faults();
    let expired = Action::expired_in_stream;
    faults.add(first_watch(streaming, 4, 4, expired));
    faults.add(lists(streaming, Rule::new(answer)).attempts(2));
    let informed = Informed::start(&server, server.options(streaming));
    informed.watching().await;
    for name in &NAMES[4..] {
        server.put(name, "1").await;
    }
    informed.holds(&NAMES.map(|name| (name, "1"))).await;
    informed.status_until(|now| now.lists == 2).await;
    let list = match streaming {
        Streaming::Auto => 1,
        Streaming::Never => 2,
    };
    let asked = server.asked_until(list + 2).await;
    let kind = asked[list].split(' ').next().unwrap();
    assert_ne!(asked[list], format!("{kind} rv="));
    let limit = match streaming {
        Streaming::Auto => "",
        Streaming::Never => " limit=500",
    };
    assert_eq!(asked[list + 1], format!("{kind} rv={limit}"));
    assert!(server.pauses()[list] < 0.5, "at once");
    assert_eq!(informed.status_until(|_| true).await.failures, 0);
    informed.stop().await;
    server.stop().await;
}

fn first_requests(streaming: Streaming, seen: &str) -> Vec<String> {
    match streaming {
        Streaming::Auto => vec!["stream rv=".to_owned(), format!("stream rv={seen}")],
        Streaming::Never => vec![
            "list rv=0 limit=500".to_owned(),
            format!("watch rv={seen}"),
            format!("list rv={seen}"),
        ],
    }
}
