use std::collections::BTreeMap;

use serde_json::Value;

/// The objects that requests are made of.
#[derive(Debug)]
pub(super) struct Fixtures(BTreeMap<String, Value>);

// === impl Fixtures ===

impl Fixtures {
    /// Reads `fixtures.yaml`: names and objects.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        serde_saphyr::from_str(text)
            .map(Self)
            .map_err(|error| format!("fixtures.yaml: {error}"))
    }

    /// A copy of an object, changed by a merge patch.
    pub(super) fn object(&self, name: &str, patch: &Value) -> Result<Value, String> {
        let known = self.0.get(name);
        let mut object = known
            .cloned()
            .ok_or_else(|| format!("fixtures.yaml has no `{name}`"))?;
        json_patch::merge(&mut object, patch);
        Ok(object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_a_fixture_and_what_differs() {
        let fixtures = Fixtures::parse("pod: {kind: Pod, spec: {a: 1, b: 2}}\n").unwrap();
        let object = fixtures.object("pod", &json!({"spec": {"a": 3, "b": null}}));
        assert_eq!(object.unwrap(), json!({"kind": "Pod", "spec": {"a": 3}}));
        let refused = fixtures.object("pods", &json!({})).unwrap_err();
        assert_eq!(refused, "fixtures.yaml has no `pods`");
    }
}
