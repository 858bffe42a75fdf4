use sim_apiserver::faults::{Action, Place};

use crate::server::{Server, event_of_first_watch};
use crate::time::anywhere;
use crate::watch_of::{Informed, Reflected};

const ERROR: &str = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"unable to read the object from storage","reason":"InternalError","code":500}}"#;

/// RF-01: an error in the stream closes the watch, though the server would go on with it.
#[test]
fn an_error_in_the_stream_closes_the_watch() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        let error = event_of_first_watch(streaming, 1, 0, in_place);
        server.faults().add(error);
        let reflected = Reflected::start(&server, server.options(streaming));
        reflected.status_until(|now| now.watched).await;
        let watch = server.asked().len() - 1;
        server.put("b", "1").await;
        let closed = server.ended(watch).await;
        server.asked_until(watch + 2).await;
        assert!(closed <= server.asked_at()[watch + 1]);
        reflected.stop().await;
        server.stop().await;
    });
}

/// RF-20: an internal error in the stream is not tried again with a watch: what follows, after a
/// pause, is a list, which asks for nothing older than what was seen.
#[test]
fn an_internal_error_in_the_stream_leads_to_a_list_after_a_pause() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        let error = event_of_first_watch(streaming, 1, 0, in_place);
        server.faults().add(error);
        let reflected = Reflected::start(&server, server.options(streaming));
        let seen = reflected.until_lists(1).await.remove(0);
        reflected.status_until(|now| now.watched).await;
        let watch = server.asked().len() - 1;
        server.put("b", "1").await;
        let status = reflected.status_until(|now| now.failures == 1).await;
        let why = status.error.unwrap().to_string();
        assert!(why.contains("unable to read the object"), "{why}");
        let closed = server.ended(watch).await;
        let asked = server.asked_until(watch + 2).await;
        let list = asked[watch + 1].replace("stream", "list");
        assert_eq!(list, format!("list rv={seen}"));
        let pause = (server.asked_at()[watch + 1] - closed).as_secs_f64();
        assert!((0.7..1.8).contains(&pause), "{pause}");
        reflected.until_lists(2).await;
        reflected.stop().await;
        server.stop().await;
    });
}

/// RF-33: what was deleted in a way that the history cannot tell is missing in the list that
/// follows the error: one tombstone, and nobody else is touched.
#[test]
fn what_an_unsafe_deletion_took_is_removed_by_the_list_after_the_error() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        for name in ["a", "foo"] {
            server.put(name, "1").await;
        }
        let error = event_of_first_watch(streaming, 2, 0, in_place);
        server.faults().add(error);
        let informed = Informed::start(&server, server.options(streaming));
        assert!(informed.registration.synced().await);
        informed.watching().await;
        server.delete("foo").await;
        informed.holds(&[("a", "1")]).await;
        server.put("a", "2").await;
        informed.holds(&[("a", "2")]).await;
        let mut heard = informed.heard.until(4).await;
        heard[..2].sort();
        assert_eq!(
            heard,
            ["initial a", "initial foo", "vanished foo", "updated a"]
        );
        let notes = informed.heard.notes();
        let listed = notes.iter().find(|it| it.words() == "initial a").unwrap();
        assert_eq!((&*notes[3].value, &notes[3].uid), ("2", &listed.uid));
        assert_eq!(notes[3].old.as_ref(), Some(&listed.version));
        let seen = informed.informer.lister().resource_version();
        assert_eq!(seen.as_ref(), Some(&notes[3].version));
        informed.stop().await;
        server.stop().await;
    });
}

fn in_place(of_event: Place) -> Action {
    Action::malformed(of_event, ERROR)
}
