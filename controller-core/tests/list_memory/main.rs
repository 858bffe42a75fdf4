//! The high-water mark of a process that lists 100,000 Deployments into the min-replicas
//! cache, above the same process while idle. Measurements: they take long, and run alone.
//!
//! ```text
//! cargo xtask sim --objects 100000       # prints the KUBECONFIG to export
//! cargo test -p controller-core --test list_memory -- --ignored --nocapture from_a_server
//! cargo test -p controller-core --test list_memory -- --ignored --nocapture fed_item_by_item
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement is for who runs it"
)]
#![cfg(target_os = "linux")]

use std::fs;
use std::time::Duration;

use controller_core::client::{ClientOptions, Loader, Scope, build};
use controller_core::controllers::min_replicas::Deployment;
use controller_core::handler::HandlerFuncs;
use controller_core::informer::{InformerOptions, SharedInformer};
use controller_core::store::cache;
use controller_core::watch::{WatchEvent, WatchOptions};
use sim_apiserver::many_deployments;
use tokio_util::sync::CancellationToken;

const OBJECTS: u32 = 100_000;
const LIMIT_KB: u64 = 64 * 1024;

/// The resident set of this process.
struct Memory {
    idle_kb: u64,
}

impl Memory {
    /// Sets the mark back to what is resident now.
    fn idle() -> Self {
        fs::write("/proc/self/clear_refs", "5").expect("Linux has it");
        Self {
            idle_kb: status("VmRSS:"),
        }
    }

    /// Tells, and fails above the limit.
    fn check(&self, objects: usize) {
        let above = |field| status(field).saturating_sub(self.idle_kb);
        let (peak, now) = (above("VmHWM:"), above("VmRSS:"));
        println!(
            "{objects} objects: peak {peak} KB above {} KB idle, {now} KB at the end",
            self.idle_kb
        );
        assert!(peak < LIMIT_KB, "{peak} KB");
    }
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kb = line.and_then(|line| line.split_whitespace().next());
    kb.unwrap().parse().unwrap()
}

/// BX-28: the whole way, from the socket to a handler.
#[tokio::test(flavor = "current_thread")]
#[ignore = "needs the server of `cargo xtask sim --objects 100000` in KUBECONFIG"]
async fn from_a_server() {
    let loaded = Loader::new().load().unwrap();
    let client = build(&loaded, &ClientOptions::new("list-memory/1.0")).unwrap();
    let options = InformerOptions::new(WatchOptions::new(Scope::All));
    let informer = SharedInformer::<Deployment>::new(client, Deployment::RESOURCE, options);
    let handler = informer.add_handler(HandlerFuncs::new());
    let shutdown = CancellationToken::new();
    let memory = Memory::idle();
    tokio::join!(informer.run(shutdown.clone()), async {
        let synced = tokio::time::timeout(Duration::from_secs(300), handler.synced()).await;
        assert_eq!(synced, Ok(true), "{:?}", informer.status().borrow());
        memory.check(informer.lister().len());
        shutdown.cancel();
    });
    assert!(informer.lister().len() >= OBJECTS as usize);
}

/// The cache's part of it: each object is decoded, listed, and its JSON is gone.
#[test]
#[ignore = "a measurement: the mark is that of the whole process"]
fn fed_item_by_item() {
    let (mut writer, lister) = cache::<Deployment>(Vec::new());
    let texts = many_deployments(0..OBJECTS)
        .enumerate()
        .map(|(number, mut object)| {
            object["metadata"]["uid"] = format!("0a1b2c3d-4e5f-6071-8293-{number:012}").into();
            object["metadata"]["resourceVersion"] = (1_000_000 + number).to_string().into();
            object.to_string()
        });
    let memory = Memory::idle();
    writer.apply(WatchEvent::ListStarted { fresh: false });
    for text in texts {
        writer.apply(WatchEvent::Listed(serde_json::from_str(&text).unwrap()));
    }
    let deltas = writer.apply(WatchEvent::ListDone {
        resource_version: "2000000".to_owned(),
        restored: false,
    });
    assert_eq!(deltas.len(), OBJECTS as usize);
    drop(deltas);
    memory.check(lister.len());
}
