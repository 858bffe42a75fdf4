//! The grammar of `fieldSelector`: `path=value`, `path==value`, `path!=value`, joined by commas.

use serde_json::Value;

use crate::{
    kinds::{FieldLabels, Kind},
    store::Object,
};

/// Terms that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector(Vec<Term>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: Field,
    equal: bool,
    value: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Namespace,
    /// JSON pointers, as in [`FieldLabels`].
    Body(&'static str),
}

// === impl FieldSelector ===

impl FieldSelector {
    /// The error is the real server's sentence.
    pub(crate) fn parse(text: &str, kind: &Kind, labels: FieldLabels) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in text.split(',').filter(|term| !term.is_empty()) {
            let Some(at) = term.find('=') else {
                return Err(format!(
                    "invalid selector: '{text}'; can't understand '{term}'"
                ));
            };
            let (left, right) = (&term[..at], &term[at + 1..]);
            let (label, equal) = match left.strip_suffix('!') {
                Some(label) => (label, false),
                None => (left, true),
            };
            let value = right
                .strip_prefix('=')
                .filter(|_| equal)
                .unwrap_or(right)
                .to_owned();
            terms.push(Term {
                field: Field::parse(label, kind, labels)?,
                equal,
                value,
            });
        }
        Ok(Self(terms))
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.0
            .iter()
            .all(|term| (term.field.read(object) == term.value) == term.equal)
    }
}

// === impl Field ===

impl Field {
    fn parse(label: &str, kind: &Kind, labels: FieldLabels) -> Result<Self, String> {
        match label {
            "metadata.name" => return Ok(Self::Name),
            "metadata.namespace" if kind.namespaced => return Ok(Self::Namespace),
            _ => {}
        }
        match labels.iter().find(|(known, _)| *known == label) {
            Some((_, pointer)) => Ok(Self::Body(pointer)),
            None if kind.is_custom()
                || (kind.group.is_empty() && !kind.field_labels.is_empty()) =>
            {
                Err(format!("field label not supported: {label}"))
            }
            None => Err(format!(
                "{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )),
        }
    }

    fn read(&self, object: &Object) -> String {
        match self {
            Self::Name => object.key.name().to_owned(),
            Self::Namespace => object.key.namespace().to_owned(),
            Self::Body(pointers) => {
                let value = object.value();
                let values = pointers
                    .split(' ')
                    .filter_map(|pointer| value.pointer(pointer));
                let texts = values.map(|value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                texts
                    .into_iter()
                    .find(|text| !text.is_empty())
                    .unwrap_or_default()
            }
        }
    }
}
