use captured_log::CapturedLog;
use serde_json::json;
use sim_apiserver::faults::{Action, Place};
use tracing::Level;

use crate::requests::{later_list, of_list_and_watch};
use crate::server::{Server, event_of_first_watch, first_watch};
use crate::time::anywhere;
use crate::watch_of::Informed;

/// RW-06: an error inside of a watch, expected or not, is not the end: the list that follows
/// brings what the error stood in place of, after as long as the server asked for.
#[test]
fn an_error_inside_a_watch_hides_no_event() {
    for (code, reason, seconds, floor) in [
        (504, "Timeout", 2, 2.0),
        (500, "InternalError", 0, 0.8),
        (418, "Teapot", 0, 0.8),
    ] {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                            "code": code, "reason": reason, "message": "as the test says",
                            "details": {"retryAfterSeconds": seconds}});
        let error = json!({"type": "ERROR", "object": status}).to_string();
        anywhere(async |streaming| {
            let server = Server::start().await;
            let in_place = |at: Place| Action::malformed(at, error.clone());
            server
                .faults()
                .add(event_of_first_watch(streaming, 0, 1, in_place));
            let informed = Informed::start(&server, server.options(streaming));
            informed.watching().await;
            let six = server.put("six", "1").await;
            informed.heard.until(1).await;
            server.put("seven", "1").await;
            informed.heard.until(2).await;
            assert_eq!(informed.heard.words(), ["added six", "added seven"]);
            let at = of_list_and_watch(streaming);
            assert_eq!(server.asked()[at], later_list(streaming, &six));
            let now = informed.watching().await;
            assert_eq!((now.lists, now.failures), (2, 1));
            let until = server.asked_at()[at] - server.asked_at()[at - 1];
            assert!(until.as_secs_f64() >= floor, "{until:?}");
            informed.stop().await;
            server.stop().await;
        });
    }
}

/// kube-rs 2: the version expires under a healthy watch. That is a list at once, no end, no
/// failure, and no deletion of what lives.
#[test]
fn a_healthy_watch_that_expires_costs_a_list_and_nothing_else() {
    anywhere(async |streaming| {
        let (log, _guard) = CapturedLog::start(Level::WARN);
        let server = Server::start().await;
        server.put("lives", "1").await;
        server.put("goes", "1").await;
        let expires = Action::expired_in_stream;
        server.faults().add(first_watch(streaming, 2, 1, expires));
        let informed = Informed::start(&server, server.options(streaming));
        informed.watching().await;
        let version = server.put("news", "1").await;
        informed.status_until(|now| now.lists == 2).await;
        let now = informed.watching().await;
        assert_eq!((now.lists, now.failures), (2, 0));
        server.delete("goes").await;
        informed.holds(&[("lives", "1"), ("news", "1")]).await;
        let mut words = informed.heard.words();
        words[..2].sort();
        assert_eq!(
            words,
            [
                "initial goes",
                "initial lives",
                "added news",
                "deleted goes"
            ]
        );
        let at = of_list_and_watch(streaming);
        assert_eq!(server.asked()[at], later_list(streaming, &version));
        assert_eq!(log.text(), "");
        informed.stop().await;
        server.stop().await;
    });
}
