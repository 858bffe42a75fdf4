//! What is asked of the server: the same for a loop and for one pass.

use crate::client::Scope;
use crate::controllers::min_replicas::Settings;
use crate::watch::{LabelSelector, WatchOptions};

/// The Deployments that carry the opt-in key, whatever its value: the plan judges the
/// value, so that `True` can be explained.
pub(super) fn deployments(scope: &Scope, settings: &Settings) -> WatchOptions {
    let opted_in = LabelSelector::exists(settings.opt_in.key())
        .expect("invariant: an opt-in key is a label key");
    let selector = match &settings.selector {
        Some(narrower) => opted_in.and(narrower.clone()),
        None => opted_in,
    };
    WatchOptions::new(scope.clone()).labels(Some(selector))
}

/// All namespaces, or the one that `scope` names.
pub(super) fn namespaces(scope: &Scope) -> WatchOptions {
    let all = WatchOptions::new(Scope::All);
    match scope {
        Scope::All => all,
        Scope::Namespace(name) => all.fields(format!("metadata.name={name}")),
    }
}
