use controller_core::watch::{Streaming, WatchOptions};
use http::HeaderValue;
use serde_json::json;
use sim_apiserver::faults::{Action, Rule, Verb};

use super::named::server;
use crate::requests::plain_watch;
use crate::server::{first_watch, lists, watches};
use crate::time::{anywhere, anywhere_paged};
use crate::watch_of::Reflected;

/// kube-rs 7: client-go's table of versions and limits counts (RF-13), so that version `0`
/// goes with a limit; what kube lost is what matters here: no version gets lost, and none is
/// sent beside a continue token.
#[test]
fn no_page_after_the_first_names_a_version() {
    anywhere_paged(async || {
        let server = server(&["a", "b", "c", "d", "e"]).await;
        let expired = Rule::new(Action::expired_in_stream(0));
        server.faults().add(watches(expired).attempts(1));
        let options = WatchOptions {
            page_size: Some(2),
            ..server.options(Streaming::Never)
        };
        let reflected = Reflected::start(&server, options);
        let version = &reflected.until_lists(2).await[0];
        assert_eq!(
            server.asked()[..5],
            [
                "list rv=0 limit=2",
                &format!("watch rv={version}"),
                &format!("list rv={version} limit=2"),
                "list next limit=2",
                "list next limit=2",
            ]
        );
        for seen in server.faults().requests() {
            let info = &seen.info;
            let matching = info.query("resourceVersionMatch");
            match (info.query("continue"), info.query("resourceVersion")) {
                // With a limit alone it would mean exactly that version, the past.
                (None, Some(it)) if it == version && info.verb == Verb::List => {
                    assert_eq!(matching, Some("NotOlderThan"));
                }
                _ => assert_eq!(matching, None, "{info:?}"),
            }
        }
        reflected.stop().await;
        server.stop().await;
    });
}

/// kube-rs 8: versions and continue tokens that expire faster than pages are read. A list in
/// one piece ends that; a fresh token in the refusal is no way to go on.
#[test]
fn pages_that_expire_every_time_end_in_a_list_in_one_piece() {
    let fresh_token = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {"continue": "fresh"},
        "status": "Failure", "reason": "Expired", "code": 410,
        "message": "The provided continue parameter is too old to display a consistent list result.",
    });
    let json = HeaderValue::from_static("application/json");
    let too_old = Action::status(410).body(json, fresh_token.to_string());
    anywhere(async |streaming| {
        let server = server(&["a", "b", "c", "d", "e"]).await;
        let faults = server.faults();
        let gone = Rule::new(Action::Expired);
        faults.add(lists(streaming, gone).query("resourceVersion", "*"));
        let next = Rule::new(too_old.clone()).verb(Verb::List);
        faults.add(next.query("continue", "*"));
        faults.add(first_watch(streaming, 5, 0, Action::expired_in_stream));
        let options = WatchOptions {
            page_size: Some(2),
            ..server.options(streaming)
        };
        let reflected = Reflected::start(&server, options);
        let version = &reflected.until_lists(2).await[0];
        let pages = ["list rv= limit=2", "list next limit=2", "list rv="];
        let expected = match streaming {
            Streaming::Auto => vec![
                "stream rv=".to_owned(),
                format!("stream rv={version}"),
                "stream rv=".to_owned(),
            ],
            Streaming::Never => {
                let list = |first: &str| {
                    let first = format!("list rv={first} limit=2");
                    [first].into_iter().chain(pages.map(ToOwned::to_owned))
                };
                let watch = [plain_watch(version)];
                list("0").chain(watch).chain(list(version)).collect()
            }
        };
        assert_eq!(server.asked()[..expected.len()], expected);
        let events = reflected.events();
        let done = events.iter().rposition(|it| it.starts_with("done "));
        let list = events.iter().rposition(|it| it.ends_with("list"));
        // Nothing of the attempts before it counts.
        assert_eq!(done.unwrap() - list.unwrap(), 6, "{events:?}");
        reflected.stop().await;
        server.stop().await;
    });
}
