//! Many threads at once.
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashMap;
use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::super::*;
use super::scene::{Heard, Scene, options, w};
use crate::handler::HandlerFuncs;
use crate::store::Deleted;
use crate::watch::testing::Widget;

/// SI-05: whether a handler comes before, during or after the start and the first list, it
/// hears of each object once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn handlers_added_beside_the_start_hear_of_each_object_once() {
    for _ in 0..100 {
        let mut scene = Scene::idle(options());
        let heard = Heard::default();
        let (informer, its) = (scene.informer.clone(), heard.clone());
        let mut adding = JoinSet::new();
        adding.spawn(async move { informer.add_handler(its.handler()) });
        scene.start();
        scene.list("10", [w("a", "1"), w("b", "2")]);
        scene.add("c", "11");
        let registration = adding.join_next().await.unwrap().unwrap();
        assert!(registration.synced().await);
        while registration.pending() > 0 {
            tokio::task::yield_now().await;
        }
        let mut names: Vec<_> = heard.now();
        for text in &mut names {
            *text = text.split_once(' ').unwrap().1.to_owned();
        }
        names.sort();
        assert_eq!(names, ["a@1", "b@2", "c@11"]);
        scene.stop().await;
    }
}

/// What one handler believes to exist, and whether it ever heard something impossible.
#[derive(Clone, Default)]
struct Believes {
    objects: Arc<Mutex<HashMap<String, String>>>,
    impossible: Arc<AtomicUsize>,
}

impl Believes {
    fn handler(&self) -> HandlerFuncs<Widget> {
        let put = |it: &Self, object: &Widget| {
            let version = object.resource_version().to_owned();
            it.objects
                .lock()
                .insert(object.key().name().to_owned(), version)
        };
        let (add, update, delete) = (self.clone(), self.clone(), self.clone());
        HandlerFuncs::new()
            .on_add(move |new: &Arc<Widget>, _| {
                add.expect(put(&add, new).is_none());
            })
            .on_update(move |old, new| {
                let known = put(&update, new);
                update.expect(known.as_deref() == Some(old.resource_version()));
            })
            .on_delete(move |deleted: &Deleted<Widget>| {
                let key = deleted.last_known().key();
                delete.expect(delete.objects.lock().remove(key.name()).is_some());
            })
    }

    fn expect(&self, possible: bool) {
        self.impossible
            .fetch_add(usize::from(!possible), Ordering::Relaxed);
    }
}

/// SI-14: a hundred tasks add and remove handlers under ten thousand events, and a stop in the
/// middle. Each handler hears a possible story, and nothing is left of those that went.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn handlers_that_come_and_go_under_load_hear_possible_stories() {
    let mut scene = Scene::with(options().buffer(8));
    scene.list("10", (0..20).map(|number| w(&number.to_string(), "1")));
    let stays = Believes::default();
    let registration = scene.informer.add_handler(stays.handler());
    let mut guests = JoinSet::new();
    for _ in 0..100 {
        let informer = scene.informer.clone();
        guests.spawn(async move {
            let mut impossible = 0;
            for _ in 0..10 {
                let guest = Believes::default();
                let registration = informer.add_handler(guest.handler());
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                registration.remove().await;
                impossible += guest.impossible.load(Ordering::Relaxed);
            }
            impossible
        });
    }
    for event in 0..10_000_u32 {
        let (name, version) = ((event % 20).to_string(), (event + 100).to_string());
        match event / 20 % 3 {
            0 => scene.modify(&name, &version),
            1 => scene.delete(&name, &version),
            _ => scene.add(&name, &version),
        }
        if event == 5_000 {
            scene.stop().await;
            scene.start();
        }
        if event % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let impossible: usize = guests.join_all().await.into_iter().sum();
    assert_eq!(impossible, 0);
    assert_eq!(scene.handlers().0, 1);
    while registration.pending() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(stays.impossible.load(Ordering::Relaxed), 0);
    let cached: HashMap<String, String> = scene
        .informer
        .lister()
        .list()
        .iter()
        .map(|it| (it.key().name().to_owned(), it.resource_version().to_owned()))
        .collect();
    assert_eq!(*stays.objects.lock(), cached);
    scene.stop().await;
    assert_eq!(scene.handlers(), (1, 0));
}
