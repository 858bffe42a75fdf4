use std::sync::Arc;

use controller_core::handler::HandlerFuncs;
use controller_core::watch::Object;
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;

use crate::cases::gap;
use crate::heard::{Note, value};
use crate::server::Server;
use crate::time::anywhere;
use crate::watch_of::Informed;

/// BX-09: deleted and made anew while nobody looked. That is the end of one object and the
/// beginning of another, and no change of either.
#[test]
fn an_object_that_was_replaced_unseen_is_heard_as_deleted_and_added() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        server.put("a", "1").await;
        gap::prepare(&server, streaming, 1);
        let informed = Informed::start(&server, server.options(streaming));
        gap::miss(&server, &informed, async || {
            server.delete("a").await;
            server.put("a", "2").await;
        })
        .await;
        let notes = informed.heard.until_notes(|notes| notes.len() == 4).await;
        let words: Vec<_> = notes.iter().map(Note::words).collect();
        assert_eq!(
            words,
            ["initial a", "added trigger", "vanished a", "added a"]
        );
        assert_eq!(
            notes[2].uid, notes[0].uid,
            "the end of the one that was known"
        );
        assert_ne!(notes[3].uid, notes[0].uid);
        assert_eq!((&*notes[2].value, &*notes[3].value), ("1", "2"));
        informed.stop().await;
        server.stop().await;
    });
}

/// BX-29, CT-10: a list after a gap tells deletions first, that of a replaced object too, and
/// by then the cache shows all of the new state.
#[test]
fn deletions_are_told_first_and_by_then_the_cache_shows_the_new_state() {
    anywhere(async |streaming| {
        let server = Server::start().await;
        for name in ["changed", "gone", "replaced", "same"] {
            server.put(name, "1").await;
        }
        gap::prepare(&server, streaming, 4);
        let informed = Informed::start(&server, server.options(streaming));
        assert!(informed.registration.synced().await);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (lister, sees) = (informed.informer.lister(), Arc::clone(&seen));
        let handler = HandlerFuncs::<ConfigMap>::new().on_delete(move |deleted| {
            let all = lister.list();
            let pair = |it: &Arc<ConfigMap>| (it.key().name().to_owned(), value(it));
            let mut now: Vec<_> = all.iter().map(pair).collect();
            now.sort();
            let version = lister.resource_version();
            let name = deleted.last_known().key().name().to_owned();
            sees.lock().push((name, version, now));
        });
        let looks = informed.informer.add_handler(handler);
        assert!(looks.synced().await);
        gap::miss(&server, &informed, async || {
            server.delete("gone").await;
            server.delete("replaced").await;
            server.put("replaced", "2").await;
            server.put("changed", "2").await;
            server.put("new", "1").await;
        })
        .await;
        let mut news = informed.heard.until(10).await.split_off(5);
        news[..2].sort();
        news[2..].sort();
        let expected = [
            "vanished gone",
            "vanished replaced",
            "added new",
            "added replaced",
            "updated changed",
        ];
        assert_eq!(news, expected);
        informed.stop().await;
        let now = owned(&[
            ("changed", "2"),
            ("new", "1"),
            ("replaced", "2"),
            ("same", "1"),
            ("trigger", "1"),
        ]);
        let seen = std::mem::take(&mut *seen.lock());
        assert_eq!(seen.len(), 2);
        for (name, version, cache) in &seen {
            assert_eq!(*cache, now, "when {name} was told");
            assert_eq!(*version, seen[0].1);
        }
        server.stop().await;
    });
}

fn owned(objects: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    objects.iter().map(owned).collect()
}
