use captured_log::CapturedLog;
use controller_core::client::Verb as Asked;
use controller_core::watch::ListError;
use sim_apiserver::faults::{Action, Rule, Verb};
use tracing::Level;

use super::waits::{short, then_refuse};
use crate::requests::{assert_at_once, assert_waits, of_list_and_watch, plain_watch};
use crate::server::Server;
use crate::time::anywhere;
use crate::watch_of::Informed;

/// RW-05: who may not watch (any more) is told so at once, with the rule that is missing, asks
/// slowly and without a list, and goes on where it ended once it may.
#[test]
fn a_watch_that_is_denied_is_told_and_asked_for_until_it_is_allowed() {
    for code in [401, 403] {
        anywhere(async |streaming| {
            let server = Server::start().await;
            then_refuse(&server, streaming, Action::status(code).into(), 2);
            let options = short(server.options(streaming));
            let informed = Informed::start(&server, options);
            informed.watching().await;
            let version = server.put("one", "1").await;
            let now = informed.status_until(|now| now.denied().is_some()).await;
            let denied = now.denied().unwrap();
            assert_eq!((denied.verb, denied.code), (Asked::Watch, code));
            assert_eq!(denied.target.resource, "configmaps");
            assert_eq!(denied.target.namespace.as_deref(), Some(server.namespace()));
            server.put("two", "1").await;
            informed.holds(&[("one", "1"), ("two", "1")]).await;
            let at = of_list_and_watch(streaming);
            assert_eq!(server.asked()[at..], vec![plain_watch(&version); 3]);
            // The longest wait from the first denial on.
            assert_waits(&server.pauses()[at..], &[0.4, 0.4]);
            informed.stop().await;
            server.stop().await;
        });
    }
}

/// kube-rs 50: who may list and not watch has its list once, is told that it is the watch that
/// is denied, and does not list in a circle. A permission that comes later is enough.
#[test]
fn who_may_list_but_not_watch_does_not_list_in_a_circle() {
    anywhere(async |streaming| {
        let (log, _guard) = CapturedLog::start(Level::WARN);
        let server = Server::start().await;
        server.put("one", "1").await;
        let denied = Rule::new(Action::status(403).message("you may not"));
        let denied = server.faults().add(denied.verb(Verb::Watch));
        let options = short(server.options(streaming));
        let informed = Informed::start(&server, options);
        let now = informed.status_until(|now| now.failures == 3).await;
        assert!(now.synced && !now.watched);
        assert_eq!(now.denied().map(|it| it.verb), Some(Asked::Watch));
        informed.holds(&[("one", "1")]).await;
        let asked = server.asked();
        let lists = asked.iter().filter(|it| it.starts_with("list"));
        assert_eq!(lists.count(), 1, "{asked:?}");
        let rule = format!(
            "cannot watch configmaps in namespace {}: you may not",
            server.namespace()
        );
        let text = log.text();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains(&rule), "{text}");
        server.faults().remove(denied);
        server.put("two", "1").await;
        informed.holds(&[("one", "1"), ("two", "1")]).await;
        assert!(informed.watching().await.error.is_none());
        informed.stop().await;
        server.stop().await;
    });
}

/// BX-12: a kind that is not there yet, or that may not be listed yet, is told at once and by
/// its type, so that a program may give up; who waits has it when it is there.
#[test]
fn a_kind_that_cannot_be_listed_yet_is_told_at_once_and_comes_later() {
    for code in [403, 404] {
        anywhere(async |streaming| {
            let server = Server::start().await;
            server.put("one", "1").await;
            let missing = server
                .faults()
                .add(Rule::new(Action::status(code)).resource("configmaps"));
            let options = short(server.options(streaming));
            let informed = Informed::start(&server, options);
            let now = informed.status_until(|now| now.error.is_some()).await;
            assert_at_once(server.pauses().iter().sum());
            let error = now.error.unwrap();
            let ListError::Api(api) = &*error else {
                panic!("{error:?}")
            };
            assert_eq!(api.is_not_found(), code == 404);
            let answer = api.answer().unwrap();
            assert_eq!((answer.verb, answer.code), (Asked::List, code));
            assert_eq!(error.denial().is_some(), code == 403);
            informed.status_until(|now| now.failures == 3).await;
            assert!(!informed.informer.has_synced());
            server.faults().remove(missing);
            assert!(informed.registration.synced().await);
            informed.holds(&[("one", "1")]).await;
            informed.stop().await;
            server.stop().await;
        });
    }
}
