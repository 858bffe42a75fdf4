use controller_core::controllers::min_replicas::Deployment;
use controller_core::store::cache;
use controller_core::watch::WatchEvent;
use serde_json::Value;
use sim_apiserver::many_deployments;

use crate::{MEMORY, NOISE, alone};

const OBJECTS: u32 = 10_000;

/// Of each Deployment in the cache: the object, its key, and its places in the tables.
const KEPT: usize = 270;
/// The same while the first list is being put into the cache.
const PEAK: usize = 400;

fn as_the_server_sends_it((number, mut object): (usize, Value)) -> String {
    let metadata = &mut object["metadata"];
    metadata["uid"] = format!("0a1b2c3d-4e5f-6071-8293-{number:012}").into();
    metadata["resourceVersion"] = (1_000_000 + number).to_string().into();
    metadata["managedFields"] = serde_json::json!([{"manager": "kubectl", "operation": "Apply"}]);
    object.to_string()
}

/// At this cost 100,000 Deployments fit into 64 MB, with room for what reads them.
#[test]
fn a_cached_deployment_is_a_few_hundred_bytes() {
    let _alone = alone();
    let (mut writer, lister) = cache::<Deployment>(Vec::new());
    let before = MEMORY.current_usage();
    writer.apply(WatchEvent::ListStarted { fresh: false });
    for text in many_deployments(0..OBJECTS)
        .enumerate()
        .map(as_the_server_sends_it)
    {
        let object = serde_json::from_str(&text).unwrap();
        writer.apply(WatchEvent::Listed(object));
    }
    MEMORY.reset_peak_usage();
    let deltas = writer.apply(WatchEvent::ListDone {
        resource_version: "2000000".to_owned(),
        restored: false,
    });
    let peak = MEMORY.peak_usage() - before;
    drop(deltas);
    let kept = MEMORY.current_usage() - before;

    let objects = lister.len();
    println!(
        "{} bytes kept, {} at the peak",
        kept / objects,
        peak / objects
    );
    assert!(kept < objects * KEPT + NOISE, "{kept} bytes kept");
    assert!(peak < objects * PEAK + NOISE, "{peak} bytes at the peak");
}
