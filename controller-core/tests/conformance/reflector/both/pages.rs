use controller_core::watch::Streaming;
use sim_apiserver::faults::{Action, Rule, Verb};

use crate::server::{Server, first_watch};
use crate::time::anywhere_paged;
use crate::watch_of::Informed;

const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// RF-24: a page size that was asked for holds for every list, and for each of its pages.
#[test]
fn a_list_is_read_in_pages_of_the_size_that_was_asked_for() {
    anywhere_paged(async || {
        let (server, informed) = listed_again(&NAMES).await;
        let asked = server.asked_until(6).await;
        let seen = asked[1].strip_prefix("watch rv=").unwrap();
        assert_eq!(
            asked[2..5],
            [
                &format!("list rv={seen} limit=4"),
                "list next limit=4",
                "list next limit=4"
            ]
        );
        assert_eq!(asked[0], "list rv=0 limit=4");
        // A limit alone would ask for that very version.
        let matching = server.query(2, "resourceVersionMatch");
        assert_eq!(matching.as_deref(), Some("NotOlderThan"));
        assert_eq!(informed.cached().len(), NAMES.len());
        informed.stop().await;
        server.stop().await;
    });
}

/// RF-29: a later page that has expired is followed by one list in one piece, from the start and
/// with the version that it had.
#[test]
fn an_expired_page_leads_to_one_list_in_one_piece() {
    anywhere_paged(async || {
        let server = Server::start().await;
        let expired = Rule::new(Action::Expired).verb(Verb::List);
        server.faults().add(expired.query("continue", "*"));
        let (server, informed) = listed_again_on(server, &NAMES[..8]).await;
        let asked = server.asked_until(5).await;
        let seen = asked[1].strip_prefix("watch rv=").unwrap();
        assert_eq!(
            asked[2..5],
            [
                &format!("list rv={seen} limit=4"),
                "list next limit=4",
                &format!("list rv={seen}")
            ]
        );
        assert_eq!(informed.cached().len(), 8);
        assert_eq!(informed.heard.words().len(), 8, "nothing vanished");
        informed.stop().await;
        server.stop().await;
    });
}

async fn listed_again(names: &[&str]) -> (Server, Informed) {
    listed_again_on(Server::start().await, names).await
}

/// Listed with pages of four, and once more because the watch expired.
async fn listed_again_on(server: Server, names: &[&str]) -> (Server, Informed) {
    for name in names {
        server.put(name, "1").await;
    }
    let expired = Action::expired_in_stream;
    server
        .faults()
        .add(first_watch(Streaming::Never, 0, 0, expired));
    let mut options = server.options(Streaming::Never);
    options.page_size = Some(4);
    let informed = Informed::start(&server, options);
    informed.status_until(|now| now.lists == 2).await;
    (server, informed)
}
