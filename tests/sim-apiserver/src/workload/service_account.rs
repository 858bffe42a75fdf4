//! One namespace → its ServiceAccount `default`, which every namespace has.

use serde_json::json;

use super::owner::{Workload, living, write_options};
use crate::{
    kinds::Kinds,
    lifecycle,
    store::{Key, State},
};

const NAME: &str = "default";

pub(super) fn reconcile(state: &mut State, kinds: &Kinds, workload: &Workload, namespace: &str) {
    let accounts = workload.service_accounts;
    let there = state.get(accounts, &Key::new(namespace, NAME)).is_some();
    if there || living(state, workload.namespaces, namespace).is_none() {
        return;
    }
    let account = json!({"metadata": {"name": NAME}});
    let options = write_options(kinds, accounts);
    // Nothing stands in its way: the namespace lives.
    let _ = lifecycle::create(state, kinds, accounts, namespace, account, &options);
}
