//! Who owns a number, by the server's own record.

use serde_json::{Map, Value};

/// Who owns the number that is fought over, other than us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Opponent {
    /// Nobody knows: it was not looked up, or that failed.
    #[default]
    Unknown,
    /// No field manager does, by the server's record: it keeps none, or what lowers the number
    /// does not own it.
    Nobody,
    /// This field manager does.
    Manager(String),
}

/// `metadata.managedFields` of one object, as far as it tells who owns a field of `spec`.
#[derive(Debug, Default, serde::Deserialize)]
pub(super) struct FieldOwners {
    metadata: Metadata,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    managed_fields: Option<Vec<Entry>>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    manager: Option<String>,
    /// RFC 3339 in UTC, so that later is greater.
    time: Option<String>,
    fields_v1: Option<Map<String, Value>>,
}

// === impl FieldOwners ===

impl FieldOwners {
    /// The manager that owns `spec.<field>`, other than `ours`; of several, the one that
    /// changed something last.
    pub(super) fn of_spec(&self, field: &str, ours: &str) -> Opponent {
        let field = format!("f:{field}");
        let entries = self.metadata.managed_fields.iter().flatten();
        entries
            .filter(|entry| entry.owns(&field))
            .filter_map(|entry| Some((&entry.time, entry.manager.as_deref()?)))
            .filter(|(_, manager)| *manager != ours && !manager.is_empty())
            .max_by_key(|(time, _)| *time)
            .map_or(Opponent::Nobody, |(_, manager)| {
                Opponent::Manager(manager.to_owned())
            })
    }
}

// === impl Entry ===

impl Entry {
    fn owns(&self, field: &str) -> bool {
        let spec = self.fields_v1.as_ref().and_then(|it| it.get("f:spec"));
        spec.is_some_and(|spec| spec.get(field).is_some())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owner(entries: &Value) -> Option<String> {
        let object = json!({"metadata": {"name": "web", "managedFields": entries}});
        let owners: FieldOwners = serde_json::from_value(object).unwrap();
        match owners.of_spec("replicas", "minrep") {
            Opponent::Manager(manager) => Some(manager),
            Opponent::Nobody => None,
            Opponent::Unknown => panic!("the record is there"),
        }
    }

    fn entry(manager: &str, time: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": "Update", "apiVersion": "apps/v1",
               "time": time, "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    #[test]
    fn the_owner_of_the_number_is_named_and_nobody_else() {
        let template = json!({"f:spec": {"f:template": {}}});
        let replicas = json!({"f:spec": {"f:replicas": {}}});
        let found = owner(&json!([
            entry("kubectl", "2026-01-03T00:00:00Z", &template),
            entry("argocd-controller", "2026-01-01T00:00:00Z", &replicas),
        ]));
        assert_eq!(found.as_deref(), Some("argocd-controller"));
    }

    #[test]
    fn we_are_never_our_own_opponent() {
        let replicas = json!({"f:spec": {"f:replicas": {}}});
        let found = owner(&json!([entry("minrep", "2026-01-01T00:00:00Z", &replicas)]));
        assert_eq!(found, None);
    }

    /// Server-side apply lets several own one field.
    #[test]
    fn of_several_the_one_that_came_last_is_named() {
        let replicas = json!({"f:spec": {"f:replicas": {}}});
        let found = owner(&json!([
            entry("helm", "2026-01-01T00:00:00Z", &replicas),
            entry("kustomize-controller", "2026-01-02T00:00:00Z", &replicas),
            entry("minrep", "2026-01-03T00:00:00Z", &replicas),
            {"manager": "timeless", "fieldsV1": replicas},
        ]));
        assert_eq!(found.as_deref(), Some("kustomize-controller"));
    }

    #[test]
    fn a_record_that_is_missing_or_odd_names_nobody() {
        assert_eq!(owner(&json!(null)), None);
        assert_eq!(owner(&json!([])), None);
        assert_eq!(owner(&json!([{"manager": null, "fieldsV1": null}])), None);
        let odd = json!([{"manager": "x", "time": null, "fieldsV1": {"f:spec": "?"}}]);
        assert_eq!(owner(&odd), None);
    }
}
